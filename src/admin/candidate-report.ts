import type { LocatedProblems } from '../process/reload/manifest-thread.ts';
import type { ComparisonCounts } from '../traffic/comparison.ts';
import type { AdminContext } from './admin-endpoint.ts';

/** `rejected`: the file of `--candidate` has problems, and no earlier version of it is compared. */
export const CANDIDATE_STATES = ['none', 'active', 'rejected'] as const;

/** The candidate with its counts, and the problems of its file. */
export type CandidateReport = ReturnType<typeof reportCandidate>;

const NO_COUNTS: ComparisonCounts = { requests: 0, same: 0, unknown: new Map(), changed: new Map() };
const NO_PROBLEMS: LocatedProblems = { problems: [], sources: [] };

/** Returns the state of the candidate. It is cheap: only `groups` depends on the number of changes. */
export function reportCandidate({ candidate: { status }, candidateFile, gateway }: AdminContext) {
  const outcome = candidateFile?.lastOutcome;
  const hasFailed = outcome !== undefined && outcome.kind !== 'accepted';
  const state: (typeof CANDIDATE_STATES)[number] = status !== undefined ? 'active' : hasFailed ? 'rejected' : 'none';
  return {
    state,
    source: status?.source ?? (candidateFile === undefined ? null : 'file'),
    file: candidateFile?.path ?? null,
    hash: status?.hash ?? null,
    active_hash: status?.activeHash ?? gateway.plan.hash,
    since: status?.since ?? null,
    sample: status?.sample ?? 1,
    counts: status?.counts ?? NO_COUNTS,
    skipped: status?.skipped ?? { queue: 0, 'earlier-plan': 0, sample: 0 },
    errors: status?.errors ?? 0,
    /** The problems of the saved file. An earlier version of the file may be active. */
    rejected: outcome?.kind === 'rejected' ? outcome : NO_PROBLEMS,
    /** Why the file cannot be read, or `null`. */
    reason: outcome !== undefined && 'reason' in outcome ? outcome.reason : null,
    groups: () => status?.report() ?? { groups: [], ungrouped: 0 },
  };
}

/** Returns the number of requests by the result of their comparison. */
export function candidateTotals({ counts, skipped, errors }: CandidateReport) {
  const { same, changed, unknown } = counts;
  return {
    same,
    changed: sumOf(changed.values()),
    unknown: sumOf(unknown.values()),
    skipped: sumOf(Object.values(skipped)),
    error: errors,
  };
}

function sumOf(counts: Iterable<number>): number {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}
