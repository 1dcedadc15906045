import type { Gateway } from '../gateway/gateway.ts';
import {
  BUCKET_BOUNDS_MS,
  NO_ROUTE,
  type RouteMetrics,
  TOTALS_INDEX,
  TOTALS_LENGTH,
} from '../gateway/telemetry/request-metrics.ts';
import { runInSlices, type SlicedWork } from '../plan/sliced-work.ts';
import { SLICE_MS } from './cpu-budget.ts';

/** The traffic of all routes in one interval of the last hour. */
export interface TrafficInterval {
  /** The end of the interval. */
  readonly at: Date;
  readonly seconds: number;
  readonly requests: number;
  readonly client_errors: number;
  readonly server_errors: number;
  /** Refused requests by code, without codes that did not occur. */
  readonly refusals: Readonly<Record<string, number>>;
  /** `null` without requests. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
}

/** The recent traffic of a route with requests. */
export interface RouteTraffic extends Omit<TrafficInterval, 'at' | 'seconds' | 'refusals'> {
  /** `null` for requests that no route matched. */
  readonly id: string | null;
}

export interface RecentTraffic {
  /** The counted time: half a minute to a minute, or less if the gateway started later. */
  readonly seconds: number;
  /** Computes each entry when it is read. */
  readonly routes: IteratorObject<RouteTraffic>;
}

/** The traffic over time: the last hour in total, and the last minute by route. The memory is bounded. */
export interface TrafficHistory {
  recent(): RecentTraffic;
  /** Returns the intervals, oldest first. */
  lastHour(): readonly TrafficInterval[];
  close(): void;
}

const INTERVAL_MS = 10_000;
const MAX_INTERVALS = 360;
/** The number of intervals after which the window for the traffic by route moves. */
const WINDOW_INTERVALS = 3;

/** The sums of a route at the start of the window, and at the start of the next window. */
interface WindowSums {
  window: Float64Array;
  next: Float64Array;
}

export function createTrafficHistory({ metrics }: Pick<Gateway, 'metrics'>, intervalMs = INTERVAL_MS): TrafficHistory {
  const intervals: TrafficInterval[] = [];
  let last = { at: performance.now(), sums: metrics.totals(), refusals: new Map(metrics.refusals) };
  // A weak map, so that routes that a reload removes are freed.
  const windowSums = new WeakMap<RouteMetrics, WindowSums>();
  let [windowAt, nextAt] = [last.at, last.at];
  let intervalCount = 0;

  const moveWindow = function* (now: number): SlicedWork<void> {
    for (const route of metrics.routes.values()) {
      const sums = windowSums.get(route);
      if (sums === undefined)
        windowSums.set(route, {
          window: new Float64Array(TOTALS_LENGTH),
          next: sumsOf(route, new Float64Array(TOTALS_LENGTH)),
        });
      else [sums.window, sums.next] = [sums.next, sumsOf(route, sums.window)];
      yield;
    }
    [windowAt, nextAt] = [nextAt, now];
  };
  const endInterval = () => {
    const now = performance.now();
    const current = { at: now, sums: metrics.totals(), refusals: new Map(metrics.refusals) };
    const refusals = [...current.refusals]
      .map(([code, count]) => [code, count - (last.refusals.get(code) ?? 0)] as const)
      .filter(([, count]) => count > 0);
    const counts = countsBetween(last.sums, current.sums);
    const seconds = rounded((now - last.at) / 1_000);
    intervals.push({ at: new Date(), seconds, ...counts, refusals: Object.fromEntries(refusals) });
    if (intervals.length > MAX_INTERVALS) intervals.shift();
    last = current;
    intervalCount += 1;
    if (intervalCount % WINDOW_INTERVALS === 0) void runInSlices(moveWindow(now), SLICE_MS);
  };
  const timer = setInterval(endInterval, intervalMs).unref();

  return {
    recent() {
      const routes = metrics.routes.entries().flatMap(([id, route]) => {
        const counts = countsBetween(windowSums.get(route)?.window ?? ZERO_SUMS, sumsOf(route, SCRATCH));
        return counts.requests === 0 ? [] : [{ id: id === NO_ROUTE ? null : id, ...counts }];
      });
      return { seconds: rounded((performance.now() - windowAt) / 1_000), routes };
    },
    lastHour: () => intervals,
    close: () => clearInterval(timer),
  };
}

const ZERO_SUMS = new Float64Array(TOTALS_LENGTH);
/** Reused for each of up to ten thousand routes, to avoid allocations. */
const SCRATCH = new Float64Array(TOTALS_LENGTH);
const COUNTS = new Float64Array(TOTALS_LENGTH);

/** Overwrites and returns `sums`. */
function sumsOf(route: RouteMetrics, sums: Float64Array): Float64Array {
  sums.fill(0);
  route.addTo(sums);
  return sums;
}

function countsBetween(before: Float64Array, after: Float64Array): Omit<RouteTraffic, 'id'> {
  let requests = 0;
  for (let index = 0; index < TOTALS_LENGTH; index += 1) {
    COUNTS[index] = (after[index] as number) - (before[index] as number);
    if (index < TOTALS_INDEX.classes) requests += COUNTS[index] as number;
  }
  return {
    requests,
    client_errors: COUNTS[TOTALS_INDEX.clientErrors] as number,
    server_errors: COUNTS[TOTALS_INDEX.serverErrors] as number,
    p50_ms: quantile(BUCKETS, requests, 0.5),
    p95_ms: quantile(BUCKETS, requests, 0.95),
    p99_ms: quantile(BUCKETS, requests, 0.99),
  };
}

const BUCKETS = COUNTS.subarray(TOTALS_INDEX.classes);

/**
 * Estimates a quantile, as if values were spread evenly within each bucket. Returns at most the highest bound, because
 * the last bucket has none.
 *
 * @param total the sum of all buckets
 * @param share the quantile, between 0 and 1
 */
export function quantile(buckets: Float64Array, total: number, share: number): number | null {
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (let index = 0; index < BUCKET_BOUNDS_MS.length; index += 1) {
    const count = buckets[index] as number;
    if (count > 0 && below + count >= rank) {
      const lower = BUCKET_BOUNDS_MS[index - 1] ?? 0;
      return rounded(lower + (((BUCKET_BOUNDS_MS[index] as number) - lower) * (rank - below)) / count);
    }
    below += count;
  }
  return BUCKET_BOUNDS_MS.at(-1) ?? null;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
