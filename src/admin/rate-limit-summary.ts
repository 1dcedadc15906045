import type { RateLimit } from '../engine/rate-limits/rate-limit.ts';

/** The members of a rate limit that the admin API lists. */
export function rateLimitSummary({ id, kinds, requests, periodMs, burst, failures, mode, store }: RateLimit) {
  return {
    id,
    key: kinds,
    requests,
    period_ms: periodMs,
    burst,
    /** The statuses that count; `null` if every request counts. */
    failures: failures === undefined ? null : [...failures],
    mode,
    store: store?.id ?? null,
  };
}
