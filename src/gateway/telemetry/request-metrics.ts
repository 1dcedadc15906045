import { HTTP_METHODS } from '../../http-methods.ts';
import type { RefusalCode } from '../response/refusal.ts';
import type { RequestRecord } from './request-record.ts';

/** The upper bounds of the histogram buckets, in milliseconds. One more bucket counts everything above the last bound. */
export const BUCKET_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/** The phases of a request: until the gateway forwards it, from then until the upstream responds, and in total. */
export const LATENCY_PHASES = ['gateway', 'upstream', 'total'] as const;

export type LatencyPhase = (typeof LATENCY_PHASES)[number];

const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const OTHER_METHOD = 'other';
const METHOD_INDEX = new Map(HTTP_METHODS.map((method, index) => [method, index]));

const REQUEST_COUNTERS = (HTTP_METHODS.length + 1) * STATUS_CLASSES.length;
/** The buckets, the bucket above the last bound, and the sum. */
const HISTOGRAM_LENGTH = BUCKET_BOUNDS_MS.length + 2;

export interface RequestCount {
  /** `other` for a method that no route may have. */
  readonly method: string;
  /** `none` if the client disconnected before the response began. */
  readonly status: (typeof STATUS_CLASSES)[number];
  readonly count: number;
}

export interface LatencyHistogram {
  /** The count of each bucket, not cumulative; the bucket above the last bound comes last. */
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** The layout of totals: requests by status class, then the buckets of their total time. */
export const TOTALS_INDEX = { none: 0, clientErrors: 4, serverErrors: 5, classes: STATUS_CLASSES.length } as const;

/** The length of the array that `addTo` takes. */
export const TOTALS_LENGTH = STATUS_CLASSES.length + BUCKET_BOUNDS_MS.length + 1;

/** Counters whose totals can be read. */
export interface TrafficTotals {
  /** Adds the counts to an array of `TOTALS_LENGTH` numbers. */
  addTo(sums: Float64Array): void;
}

/** The forwarded requests of one upstream by status class, and the buckets of the time until its responses began. */
class UpstreamMetrics implements TrafficTotals {
  readonly #totals = new Float64Array(TOTALS_LENGTH);

  record({ status = 0, durationMs = 0, respondedAfterMs }: RequestRecord, forwardedAfterMs: number): void {
    const statusClass = Math.floor(status / 100);
    this.#count(statusClass < STATUS_CLASSES.length ? statusClass : 0);
    this.#count(STATUS_CLASSES.length + bucketOf((respondedAfterMs ?? durationMs) - forwardedAfterMs));
  }

  addTo(sums: Float64Array): void {
    for (let index = 0; index < TOTALS_LENGTH; index += 1)
      sums[index] = (sums[index] as number) + (this.#totals[index] as number);
  }

  #count(index: number): void {
    this.#totals[index] = (this.#totals[index] as number) + 1;
  }
}

const NO_REFUSALS: ReadonlyMap<RefusalCode, number> = new Map();

/** The counters and histograms of one route, in one array, so that recording a request allocates nothing. */
export class RouteMetrics implements TrafficTotals {
  #refusals: Map<RefusalCode, number> | undefined;
  readonly #numbers = new Float64Array(REQUEST_COUNTERS + LATENCY_PHASES.length * HISTOGRAM_LENGTH);

  record({
    method = '',
    status = 0,
    durationMs = 0,
    forwardedAfterMs,
    respondedAfterMs,
    refusal,
  }: RequestRecord): void {
    if (refusal !== undefined) {
      this.#refusals ??= new Map();
      this.#refusals.set(refusal.code, (this.#refusals.get(refusal.code) ?? 0) + 1);
    }
    const methodIndex = METHOD_INDEX.get(method) ?? HTTP_METHODS.length;
    const statusClass = Math.floor(status / 100);
    this.#add(methodIndex * STATUS_CLASSES.length + (statusClass < STATUS_CLASSES.length ? statusClass : 0), 1);
    this.#observe(0, forwardedAfterMs ?? durationMs);
    if (forwardedAfterMs !== undefined) this.#observe(1, (respondedAfterMs ?? durationMs) - forwardedAfterMs);
    this.#observe(2, durationMs);
  }

  /** The refused requests by code. */
  get refusals(): ReadonlyMap<RefusalCode, number> {
    return this.#refusals ?? NO_REFUSALS;
  }

  /** Returns the request counters that are not zero. */
  get requests(): RequestCount[] {
    return [...HTTP_METHODS, OTHER_METHOD].flatMap((method, index) =>
      STATUS_CLASSES.flatMap((status, statusIndex) => {
        const count = this.#numbers[index * STATUS_CLASSES.length + statusIndex] as number;
        return count === 0 ? [] : [{ method, status, count }];
      }),
    );
  }

  histogram(phase: LatencyPhase): LatencyHistogram {
    const start = REQUEST_COUNTERS + LATENCY_PHASES.indexOf(phase) * HISTOGRAM_LENGTH;
    const numbers = this.#numbers.subarray(start, start + HISTOGRAM_LENGTH);
    return { counts: [...numbers.subarray(0, -1)], sumMs: numbers.at(-1) as number };
  }

  addTo(sums: Float64Array): void {
    for (let index = 0; index < REQUEST_COUNTERS; index += 1) {
      const count = this.#numbers[index] as number;
      sums[index % STATUS_CLASSES.length] = (sums[index % STATUS_CLASSES.length] as number) + count;
    }
    const buckets = REQUEST_COUNTERS + LATENCY_PHASES.indexOf('total') * HISTOGRAM_LENGTH;
    for (let index = STATUS_CLASSES.length; index < TOTALS_LENGTH; index += 1) {
      const count = this.#numbers[buckets + index - STATUS_CLASSES.length] as number;
      sums[index] = (sums[index] as number) + count;
    }
  }

  #observe(phaseIndex: number, ms: number): void {
    const start = REQUEST_COUNTERS + phaseIndex * HISTOGRAM_LENGTH;
    this.#add(start + bucketOf(ms), 1);
    this.#add(start + HISTOGRAM_LENGTH - 1, ms);
  }

  #add(index: number, value: number): void {
    this.#numbers[index] = (this.#numbers[index] as number) + value;
  }
}

function bucketOf(ms: number): number {
  let bucket = 0;
  while (bucket < BUCKET_BOUNDS_MS.length && ms > (BUCKET_BOUNDS_MS[bucket] as number)) bucket += 1;
  return bucket;
}

/** The key for requests that matched no route. It is not a valid route id. */
export const NO_ROUTE = '(none)';

/** The reasons of refusals that a lack of file descriptors caused. */
const DESCRIPTOR_SHORTAGES = new Set(['upstream_emfile', 'upstream_enfile']);

/** The metrics of all requests. Only the first request of a route or a refusal code allocates. */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteMetrics>();
  readonly #upstreams = new Map<string, UpstreamMetrics>();
  /** `internal_error` starts at 0: a series that begins with 1 has no increase in Prometheus, so the first error would not alert. */
  readonly #refusals = new Map<RefusalCode, number>([['internal_error', 0]]);
  readonly #reported = new Map<string, number>();
  /** The totals of removed routes. */
  readonly #removed = new Float64Array(TOTALS_LENGTH);
  inFlight = 0;
  /** Requests that failed because the process had no file descriptor for a connection to the upstream. */
  descriptorShortages = 0;

  /** By route id; `NO_ROUTE` is one of the keys. */
  get routes(): ReadonlyMap<string, RouteMetrics> {
    return this.#routes;
  }

  /** The forwarded requests, by upstream id. */
  get upstreams(): ReadonlyMap<string, TrafficTotals> {
    return this.#upstreams;
  }

  get refusals(): ReadonlyMap<RefusalCode, number> {
    return this.#refusals;
  }

  /** Requests with a violation that were forwarded because of `validation: report`, by route id. */
  get reportedRequests(): ReadonlyMap<string, number> {
    return this.#reported;
  }

  /** Returns the totals of all routes, including removed ones; `TOTALS_INDEX` has the layout. */
  totals(): Float64Array {
    const sums = Float64Array.from(this.#removed);
    for (const metrics of this.#routes.values()) metrics.addTo(sums);
    return sums;
  }

  record(record: RequestRecord): void {
    const { route, refusal, reported, forwardedAfterMs } = record;
    this.inFlight -= 1;
    const id = route?.id ?? NO_ROUTE;
    let metrics = this.#routes.get(id);
    if (metrics === undefined) {
      metrics = new RouteMetrics();
      this.#routes.set(id, metrics);
    }
    metrics.record(record);
    if (route !== undefined && forwardedAfterMs !== undefined)
      this.#metricsOf(route.upstream.id).record(record, forwardedAfterMs);
    if (refusal !== undefined) {
      this.countRefusal(refusal.code);
      if (DESCRIPTOR_SHORTAGES.has(refusal.reason)) this.descriptorShortages += 1;
    }
    if (reported?.some(({ limit }) => limit === undefined)) this.#reported.set(id, (this.#reported.get(id) ?? 0) + 1);
  }

  #metricsOf(upstreamId: string): UpstreamMetrics {
    let metrics = this.#upstreams.get(upstreamId);
    if (metrics === undefined) {
      metrics = new UpstreamMetrics();
      this.#upstreams.set(upstreamId, metrics);
    }
    return metrics;
  }

  countRefusal(code: RefusalCode): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
  }

  /** Drops the metrics of removed routes and upstreams. Otherwise reloads that rename them would leak memory. */
  retain(ids: ReadonlySet<string>, upstreamIds: ReadonlySet<string>): void {
    for (const id of this.#upstreams.keys()) if (!upstreamIds.has(id)) this.#upstreams.delete(id);
    for (const [id, metrics] of this.#routes) {
      if (ids.has(id) || id === NO_ROUTE) continue;
      metrics.addTo(this.#removed);
      this.#routes.delete(id);
      this.#reported.delete(id);
    }
  }
}
