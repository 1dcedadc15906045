import type { DnsErrorCode } from './dns-error.ts';

const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
/** A failure is remembered for this long. */
const FAILURE_MS = 1_000;
/** Addresses without a newer response are used for no longer than this (RFC 8767 section 5 says one to three days). */
const MAX_STALE_MS = 86_400_000;
/** The same after the name servers say that there are none, since the addresses may be another service's by then. */
const MAX_NOT_FOUND_MS = 60_000;

/** Decides how long the result of a look-up holds. Times are milliseconds of one clock. */
export class Freshness {
  #expiresAt = 0;
  #retryAt = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  #resolvedAt = 0;
  #notFoundSince: number | undefined;

  /** A look-up ended, with or without a result. */
  recordLookupEnd(now: number): void {
    this.#endedAt = now;
  }

  recordSuccess(now: number, ttlSeconds: number): void {
    this.#resolvedAt = now;
    this.#notFoundSince = undefined;
    this.#expiresAt = now + Math.min(Math.max(ttlSeconds * 1_000, MIN_TTL_MS), MAX_TTL_MS);
  }

  /** Addresses that came from elsewhere serve from now on until a look-up has a result. */
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

  /** False while the last failure is remembered. */
  mayRetry(now: number): boolean {
    return now >= this.#retryAt;
  }

  /** True if the last look-up ended at least this long ago. */
  isIdleFor(now: number, ms: number): boolean {
    return now >= this.#endedAt + ms;
  }

  /** True if the addresses are too old to serve at all. */
  isTooStale(now: number): boolean {
    const isGone = this.#notFoundSince !== undefined && now - this.#notFoundSince >= MAX_NOT_FOUND_MS;
    return isGone || now - this.#resolvedAt >= MAX_STALE_MS;
  }
}
