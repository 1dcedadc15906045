import type { DnsErrorCode } from './dns-error.ts';

/** `static`: from `/etc/hosts`, or `localhost`; `stale`: kept after a look-up failed; `pending`: not looked up yet. */
export const RESOLUTION_STATES = ['static', 'resolved', 'stale', 'failed', 'pending'] as const;

export type ResolutionState = (typeof RESOLUTION_STATES)[number];

export interface ResolutionStatus {
  readonly state: ResolutionState;
  readonly addresses: readonly string[];
  /** Why the last look-up failed; `null` if it did not. */
  readonly reason: DnsErrorCode | null;
}
