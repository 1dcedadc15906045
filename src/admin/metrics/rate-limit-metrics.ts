import { type LimitCounts, STORE_FAILURES, type StoreFailureReason } from '../../engine/rate-limits/rate-limit.ts';
import { type MetricEntry, type MetricTable, metricBy } from './metric.ts';

/** The results of a request by a limit. Each request has one. */
const RESULTS = ['allowed', 'refused', 'reported', 'skipped', 'undecided'] as const;

/** Metrics of rate limits. No label contains a value that was counted. */
export const RATE_LIMIT_METRICS: MetricTable = {
  rate_limit_requests_total: metricBy(
    ['limit', 'result'],
    'Requests by rate limit and result: "allowed", "refused" (429), "reported" (over a limit with mode: report), "skipped" (not counted, for example without the key), "undecided" (refused because the key was missing or the store failed).',
    ({ gateway: { rateLimiter } }) =>
      rateLimiter.counts
        .entries()
        .flatMap(([limit, counts]) => RESULTS.map((result) => [limit, result, counts[result]])),
  ),
  rate_limit_released_total: limitCounter(
    'Requests that a limit took back, because the response was no failure, or because another limit refused them.',
    ({ released }) => released,
  ),
  rate_limit_fallback_total: limitCounter(
    'Requests that this process counted because the store failed.',
    ({ fallback }) => fallback,
  ),
  rate_limit_counters: metricBy(
    ['limit'],
    'Values that a limit remembers in this process.',
    ({ gateway: { plan, rateLimiter } }) =>
      plan.rateLimits.map(({ id, key }) => [id, rateLimiter.local.tables.get(key)?.size ?? 0]),
  ),
  rate_limit_evicted_total: limitCounter(
    'Values that were forgotten too early, because there was no room for new ones.',
    ({ evicted }) => evicted,
  ),
  rate_limit_overflowed_total: limitCounter(
    'Requests that were counted together, because there was no room for their values.',
    ({ overflowed }) => overflowed,
  ),
  rate_limit_retained_total: limitCounter(
    'Requests that remained counted although they were no failures, because there was no room to remember them until their responses.',
    ({ retained }) => retained,
  ),
  rate_limit_store_up: metricBy(
    ['store'],
    '1 while the store responds in time, 0 while no request waits for it.',
    ({ gateway }) => gateway.stores.map(({ id, state }) => [id, Number(state === 'up')]),
  ),
  rate_limit_store_failures_total: metricBy(
    ['store', 'reason'],
    'Decisions of a store that failed or came too late, and failed attempts to connect to it, by reason (docs/rate-limits.md).',
    // All reasons from the start: a series that begins with 1 has no increase in Prometheus.
    ({ gateway }) =>
      gateway.stores.flatMap(({ id, failures }) =>
        STORE_REASONS.map((reason) => [id, reason, failures.get(reason) ?? 0]),
      ),
  ),
  rate_limit_store_pending: metricBy(['store'], 'Decisions that wait for the store.', ({ gateway }) =>
    gateway.stores.map(({ id, pending }) => [id, pending]),
  ),
};

const STORE_REASONS = Object.keys(STORE_FAILURES) as StoreFailureReason[];

function limitCounter(help: string, read: (counts: LimitCounts) => number): MetricEntry {
  return metricBy(['limit'], help, ({ gateway: { rateLimiter } }) =>
    rateLimiter.counts.entries().map(([limit, counts]) => [limit, read(counts)]),
  );
}
