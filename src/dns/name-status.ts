import type { NameCode } from './name-error.ts';

/** `static`: from `/etc/hosts`, or `localhost`; `stale`: kept after a look-up failed; `pending`: not looked up yet. */
export const NAME_STATES = ['static', 'resolved', 'stale', 'failed', 'pending'] as const;

export type NameState = (typeof NAME_STATES)[number];

export interface NameStatus {
  readonly state: NameState;
  readonly addresses: readonly string[];
  /** Why the last look-up failed; `null` if it did not. */
  readonly reason: NameCode | null;
}
