import { STORE_FAILURES, type StoreFailureReason } from '../../engine/rate-limits/limit-status.ts';
import type { AdminContext } from '../admin-endpoint.ts';
import { counterBy, gaugeBy, type Metric } from './metric.ts';

type RateLimiter = AdminContext['gateway']['rateLimiter'];
type LimitCounts = MapValue<RateLimiter['counts']>;
type CounterTable = MapValue<RateLimiter['local']['tables']>;
type MapValue<Values> = Values extends ReadonlyMap<unknown, infer Value> ? Value : never;

/** The results of a request by a limit. Each request has one. */
const RESULTS = ['allowed', 'refused', 'reported', 'skipped', 'undecided'] as const;

/** Metrics of rate limits. No label contains a value that was counted. */
export const RATE_LIMIT_METRICS: readonly Metric[] = [
  {
    name: 'rate_limit_requests_total',
    type: 'counter',
    help: 'Requests by rate limit and result: "allowed", "refused" (429), "reported" (over a limit with mode: report), "skipped" (not counted, for example without the key), "undecided" (refused because the key was missing or the store failed).',
    labels: ['limit', 'result'],
    *collect({ gateway: { rateLimiter } }) {
      for (const [limit, counts] of rateLimiter.counts)
        for (const result of RESULTS) yield { labels: { limit, result }, value: counts[result] };
    },
  },
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
  tableMetric('rate_limit_counters', 'gauge', 'Values that a limit remembers in this process.', ({ size }) => size),
  tableMetric(
    'rate_limit_evicted_total',
    'counter',
    'Values that were forgotten too early, because there was no room for new ones.',
    ({ evicted }) => evicted,
  ),
  tableMetric(
    'rate_limit_overflowed_total',
    'counter',
    'Requests that were counted together, because there was no room for their values.',
    ({ overflowed }) => overflowed,
  ),
  tableMetric(
    'rate_limit_retained_total',
    'counter',
    'Requests that remained counted although they were no failures, because there was no room to remember them until their responses.',
    ({ retained }) => retained,
  ),
  gaugeBy(
    'store',
    'rate_limit_store_up',
    '1 while the store responds in time, 0 while no request waits for it.',
    ({ gateway }) => gateway.stores.map(({ id, state }) => [id, Number(state === 'up')]),
  ),
  {
    name: 'rate_limit_store_failures_total',
    type: 'counter',
    help: 'Decisions of a store that failed or came too late, and failed attempts to connect to it, by reason (docs/rate-limits.md).',
    labels: ['store', 'reason'],
    *collect({ gateway }) {
      // All reasons from the start: a series that begins with 1 has no increase in Prometheus.
      for (const { id, failures } of gateway.stores)
        for (const reason of STORE_REASONS) yield { labels: { store: id, reason }, value: failures.get(reason) ?? 0 };
    },
  },
  gaugeBy('store', 'rate_limit_store_pending', 'Decisions that wait for the store.', ({ gateway }) =>
    gateway.stores.map(({ id, pending }) => [id, pending]),
  ),
];

const STORE_REASONS = Object.keys(STORE_FAILURES) as StoreFailureReason[];

function limitCounter(name: string, help: string, read: (counts: LimitCounts) => number): Metric {
  return counterBy('limit', name, help, ({ gateway: { rateLimiter } }) =>
    rateLimiter.counts.entries().map(([limit, counts]) => [limit, read(counts)]),
  );
}

function tableMetric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (table: CounterTable) => number,
): Metric {
  const metric = gaugeBy('limit', name, help, ({ gateway: { plan, rateLimiter } }) =>
    plan.rateLimits.flatMap(({ id, key }) => {
      const table = rateLimiter.local.tables.get(key);
      return table === undefined ? [] : [[id, read(table)]];
    }),
  );
  return { ...metric, type };
}
