import { unifiedDiff } from '../../check/lint/unified-diff.ts';
import { pluralize } from '../../report/text.ts';
import type { LogCounts } from '../../traffic/access-log/log-counts.ts';
import type { Evidence } from '../../traffic/tighten/evidence.ts';
import { PROPOSAL_KINDS, type ProposalKind } from '../../traffic/tighten/proposal.ts';
import type { LocatedProposal, TightenResult } from '../../traffic/tighten/tighten.ts';
import type { Usage } from '../../traffic/tighten/usage.ts';

/** All that the formats print. */
export interface TightenReport {
  readonly manifest: string;
  readonly logs: readonly string[];
  readonly usage: Usage;
  readonly counts: LogCounts;
  readonly result: TightenResult;
  readonly notes: readonly string[];
}

/** Returns the change of all files as one patch. */
export function formatPatch({ result: { before, after } }: TightenReport): string {
  return before.map(({ path, text }, index) => unifiedDiff(path, text, after[index]?.text ?? text)).join('');
}

export function formatSummary({ manifest, logs, usage, result }: TightenReport): string {
  const { requests, callers, hasMoreCallers } = usage.allowedEvidence;
  const counts = `${formatCount(requests, 'allowed request')} of ${formatCallers(callers, hasMoreCallers)}`;
  return `${manifest}: ${pluralize(result.proposals.length, 'proposal')} from ${counts}, ${formatSpan(usage.all)}, in ${logs.join(', ')}`;
}

/** Formats the number of requests and callers, and the time between the first and the last request. */
export function formatEvidence(evidence: Evidence, refused = 0): string {
  const { requests, callers, hasMoreCallers } = evidence;
  const of = requests === 0 ? '' : ` of ${formatCallers(callers, hasMoreCallers)}`;
  const denied = refused === 0 ? '' : `, ${formatCount(refused, 'refused request')}`;
  return `${formatCount(requests, 'allowed request')}${of}${denied}, ${formatSpan(evidence)}`;
}

function formatCallers(callers: number, hasMore: boolean): string {
  return `${hasMore ? 'more than ' : ''}${formatCount(callers, 'caller')}`;
}

function formatSpan({ from, to }: Evidence): string {
  return from === undefined || to === undefined ? 'at no time' : `${formatTime(from)} to ${formatTime(to)}`;
}

function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`;
}

function formatCount(value: number, noun: string): string {
  return `${value.toLocaleString('en-US')} ${noun}${value === 1 ? '' : 's'}`;
}

/** Returns the proposals of each kind that has some, in the order of the report. */
export function byKind(proposals: readonly LocatedProposal[]): (readonly [string, readonly LocatedProposal[]])[] {
  const kinds = Object.keys(PROPOSAL_KINDS) as ProposalKind[];
  const inTextOrder = proposals.toSorted((a, b) => a.range.line - b.range.line);
  return kinds
    .map((kind) => [PROPOSAL_KINDS[kind], inTextOrder.filter(({ proposal }) => proposal.kind === kind)] as const)
    .filter(([, members]) => members.length > 0);
}
