/** The reasons why a name has no address, by the codes of `getaddrinfo` and c-ares. */
export const DNS_ERROR_CODES = {
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'the name servers refused, failed or could not be reached',
  ETIMEOUT: 'no name server responded in time',
} as const;

export type DnsErrorCode = keyof typeof DNS_ERROR_CODES;

export class DnsError extends Error {
  readonly code: DnsErrorCode;

  constructor(code: DnsErrorCode) {
    super(DNS_ERROR_CODES[code]);
    this.code = code;
  }
}

/** `static`: from `/etc/hosts`, or `localhost`; `stale`: in use after a failed lookup; `pending`: not looked up yet. */
export const RESOLUTION_STATES = ['static', 'resolved', 'stale', 'failed', 'pending'] as const;

export type ResolutionState = (typeof RESOLUTION_STATES)[number];

export interface ResolutionStatus {
  readonly state: ResolutionState;
  readonly addresses: readonly string[];
  /** The reason why the last lookup failed, or `null`. */
  readonly reason: DnsErrorCode | null;
}
