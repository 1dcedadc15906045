import type { PlannedManifest } from '../../engine/load.ts';
import type { LocatedProblems, ReadFailure } from './manifest-thread.ts';
import type { PlanChanges } from './plan-changes.ts';

/** The triggers of a reload: a file event, the poll, another attempt after a failure, `SIGHUP`, or a request to the admin API. */
const CAUSES = ['change', 'poll', 'retry', 'signal', 'request'] as const;

export type ReloadCause = (typeof CAUSES)[number];

interface ReloadAttempt<Kind extends string> {
  readonly kind: Kind;
  readonly cause: ReloadCause;
  readonly at: Date;
  /** The duration of the reload. */
  readonly ms: number;
  /** The changed files: paths as the manifest writes them, and the manifest as it was named at the start. */
  readonly files: readonly string[];
}

/** The saved manifest was activated. */
interface ReloadAccepted extends ReloadAttempt<'accepted'> {
  /** The manifest with the plan that is active now. */
  readonly planned: PlannedManifest;
  readonly hash: string;
  readonly oldHash: string;
  readonly changes: PlanChanges;
  /** Summarizes the changes in one line. */
  readonly summary: string;
  /** Keys of the active manifest that take effect only after a restart. */
  readonly keysNeedingRestart: readonly string[];
}

/**
 * The outcome of a reload that found a change. The active plan stays unless it is `accepted`. `unreadable`: the files could not be read.
 * `failed`: the gateway could not load them, for example because a thread ended, or they change faster than they can be read; it tries
 * again.
 */
export type ReportedReloadOutcome =
  | ReloadAccepted
  | (ReloadAttempt<'rejected'> & LocatedProblems)
  | (ReloadAttempt<'unreadable'> & ReadFailure)
  | (ReloadAttempt<'failed'> & ReadFailure);

/** The outcome of a reload. `unchanged`: no file has changed since the last one. `cancelled`: the gateway is stopping. */
export type ReloadOutcome = ReportedReloadOutcome | ReloadAttempt<'unchanged'> | ReloadAttempt<'cancelled'>;

export interface ReloadCount {
  readonly kind: ReportedReloadOutcome['kind'];
  readonly cause: ReloadCause;
  readonly count: number;
}

/** Returns the counts of reloads by outcome and cause. All are 0, so that each metric series exists from the start. */
export function noReloadCounts(): ReloadCount[] {
  const kinds = ['accepted', 'rejected', 'unreadable', 'failed'] as const;
  return kinds.flatMap((kind) => CAUSES.map((cause) => ({ kind, cause, count: 0 })));
}
