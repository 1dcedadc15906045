import { type LimitCounts, STORE_FAILURES, type StoreFailureReason } from '../../engine/rate-limits/rate-limit.ts';
import type { AdminContext } from '../admin-endpoint.ts';
import { type Metric, metricBy } from './metric.ts';

type Tables = AdminContext['gateway']['rateLimiter']['local']['tables'];
type CounterTable = NonNullable<ReturnType<Tables['get']>>;

/** The results of a request by a limit. Each request has one. */
const RESULTS = ['allowed', 'refused', 'reported', 'skipped', 'undecided'] as const;

/** Metrics of rate limits. No label contains a value that was counted. */
export const RATE_LIMIT_METRICS: readonly Metric[] = [
  metricBy(
    ['limit', 'result'],
    'rate_limit_requests_total',
    'Requests by rate limit and result: "allowed", "refused" (429), "reported" (over a limit with mode: report), "skipped" (not counted, for example without the key), "undecided" (refused because the key was missing or the store failed).',
    ({ gateway: { rateLimiter } }) =>
      rateLimiter.counts
        .entries()
        .flatMap(([limit, counts]) => RESULTS.map((result) => [limit, result, counts[result]])),
  ),
  limitCounter(
    'rate_limit_released_total',
    'Requests that a limit took back, because the response was no failure, or because another limit refused them.',
    ({ released }) => released,
  ),
  limitCounter(
    'rate_limit_fallback_total',
    'Requests that this process counted because the store failed.',
    ({ fallback }) => fallback,
  ),
  tableMetric('rate_limit_counters', 'Values that a limit remembers in this process.', ({ size }) => size),
  tableMetric(
    'rate_limit_evicted_total',
    'Values that were forgotten too early, because there was no room for new ones.',
    ({ rows }) => rows.sum('evicted'),
  ),
  tableMetric(
    'rate_limit_overflowed_total',
    'Requests that were counted together, because there was no room for their values.',
    ({ rows }) => rows.sum('overflowed'),
  ),
  tableMetric(
    'rate_limit_retained_total',
    'Requests that remained counted although they were no failures, because there was no room to remember them until their responses.',
    ({ rows }) => rows.sum('retained'),
  ),
  metricBy(
    ['store'],
    'rate_limit_store_up',
    '1 while the store responds in time, 0 while no request waits for it.',
    ({ gateway }) => gateway.stores.map(({ id, state }) => [id, Number(state === 'up')]),
  ),
  metricBy(
    ['store', 'reason'],
    'rate_limit_store_failures_total',
    'Decisions of a store that failed or came too late, and failed attempts to connect to it, by reason (docs/rate-limits.md).',
    // All reasons from the start: a series that begins with 1 has no increase in Prometheus.
    ({ gateway }) =>
      gateway.stores.flatMap(({ id, failures }) =>
        STORE_REASONS.map((reason) => [id, reason, failures.get(reason) ?? 0]),
      ),
  ),
  metricBy(['store'], 'rate_limit_store_pending', 'Decisions that wait for the store.', ({ gateway }) =>
    gateway.stores.map(({ id, pending }) => [id, pending]),
  ),
];

const STORE_REASONS = Object.keys(STORE_FAILURES) as StoreFailureReason[];

function limitCounter(name: string, help: string, read: (counts: LimitCounts) => number): Metric {
  return metricBy(['limit'], name, help, ({ gateway: { rateLimiter } }) =>
    rateLimiter.counts.entries().map(([limit, counts]) => [limit, read(counts)]),
  );
}

function tableMetric(name: string, help: string, read: (table: CounterTable) => number): Metric {
  return metricBy(['limit'], name, help, ({ gateway: { plan, rateLimiter } }) =>
    plan.rateLimits.flatMap(({ id, key }) => {
      const table = rateLimiter.local.tables.get(key);
      return table === undefined ? [] : [[id, read(table)]];
    }),
  );
}
