import { printable } from '../../problem/printable.ts';
import { paint, pluralize, STYLES } from '../format.ts';
import type { CandidateStatus } from './candidate-report.ts';

type ChangeEntry = CandidateStatus['changed']['groups'][number];
type DecisionEntry = ChangeEntry['from'];
type ProblemEntry = CandidateStatus['problems'][number];

/** The changes that a person reads. The JSON format has all of them. */
const MAX_CHANGES = 50;

/** Formats the report for a person, the most frequent changes first. */
export function formatCandidateText(status: CandidateStatus, colour: boolean): string {
  if (status.state === 'none') return 'no candidate\n';
  const { listed, omitted } = mostFrequent(status, MAX_CHANGES);
  const changes = listed.map((change) => formatChange(change, colour));
  const more = omitted === 0 ? [] : [`and ${pluralize(omitted, 'more change')}`];
  const problems = status.state === 'rejected' ? [formatProblemReports(status.problems, colour).trimEnd()] : [];
  return `${[headOf(status), ...problems, ...changes, ...more].map((part) => `${part}\n`).join('\n')}`;
}

/** Returns the most frequent changes, and the number of the others. */
export function mostFrequent({ changed }: CandidateStatus, max: number) {
  const sorted = [...changed.groups].sort((one, other) => other.requests - one.requests);
  return { listed: sorted.slice(0, max), omitted: Math.max(0, sorted.length - max) };
}

function headOf(status: CandidateStatus): string {
  const { state, source, file, since, active_hash, sample, unknown, skipped } = status;
  const name = source === 'file' ? `${file} ` : '';
  const reasons = [...entriesOf(unknown.reasons), ...entriesOf(skipped.reasons)];
  const lines = [
    `candidate  ${name}${shortHash(status.hash)}, ${state}${since === null ? '' : ` since ${since}`}`,
    `compared   with the active manifest ${shortHash(active_hash)}${sample === 1 ? '' : `, ${100 * sample} % of the requests`}`,
    `requests   ${summaryOf(status)}`,
    ...(reasons.length === 0 ? [] : [`unknown    ${reasons.map(([reason, count]) => `${reason} ${count}`).join(', ')}`]),
  ];
  return printable(lines.join('\u0000')).replaceAll('\uFFFD', '\n');
}

/** Returns the counts in one line: `1000: 990 same, 8 changed, 2 unknown`. */
export function summaryOf({ requests, same, changed, unknown, skipped, errors }: CandidateStatus): string {
  const rest = [
    [skipped.total, 'not compared'],
    [errors, errors === 1 ? 'error' : 'errors'],
  ].filter(([count]) => count !== 0);
  const counts = [[same, 'same'], [changed.total, 'changed'], [unknown.total, 'unknown'], ...rest];
  return `${requests}: ${counts.map(([count, name]) => `${count} ${name}`).join(', ')}`;
}

/** Returns the counts above 0, the highest first. */
export function entriesOf(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one);
}

export function shortHash(hash: string | null): string {
  return hash?.slice(0, 12) ?? '';
}
