import { HTTP_METHODS } from '../../http1/http-methods.ts';
import { REFUSALS, type RefusalCode } from '../response/refusal.ts';
import type { RequestRecord } from './request-record.ts';

/** Counters of one thing, in an array for each worker. Only this worker writes it, so that counting needs no lock. Sums never go back. */
export class CounterArrays {
  /** The counters of this worker. */
  readonly own: Float64Array<SharedArrayBuffer>;
  /** The arrays of other workers, by their index. Only the main thread has them. */
  readonly #others = new Map<number, Float64Array>();

  constructor(length: number) {
    this.own = new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
  }

  get hasOthers(): boolean {
    return this.#others.size > 0;
  }

  /** Returns the sum over all workers. */
  sum(index: number): number {
    let sum = this.own[index] as number;
    if (this.#others.size > 0) for (const array of this.#others.values()) sum += array[index] as number;
    return sum;
  }

  /** Adds the array of another worker, which continues to write it. */
  add(worker: number, buffer: SharedArrayBuffer): void {
    this.fold(worker);
    this.#others.set(worker, new Float64Array(buffer));
  }

  /** Takes over the counts of a worker that no longer writes its array, without the cells that only hold while it runs. */
  fold(worker: number, gauge?: number): void {
    const array = this.#others.get(worker);
    if (array === undefined) return;
    this.#others.delete(worker);
    for (let index = 0; index < array.length; index += 1)
      if (index !== gauge) this.own[index] = (this.own[index] as number) + (array[index] as number);
  }
}

/** The key for requests that matched no route. It is not a valid route id. */
export const NO_ROUTE = '(none)';

/** A new array of counters of a worker, or one that it no longer writes. */
export interface CountersNotice {
  readonly kind: 'process' | 'route' | 'upstream';
  /** The id of the route or the upstream. */
  readonly id: string;
  /** `undefined` if the worker no longer writes the array. */
  readonly buffer: SharedArrayBuffer | undefined;
}

/** The upper bounds of the histogram buckets, in milliseconds. One more bucket counts everything above the last bound. */
export const BUCKET_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/** The phases of a request: until the gateway forwards it, from then until the upstream responds, and in total. */
const LATENCY_PHASES = ['gateway', 'upstream', 'total'] as const;

type LatencyPhase = (typeof LATENCY_PHASES)[number];

const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const OTHER_METHOD = 'other';
const METHOD_INDEX = new Map(HTTP_METHODS.map((method, index) => [method, index]));
export const REFUSAL_CODES = Object.keys(REFUSALS) as RefusalCode[];
const REFUSAL_INDEX = new Map(REFUSAL_CODES.map((code, index) => [code, index]));

interface RequestCount {
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
export class UpstreamMetrics implements TrafficTotals {
  /** In the layout of totals. */
  readonly counters = new CounterArrays(TOTALS_LENGTH);

  add(statusClass: number, bucket: number): void {
    const { own } = this.counters;
    (own[statusClass] as number) += 1;
    (own[STATUS_CLASSES.length + bucket] as number) += 1;
  }

  addTo(sums: Float64Array): void {
    for (let index = 0; index < TOTALS_LENGTH; index += 1)
      sums[index] = (sums[index] as number) + this.counters.sum(index);
  }
}

/** The buckets, the bucket above the last bound, and the sum. */
const HISTOGRAM_LENGTH = BUCKET_BOUNDS_MS.length + 2;
/** The layout of the counters of a route: requests by method and status class, the histograms, and the other counters. */
const HISTOGRAMS = (HTTP_METHODS.length + 1) * STATUS_CLASSES.length;
const REPORTED = HISTOGRAMS + LATENCY_PHASES.length * HISTOGRAM_LENGTH;
const ROUTE_REFUSALS = REPORTED + 1;

/** The counters and histograms of one route, in one array, so that recording a request allocates nothing. */
export class RouteMetrics implements TrafficTotals {
  readonly counters = new CounterArrays(ROUTE_REFUSALS + REFUSAL_CODES.length);

  /** @param upstream counts the request too if it was forwarded */
  record(record: RequestRecord, upstream: UpstreamMetrics | undefined): void {
    const { method = '', status = 0, durationMs = 0, forwardedAfterMs, respondedAfterMs, refusal, reported } = record;
    const { own } = this.counters;
    if (refusal !== undefined) countRefusal(own, ROUTE_REFUSALS, refusal.code);
    if (reported?.some(({ limit }) => limit === undefined)) (own[REPORTED] as number) += 1;
    const methodIndex = METHOD_INDEX.get(method) ?? HTTP_METHODS.length;
    const hundreds = Math.floor(status / 100);
    const statusClass = hundreds < STATUS_CLASSES.length ? hundreds : 0;
    (own[methodIndex * STATUS_CLASSES.length + statusClass] as number) += 1;
    observe(own, 0, forwardedAfterMs ?? durationMs);
    observe(own, 2, durationMs);
    if (forwardedAfterMs === undefined) return;
    const bucket = observe(own, 1, (respondedAfterMs ?? durationMs) - forwardedAfterMs);
    upstream?.add(statusClass, bucket);
  }

  /** The refused requests by code, without codes that did not occur. */
  get refusals(): ReadonlyMap<RefusalCode, number> {
    return readRefusals(this.counters, ROUTE_REFUSALS);
  }

  /** Requests with a violation that were forwarded because of `validation: report`. */
  get reported(): number {
    return this.counters.sum(REPORTED);
  }

  /** Returns the request counters that are not zero. */
  get requests(): RequestCount[] {
    return [...HTTP_METHODS, OTHER_METHOD].flatMap((method, index) =>
      STATUS_CLASSES.flatMap((status, statusIndex) => {
        const count = this.counters.sum(index * STATUS_CLASSES.length + statusIndex);
        return count === 0 ? [] : [{ method, status, count }];
      }),
    );
  }

  histogram(phase: LatencyPhase): LatencyHistogram {
    const start = HISTOGRAMS + LATENCY_PHASES.indexOf(phase) * HISTOGRAM_LENGTH;
    const counts = Array.from({ length: HISTOGRAM_LENGTH - 1 }, (_, index) => this.counters.sum(start + index));
    return { counts, sumMs: this.counters.sum(start + HISTOGRAM_LENGTH - 1) };
  }

  addTo(sums: Float64Array): void {
    const { counters } = this;
    for (let index = 0; index < HISTOGRAMS; index += 1) {
      const statusClass = index % STATUS_CLASSES.length;
      sums[statusClass] = (sums[statusClass] as number) + counters.sum(index);
    }
    const buckets = HISTOGRAMS + LATENCY_PHASES.indexOf('total') * HISTOGRAM_LENGTH - STATUS_CLASSES.length;
    for (let index = STATUS_CLASSES.length; index < TOTALS_LENGTH; index += 1)
      sums[index] = (sums[index] as number) + counters.sum(buckets + index);
  }
}

/** Counts a refusal in an array that has the codes from an index on. */
export function countRefusal(counters: Float64Array, start: number, code: RefusalCode): void {
  (counters[start + (REFUSAL_INDEX.get(code) as number)] as number) += 1;
}

export function readRefusals(counters: CounterArrays, start: number): Map<RefusalCode, number> {
  const refusals = new Map<RefusalCode, number>();
  for (let index = 0; index < REFUSAL_CODES.length; index += 1) {
    const count = counters.sum(start + index);
    if (count > 0) refusals.set(REFUSAL_CODES[index] as RefusalCode, count);
  }
  return refusals;
}

/** Adds a time to the histogram of a phase. Returns the index of its bucket. */
function observe(numbers: Float64Array, phaseIndex: number, ms: number): number {
  const start = HISTOGRAMS + phaseIndex * HISTOGRAM_LENGTH;
  let bucket = 0;
  while (bucket < BUCKET_BOUNDS_MS.length && ms > (BUCKET_BOUNDS_MS[bucket] as number)) bucket += 1;
  (numbers[start + bucket] as number) += 1;
  (numbers[start + HISTOGRAM_LENGTH - 1] as number) += ms;
  return bucket;
}
