import type { Gateway } from '../gateway/gateway.ts';
import { BOUNDS_MS, NO_ROUTE, type RouteMeter, SUMMED, SUMS } from '../gateway/meters.ts';
import { finishInSlices, type Steps } from '../plan/steps.ts';
import { SLICE_MS } from './work-share.ts';

/** One of the last hour's steps. */
export interface Moment {
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
export interface RouteTraffic extends Omit<Moment, 'at' | 'seconds' | 'refusals'> {
  /** `null`: those that no route matched. */
  readonly id: string | null;
}

export interface Lately {
  /** How long ago what is counted here began: half a minute to a minute, once the gateway has served as long. */
  readonly seconds: number;
  /** Each is computed when it is read. */
  readonly routes: IteratorObject<RouteTraffic>;
}

/** What the meters counted, by time: for as long as somebody may ask, and in a bounded number of numbers. */
export interface Traffic {
  lately(): Lately;
  /** The oldest one first. */
  lastHour(): readonly Moment[];
  close(): void;
}

const STEP_MS = 10_000;
const MOMENTS = 360;
/** After how many steps the window over which routes are counted begins anew. */
const WINDOW_STEPS = 3;

/** What a meter had counted at the begin of the window, and at the begin of the next one. */
interface Marks {
  window: Float64Array;
  next: Float64Array;
}

export function createTraffic({ meters }: Pick<Gateway, 'meters'>, stepMs = STEP_MS): Traffic {
  const moments: Moment[] = [];
  let last = { at: performance.now(), sums: meters.sums(), refusals: new Map(meters.refusals) };
  // A meter that a reload took away takes its marks along.
  const marks = new WeakMap<RouteMeter, Marks>();
  let [windowAt, nextAt] = [last.at, last.at];
  let steps = 0;

  const turnWindow = function* (now: number): Steps<void> {
    for (const meter of meters.routes.values()) {
      const mark = marks.get(meter);
      if (mark === undefined)
        marks.set(meter, { window: new Float64Array(SUMS), next: sumsOf(meter, new Float64Array(SUMS)) });
      else [mark.window, mark.next] = [mark.next, sumsOf(meter, mark.window)];
      yield;
    }
    [windowAt, nextAt] = [nextAt, now];
  };
  const step = () => {
    const now = performance.now();
    const current = { at: now, sums: meters.sums(), refusals: new Map(meters.refusals) };
    const refusals = [...current.refusals]
      .map(([code, count]) => [code, count - (last.refusals.get(code) ?? 0)] as const)
      .filter(([, count]) => count > 0);
    const counted = countedBetween(last.sums, current.sums);
    const seconds = rounded((now - last.at) / 1_000);
    moments.push({ at: new Date(), seconds, ...counted, refusals: Object.fromEntries(refusals) });
    if (moments.length > MOMENTS) moments.shift();
    last = current;
    steps += 1;
    if (steps % WINDOW_STEPS === 0) void finishInSlices(turnWindow(now), SLICE_MS);
  };
  const timer = setInterval(step, stepMs).unref();

  return {
    lately() {
      const routes = meters.routes.entries().flatMap(([id, meter]) => {
        const counted = countedBetween(marks.get(meter)?.window ?? NOTHING, sumsOf(meter, SCRATCH));
        return counted.requests === 0 ? [] : [{ id: id === NO_ROUTE ? null : id, ...counted }];
      });
      return { seconds: rounded((performance.now() - windowAt) / 1_000), routes };
    },
    lastHour: () => moments,
    close: () => clearInterval(timer),
  };
}

const NOTHING = new Float64Array(SUMS);
/** Of ten thousand routes each is summed up in turn: in the same numbers, and without closures. */
const SCRATCH = new Float64Array(SUMS);
const COUNTS = new Float64Array(SUMS);

/** @param into is written over */
function sumsOf(meter: RouteMeter, into: Float64Array): Float64Array {
  into.fill(0);
  meter.addTo(into);
  return into;
}

function countedBetween(before: Float64Array, after: Float64Array): Omit<RouteTraffic, 'id'> {
  let requests = 0;
  for (let index = 0; index < SUMS; index += 1) {
    COUNTS[index] = (after[index] as number) - (before[index] as number);
    if (index < SUMMED.classes) requests += COUNTS[index] as number;
  }
  return {
    requests,
    client_errors: COUNTS[SUMMED.clientErrors] as number,
    server_errors: COUNTS[SUMMED.serverErrors] as number,
    p50_ms: quantile(BUCKETS, requests, 0.5),
    p95_ms: quantile(BUCKETS, requests, 0.95),
    p99_ms: quantile(BUCKETS, requests, 0.99),
  };
}

const BUCKETS = COUNTS.subarray(SUMMED.classes);

/**
 * As evenly spread within a bucket; no more than the highest bound, above which nothing is known.
 *
 * @param total of all buckets
 */
export function quantile(buckets: Float64Array, total: number, share: number): number | null {
  if (total === 0) return null;
  const wanted = share * total;
  let below = 0;
  for (let index = 0; index < BOUNDS_MS.length; index += 1) {
    const count = buckets[index] as number;
    if (count > 0 && below + count >= wanted) {
      const lower = BOUNDS_MS[index - 1] ?? 0;
      return rounded(lower + (((BOUNDS_MS[index] as number) - lower) * (wanted - below)) / count);
    }
    below += count;
  }
  return BOUNDS_MS.at(-1) ?? null;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
