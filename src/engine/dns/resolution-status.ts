import type { DnsErrorCode } from './dns-error.ts';

/** `static`: from `/etc/hosts`, or `localhost`; `stale`: in use after a failed lookup; `pending`: not looked up yet. */
export const RESOLUTION_STATES = ['static', 'resolved', 'stale', 'failed', 'pending'] as const;

export type ResolutionState = (typeof RESOLUTION_STATES)[number];

export interface ResolutionStatus {
  readonly state: ResolutionState;
  readonly addresses: readonly string[];
  /** The reason why the last lookup failed, or `null`. */
  readonly reason: DnsErrorCode | null;
}
