import type { PlannedManifest } from '../../engine/load.ts';
import type { Source } from '../../engine/manifest/source.ts';
import type { Problem } from '../../engine/problem/problem.ts';
import type { PlanChanges } from './plan-changes.ts';

/** The triggers of a reload: a file event, the poll, another attempt after a failure, `SIGHUP`, or a request to the admin API. */
const CAUSES = ['change', 'poll', 'retry', 'signal', 'request'] as const;

export type ReloadCause = (typeof CAUSES)[number];

interface ReloadAttempt {
  readonly cause: ReloadCause;
  readonly at: Date;
  /** The duration of the reload. */
  readonly ms: number;
  /** The changed files: paths as the manifest writes them, and the manifest as it was named at the start. */
  readonly files: readonly string[];
}

/** The outcome of a reload. */
export type ReloadOutcome = ReportedReloadOutcome | ReloadUnchanged | ReloadCancelled;

/** The outcome of a reload that found a change. */
export type ReportedReloadOutcome = ReloadAccepted | ReloadRejected | ReloadUnreadable | ReloadFailed;

/** The saved manifest was activated. */
interface ReloadAccepted extends ReloadAttempt {
  readonly kind: 'accepted';
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

/** The saved manifest has problems; the active plan stays. */
interface ReloadRejected extends ReloadAttempt {
  readonly kind: 'rejected';
  readonly problems: readonly Problem[];
  /** The texts that the problems are in. */
  readonly sources: readonly Source[];
}

/** The files could not be read; the active plan stays. */
interface ReloadUnreadable extends ReloadAttempt {
  readonly kind: 'unreadable';
  readonly reason: string;
}

/** The gateway could not load the files, for example because a thread ended, or the files change faster than they can be read; the active plan stays, and the gateway tries again. */
interface ReloadFailed extends ReloadAttempt {
  readonly kind: 'failed';
  readonly reason: string;
}

/** No file has changed since the last reload. */
interface ReloadUnchanged extends ReloadAttempt {
  readonly kind: 'unchanged';
}

/** The gateway is stopping; the active plan stays until the process exits. */
interface ReloadCancelled extends ReloadAttempt {
  readonly kind: 'cancelled';
}

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
