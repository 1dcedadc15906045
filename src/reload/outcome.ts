import type { Planned } from '../load.ts';
import type { Source } from '../manifest/source.ts';
import type { Changes } from '../plan/changes.ts';
import type { Problem } from '../problem/problem.ts';

/** What brought an attempt about: a change of a file, the slow look at all of them, `SIGHUP`, a request to the operators' side. */
export type Cause = 'change' | 'poll' | 'signal' | 'request';

interface Attempted {
  readonly cause: Cause;
  readonly at: Date;
  /** How long it took. */
  readonly ms: number;
  /** What had changed, by the paths that the manifest writes; the manifest itself as it was named. */
  readonly files: readonly string[];
}

/** How an attempt to take the files over ended. */
export type Reload = News | Unchanged | Cancelled;

/** How one ended that found something changed. */
export type News = Loaded | Kept | Unreadable;

/** What was saved is in force. */
export interface Loaded extends Attempted {
  readonly kind: 'loaded';
  /** The plan in force now, and what it was made of. */
  readonly planned: Planned;
  readonly hash: string;
  readonly oldHash: string;
  readonly changes: Changes;
  /** The changes by meaning, in one line. */
  readonly summary: string;
  /** Keys of the manifest in force that are not what the process began with, and take a restart. */
  readonly needsRestart: readonly string[];
}

/** What was saved is refused: the last good plan stays. */
export interface Kept extends Attempted {
  readonly kind: 'kept';
  readonly problems: readonly Problem[];
  /** The texts that the problems are in. */
  readonly sources: readonly Source[];
}

/** Nothing could be read, or not all of it at one time: the last good plan stays. */
export interface Unreadable extends Attempted {
  readonly kind: 'unreadable';
  readonly reason: string;
}

/** The files are what they were at the last attempt. */
export interface Unchanged extends Attempted {
  readonly kind: 'unchanged';
}

/** The gateway stops: the active plan stays until the process ends. */
export interface Cancelled extends Attempted {
  readonly kind: 'cancelled';
}
