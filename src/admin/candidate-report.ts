import type { LocatedProblems } from '../process/reload/manifest-thread.ts';
import type { CandidateWitness, SkippedRequests } from '../traffic/candidate/candidate-results.ts';
import type { ComparisonCounts, ComparisonReport } from '../traffic/comparison.ts';
import type { AdminContext } from './admin-endpoint.ts';

/** `rejected`: the file of `--candidate` has problems, and no earlier version of it is compared. */
export const CANDIDATE_STATES = ['none', 'active', 'rejected'] as const;

/** The candidate with its counts, and the problems of its file. */
export interface CandidateReport {
  readonly state: (typeof CANDIDATE_STATES)[number];
  readonly source: 'file' | 'request' | null;
  /** The file of `--candidate`. */
  readonly file: string | null;
  readonly hash: string | null;
  readonly active_hash: string;
  readonly since: Date | null;
  readonly sample: number;
  readonly counts: ComparisonCounts;
  readonly skipped: SkippedRequests;
  readonly errors: number;
  /** The problems of the saved file. An earlier version of the file may be active. */
  readonly rejected: LocatedProblems;
  /** Why the file cannot be read, or `null`. */
  readonly reason: string | null;
  readonly groups: () => Pick<ComparisonReport<CandidateWitness>, 'groups' | 'ungrouped'>;
}

const NO_COUNTS: ComparisonCounts = { requests: 0, same: 0, unknown: new Map(), changed: new Map() };

/** Returns the state of the candidate. It is cheap: only `groups` depends on the number of changes. */
export function reportCandidate({ candidate, candidateFile, gateway }: AdminContext): CandidateReport {
  const { status } = candidate;
  const outcome = candidateFile?.lastOutcome;
  const hasFailed = outcome !== undefined && outcome.kind !== 'accepted';
  return {
    state: status !== undefined ? 'active' : hasFailed ? 'rejected' : 'none',
    source: status?.source ?? (candidateFile === undefined ? null : 'file'),
    file: candidateFile?.path ?? null,
    hash: status?.hash ?? null,
    active_hash: status?.activeHash ?? gateway.plan.hash,
    since: status?.since ?? null,
    sample: status?.sample ?? 1,
    counts: status?.counts ?? NO_COUNTS,
    skipped: status?.skipped ?? { queue: 0, 'earlier-plan': 0, sample: 0 },
    errors: status?.errors ?? 0,
    rejected: outcome?.kind === 'rejected' ? outcome : { problems: [], sources: [] },
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
