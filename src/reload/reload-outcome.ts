import type { PlannedManifest } from '../load.ts';
import type { Source } from '../manifest/source.ts';
import type { PlanChanges } from '../plan/changes.ts';
import type { Problem } from '../problem/problem.ts';

/** What brought an attempt about: a change of a file, the slow look at all of them, `SIGHUP`, a request to the operators' side. */
export type ReloadCause = 'change' | 'poll' | 'signal' | 'request';

interface ReloadAttempt {
  readonly cause: ReloadCause;
  readonly at: Date;
  /** How long it took. */
  readonly ms: number;
  /** What had changed, by the paths that the manifest writes; the manifest itself as it was named. */
  readonly files: readonly string[];
}

/** How an attempt to take the files over ended. */
export type ReloadOutcome = ReportedReloadOutcome | ReloadUnchanged | ReloadCancelled;

/** How one ended that found something changed. */
export type ReportedReloadOutcome = ReloadAccepted | ReloadRejected | ReloadUnreadable;

/** What was saved is in force. */
export interface ReloadAccepted extends ReloadAttempt {
  readonly kind: 'accepted';
  /** The plan in force now, and what it was made of. */
  readonly planned: PlannedManifest;
  readonly hash: string;
  readonly oldHash: string;
  readonly changes: PlanChanges;
  /** The changes by meaning, in one line. */
  readonly summary: string;
  /** Keys of the manifest in force that are not what the process began with, and take a restart. */
  readonly keysNeedingRestart: readonly string[];
}

/** What was saved is refused: the last good plan stays. */
export interface ReloadRejected extends ReloadAttempt {
  readonly kind: 'rejected';
  readonly problems: readonly Problem[];
  /** The texts that the problems are in. */
  readonly sources: readonly Source[];
}

/** Nothing could be read, or not all of it at one time: the last good plan stays. */
export interface ReloadUnreadable extends ReloadAttempt {
  readonly kind: 'unreadable';
  readonly reason: string;
}

/** The files are what they were at the last attempt. */
export interface ReloadUnchanged extends ReloadAttempt {
  readonly kind: 'unchanged';
}

/** The gateway stops: the active plan stays until the process ends. */
export interface ReloadCancelled extends ReloadAttempt {
  readonly kind: 'cancelled';
}
