import { HTTP_METHODS } from '../../http-methods.ts';
import type { RefusalCode } from '../response/refusal.ts';
import type { RequestRecord } from './request-record.ts';

/** The upper bounds of the histogram buckets, in milliseconds. One more bucket counts everything above the last bound. */
export const BUCKET_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/** The phases of a request: until it was forwarded, then until the response of the upstream began, and in total. */
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

/** The counters and histograms of one route, in one array, so that recording a request allocates nothing. */
export class RouteMetrics {
  readonly #numbers = new Float64Array(REQUEST_COUNTERS + LATENCY_PHASES.length * HISTOGRAM_LENGTH);

  record({ method = '', status = 0, durationMs = 0, forwardedAfterMs, respondedAfterMs }: RequestRecord): void {
    const methodIndex = METHOD_INDEX.get(method) ?? HTTP_METHODS.length;
    const statusClass = Math.floor(status / 100);
    this.#add(methodIndex * STATUS_CLASSES.length + (statusClass < STATUS_CLASSES.length ? statusClass : 0), 1);
    this.#observe(0, forwardedAfterMs ?? durationMs);
    if (forwardedAfterMs !== undefined) this.#observe(1, (respondedAfterMs ?? durationMs) - forwardedAfterMs);
    this.#observe(2, durationMs);
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

  /** Adds the counts of this route to an array of `TOTALS_LENGTH` numbers. */
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
    let bucket = 0;
    while (bucket < BUCKET_BOUNDS_MS.length && ms > (BUCKET_BOUNDS_MS[bucket] as number)) bucket += 1;
    this.#add(start + bucket, 1);
    this.#add(start + HISTOGRAM_LENGTH - 1, ms);
  }

  #add(index: number, value: number): void {
    this.#numbers[index] = (this.#numbers[index] as number) + value;
  }
}

/** Stands for the requests that matched no route. It is not a valid route id. */
export const NO_ROUTE = '(none)';

/** The reasons of refusals for which the process had no file descriptor. */
const DESCRIPTOR_SHORTAGES = new Set(['upstream_emfile', 'upstream_enfile']);

/** The metrics of all requests. Only the first request of a route or a refusal code allocates. */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteMetrics>();
  /** Starts at 0: Prometheus sees no increase in a series that begins with 1, so the first error would raise no alert. */
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

  get refusals(): ReadonlyMap<RefusalCode, number> {
    return this.#refusals;
  }

  /** Requests that `validation: report` forwarded in spite of a violation, by route id. */
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
    const { route, refusal, reported } = record;
    this.inFlight -= 1;
    const id = route?.id ?? NO_ROUTE;
    let metrics = this.#routes.get(id);
    if (metrics === undefined) {
      metrics = new RouteMetrics();
      this.#routes.set(id, metrics);
    }
    metrics.record(record);
    if (refusal !== undefined) {
      this.countRefusal(refusal.code);
      if (DESCRIPTOR_SHORTAGES.has(refusal.reason)) this.descriptorShortages += 1;
    }
    if (reported !== undefined) this.#reported.set(id, (this.#reported.get(id) ?? 0) + 1);
  }

  countRefusal(code: RefusalCode): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
  }

  /** Drops the metrics of removed routes; otherwise reloads that rename routes would leak memory. */
  retainRoutes(ids: ReadonlySet<string>): void {
    for (const [id, metrics] of this.#routes) {
      if (ids.has(id) || id === NO_ROUTE) continue;
      metrics.addTo(this.#removed);
      this.#routes.delete(id);
      this.#reported.delete(id);
    }
  }
}
