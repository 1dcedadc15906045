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

/** One of the last hour's steps. */
export interface TrafficInterval {
  /** When it ended. */
  readonly at: Date;
  readonly seconds: number;
  readonly requests: number;
  readonly client_errors: number;
  readonly server_errors: number;
  /** By their codes, those that there were. */
  readonly refusals: Readonly<Record<string, number>>;
  /** `null`: there were no requests. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
}

/** Of a route with requests, in the time that `Lately` says. */
export interface RouteTraffic extends Omit<TrafficInterval, 'at' | 'seconds' | 'refusals'> {
  /** `null`: those that no route matched. */
  readonly id: string | null;
}

export interface RecentTraffic {
  /** How long ago what is counted here began: half a minute to a minute, once the gateway has served as long. */
  readonly seconds: number;
  /** Each is computed when it is read. */
  readonly routes: IteratorObject<RouteTraffic>;
}

/** What the meters counted, by time: for as long as somebody may ask, and in a bounded number of numbers. */
export interface TrafficHistory {
  recent(): RecentTraffic;
  /** The oldest one first. */
  lastHour(): readonly TrafficInterval[];
  close(): void;
}

const INTERVAL_MS = 10_000;
const MAX_INTERVALS = 360;
/** After how many steps the window over which routes are counted begins anew. */
const WINDOW_INTERVALS = 3;

/** What a meter had counted at the begin of the window, and at the begin of the next one. */
interface WindowSums {
  window: Float64Array;
  next: Float64Array;
}

export function createTrafficHistory({ metrics }: Pick<Gateway, 'metrics'>, stepMs = INTERVAL_MS): TrafficHistory {
  const moments: TrafficInterval[] = [];
  let last = { at: performance.now(), sums: metrics.totals(), refusals: new Map(metrics.refusals) };
  // A meter that a reload took away takes its marks along.
  const marks = new WeakMap<RouteMetrics, WindowSums>();
  let [windowAt, nextAt] = [last.at, last.at];
  let steps = 0;

  const turnWindow = function* (now: number): SlicedWork<void> {
    for (const meter of metrics.routes.values()) {
      const mark = marks.get(meter);
      if (mark === undefined)
        marks.set(meter, {
          window: new Float64Array(TOTALS_LENGTH),
          next: sumsOf(meter, new Float64Array(TOTALS_LENGTH)),
        });
      else [mark.window, mark.next] = [mark.next, sumsOf(meter, mark.window)];
      yield;
    }
    [windowAt, nextAt] = [nextAt, now];
  };
  const step = () => {
    const now = performance.now();
    const current = { at: now, sums: metrics.totals(), refusals: new Map(metrics.refusals) };
    const refusals = [...current.refusals]
      .map(([code, count]) => [code, count - (last.refusals.get(code) ?? 0)] as const)
      .filter(([, count]) => count > 0);
    const counted = countsBetween(last.sums, current.sums);
    const seconds = rounded((now - last.at) / 1_000);
    moments.push({ at: new Date(), seconds, ...counted, refusals: Object.fromEntries(refusals) });
    if (moments.length > MAX_INTERVALS) moments.shift();
    last = current;
    steps += 1;
    if (steps % WINDOW_INTERVALS === 0) void runInSlices(turnWindow(now), SLICE_MS);
  };
  const timer = setInterval(step, stepMs).unref();

  return {
    recent() {
      const routes = metrics.routes.entries().flatMap(([id, meter]) => {
        const counted = countsBetween(marks.get(meter)?.window ?? ZERO_SUMS, sumsOf(meter, SCRATCH));
        return counted.requests === 0 ? [] : [{ id: id === NO_ROUTE ? null : id, ...counted }];
      });
      return { seconds: rounded((performance.now() - windowAt) / 1_000), routes };
    },
    lastHour: () => moments,
    close: () => clearInterval(timer),
  };
}

const ZERO_SUMS = new Float64Array(TOTALS_LENGTH);
/** Of ten thousand routes each is summed up in turn: in the same numbers, and without closures. */
const SCRATCH = new Float64Array(TOTALS_LENGTH);
const COUNTS = new Float64Array(TOTALS_LENGTH);

/** @param into is written over */
function sumsOf(meter: RouteMetrics, into: Float64Array): Float64Array {
  into.fill(0);
  meter.addTo(into);
  return into;
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
 * As evenly spread within a bucket; no more than the highest bound, above which nothing is known.
 *
 * @param total of all buckets
 */
export function quantile(buckets: Float64Array, total: number, share: number): number | null {
  if (total === 0) return null;
  const wanted = share * total;
  let below = 0;
  for (let index = 0; index < BUCKET_BOUNDS_MS.length; index += 1) {
    const count = buckets[index] as number;
    if (count > 0 && below + count >= wanted) {
      const lower = BUCKET_BOUNDS_MS[index - 1] ?? 0;
      return rounded(lower + (((BUCKET_BOUNDS_MS[index] as number) - lower) * (wanted - below)) / count);
    }
    below += count;
  }
  return BUCKET_BOUNDS_MS.at(-1) ?? null;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
