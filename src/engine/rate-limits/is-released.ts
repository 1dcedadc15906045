import type { RefusalCode } from '../gateway/response/refusal.ts';
import type { RateLimit } from './rate-limit.ts';

/** The end of a request that rate limits have counted. */
export interface CountedEnd {
  /** True once a byte of the request was sent to an upstream. */
  readonly wasSent: boolean;
  /** The status of the response; `undefined` without one. */
  readonly status: number | undefined;
  /** The code of the refusal, or of the upstream error. */
  readonly refusal: RefusalCode | undefined;
}

const LIMIT_REFUSALS: ReadonlySet<RefusalCode> = new Set(['rate_limit_exceeded', 'rate_limit_unavailable']);

/**
 * Returns true if a rate limit takes a request back: it counts failures, and the request is none. A request that was sent, but has no
 * response of the upstream to forward, remains counted: it may have been a guess. A request that a rate limit refuses is not counted
 * at all, because the client could otherwise not succeed after the time in `Retry-After`.
 */
export function isReleased({ failures }: RateLimit, { wasSent, status, refusal }: CountedEnd): boolean {
  if (wasSent && (status === undefined || refusal !== undefined)) return false;
  if (refusal !== undefined && LIMIT_REFUSALS.has(refusal)) return true;
  return failures !== undefined && (status === undefined || !failures.has(status));
}
