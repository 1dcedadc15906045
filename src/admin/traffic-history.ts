import type { Gateway } from '../engine/gateway/gateway.ts';
import { AT, NO_ROUTE, type RowSums, TOTALS_LENGTH } from '../engine/gateway/telemetry/request-counters.ts';
import type { SlicedWork } from '../engine/plan/sliced-work.ts';
import { runInSlices } from '../process/run-in-slices.ts';
import { SLICE_MS } from './cpu-budget.ts';
import { LimitHistories } from './limit-traffic.ts';
import { newRefusals, type RefusalCounts, RouteHistories } from './route-histories.ts';
import { countsBetween, rounded, type TrafficCounts, ZERO_SUMS } from './traffic-counts.ts';

/** The traffic of all routes in one interval of the last hour. */
export interface TrafficInterval extends TrafficCounts {
  /** The end of the interval. */
  readonly at: Date;
  readonly seconds: number;
  /** Refused requests by code, without codes that did not occur. */
  readonly refusals: Readonly<Record<string, number>>;
}

export interface RouteTraffic extends TrafficCounts {
  /** `null` for requests that no route matched. */
  readonly id: string | null;
}

/** The traffic over time: the last hour in total, by route and by rate limit, and the last minute also by upstream. The memory is bounded. */
export type TrafficHistory = ReturnType<typeof createTrafficHistory>;

const INTERVAL_MS = 10_000;
const MAX_INTERVALS = 360;
/** The number of intervals after which the window for the traffic by route moves. */
const WINDOW_INTERVALS = 3;

/** The totals of a route or an upstream at the start of the window, and at the start of the next window. */
interface WindowTotals {
  readonly window: Float64Array;
  readonly next: Float64Array;
  /** The refusals of a route at the start of the next window. */
  readonly refusals?: RefusalCounts;
}

const NO_TOTALS: WindowTotals = { window: ZERO_SUMS, next: ZERO_SUMS };

export function createTrafficHistory(
  { metrics, rateLimiter }: Pick<Gateway, 'metrics' | 'rateLimiter'>,
  intervalMs = INTERVAL_MS,
) {
  const intervals: TrafficInterval[] = [];
  let last = { at: performance.now(), sums: metrics.totals(), refusals: metrics.refusals };
  let routeTotals: ReadonlyMap<string, WindowTotals> = new Map();
  let upstreamTotals: ReadonlyMap<string, WindowTotals> = new Map();
  const histories = new RouteHistories();
  const limits = new LimitHistories();
  let [windowAt, nextAt] = [last.at, last.at];
  let intervalCount = 0;

  const moveWindow = function* (now: number): SlicedWork<void> {
    histories.startInterval(new Date(), rounded((now - nextAt) / 1_000));
    limits.endInterval(rateLimiter.counts);
    upstreamTotals = new Map(
      metrics.upstreams.map(([id, sums]) => [
        id,
        { window: (upstreamTotals.get(id) ?? NO_TOTALS).next, next: sums.totals() },
      ]),
    );
    // A map of the routes that exist now, so that those that a reload removes are freed.
    const totals = new Map<string, WindowTotals>();
    for (const [id, sums] of metrics.routes) {
      const { next: window, refusals: earlier } = routeTotals.get(id) ?? NO_TOTALS;
      const [next, refusals] = [sums.totals(), sums.refusals];
      totals.set(id, { window, next, refusals });
      histories.record(id, countsBetween(window, next), newRefusals(refusals, earlier));
      yield;
    }
    routeTotals = totals;
    [windowAt, nextAt] = [nextAt, now];
  };
  const endInterval = () => {
    const now = performance.now();
    const current = { at: now, sums: metrics.totals(), refusals: metrics.refusals };
    const refusals = newRefusals(current.refusals, last.refusals);
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
      const recentCounts = ({ window }: WindowTotals = NO_TOTALS, sums: RowSums) =>
        countsBetween(window, sums.totals(SCRATCH));
      // Each entry is computed when it is read.
      const routes: IteratorObject<RouteTraffic> = metrics.routes.flatMap(([id, sums]) => {
        const counts = recentCounts(routeTotals.get(id), sums);
        return counts.requests === 0 ? [] : [{ id: id === NO_ROUTE ? null : id, ...counts }];
      });
      // The requests that were forwarded to an upstream. Their latency is the time until its response began.
      const forwarded = metrics.upstreams.filter(([, sums]) => sums.histogram(AT.time).counts.some(Boolean));
      const upstreams = Array.from(forwarded, ([id, sums]) => ({ id, ...recentCounts(upstreamTotals.get(id), sums) }));
      // The counted time: half a minute to a minute, or less if the gateway started later.
      const seconds = rounded((performance.now() - windowAt) / 1_000);
      return { seconds, upstreams, limits: limits.recent(rateLimiter.counts), routes };
    },
    /** Returns the intervals, oldest first. */
    lastHour: (): readonly TrafficInterval[] => intervals,
    ofRoute: (id: string) => histories.of(id),
    close: () => clearInterval(timer),
  };
}

/** Reused for each of up to ten thousand routes, to avoid allocations. */
const SCRATCH = new Float64Array(TOTALS_LENGTH);
