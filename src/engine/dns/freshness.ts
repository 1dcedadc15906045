import type { DnsErrorCode } from './resolution-status.ts';

const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
/** The minimum time between a failed lookup and the next one. */
const FAILURE_MS = 1_000;
/** Stale addresses are not used longer than this (RFC 8767 section 5 recommends one to three days). */
const MAX_STALE_MS = 86_400_000;
/** The same limit if the name servers report that the name has no address: another service may have the old addresses. */
const MAX_NOT_FOUND_MS = 60_000;

/** Decides how long the result of a lookup is valid. Times are milliseconds of one monotonic clock. */
export class Freshness {
  #expiresAt = 0;
  #retryAt = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  #resolvedAt = 0;
  #notFoundSince: number | undefined;

  /** Records the end of a lookup, with or without a result. */
  recordLookupEnd(now: number): void {
    this.#endedAt = now;
  }

  recordSuccess(now: number, ttlSeconds: number): void {
    this.#resolvedAt = now;
    this.#notFoundSince = undefined;
    this.#expiresAt = now + Math.min(Math.max(ttlSeconds * 1_000, MIN_TTL_MS), MAX_TTL_MS);
  }

  /** Restarts the limit on stale addresses, for addresses from the hosts file. */
  restartStaleness(now: number): void {
    this.#resolvedAt = now;
  }

  recordFailure(now: number, code: DnsErrorCode): void {
    this.#retryAt = now + FAILURE_MS;
    this.#notFoundSince = code === 'ENOTFOUND' ? (this.#notFoundSince ?? now) : undefined;
  }

  isExpired(now: number): boolean {
    return now >= this.#expiresAt;
  }

  /** True if the last failure is long enough ago for another lookup. */
  mayRetry(now: number): boolean {
    return now >= this.#retryAt;
  }

  /** True if the last lookup ended at least this long ago. */
  isIdleFor(now: number, ms: number): boolean {
    return now >= this.#endedAt + ms;
  }

  /** True if the addresses are too old to use. */
  isTooStale(now: number): boolean {
    const isRemoved = this.#notFoundSince !== undefined && now - this.#notFoundSince >= MAX_NOT_FOUND_MS;
    return isRemoved || now - this.#resolvedAt >= MAX_STALE_MS;
  }
}
