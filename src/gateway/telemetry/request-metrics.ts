import { HTTP_METHODS } from '../../http-methods.ts';
import type { Exchange } from '../exchange.ts';
import type { RefusalCode } from '../response/refusal.ts';

/** The upper bounds of the histograms' buckets, in milliseconds; above the last one there is one more. */
export const BUCKET_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/** Where the time of a request went: before it was sent on, until the upstream's answer had begun, and all of it. */
export const LATENCY_PHASES = ['gateway', 'upstream', 'total'] as const;

export type LatencyPhase = (typeof LATENCY_PHASES)[number];

const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const OTHER_METHOD = 'other';
const METHOD_INDEX = new Map(HTTP_METHODS.map((method, index) => [method, index]));

const REQUEST_COUNTERS = (HTTP_METHODS.length + 1) * STATUS_CLASSES.length;
/** The buckets, the one above them all, and the sum. */
const HISTOGRAM_LENGTH = BUCKET_BOUNDS_MS.length + 2;

export interface RequestCount {
  /** `other`: one that no route may have. */
  readonly method: string;
  /** `none`: the client left before there was an answer. */
  readonly status: (typeof STATUS_CLASSES)[number];
  readonly count: number;
}

export interface LatencyHistogram {
  /** How many fell into each bucket alone, the one above all bounds last. */
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** What `addTo` adds up: requests by the class of their status, then the buckets of all of their time. */
export const TOTALS_INDEX = { none: 0, clientErrors: 4, serverErrors: 5, classes: STATUS_CLASSES.length } as const;

/** How many numbers `addTo` adds to. */
export const TOTALS_LENGTH = STATUS_CLASSES.length + BUCKET_BOUNDS_MS.length + 1;

/** What is counted of the requests of one route, in numbers that are there from its first request on. */
export class RouteMetrics {
  readonly #numbers = new Float64Array(REQUEST_COUNTERS + LATENCY_PHASES.length * HISTOGRAM_LENGTH);

  /** @param ms from the request's head to its end */
  record({ request, response, isTunnel, forwardedAfterMs, respondedAfterMs }: Exchange, ms: number): void {
    const method = METHOD_INDEX.get(request.method ?? '') ?? HTTP_METHODS.length;
    const status = isTunnel ? 1 : response.headersSent ? Math.floor(response.statusCode / 100) : 0;
    this.#add(method * STATUS_CLASSES.length + (status < STATUS_CLASSES.length ? status : 0), 1);
    this.#observe(0, forwardedAfterMs ?? ms);
    if (forwardedAfterMs !== undefined) this.#observe(1, (respondedAfterMs ?? ms) - forwardedAfterMs);
    this.#observe(2, ms);
  }

  /** Those that there were. */
  get requests(): RequestCount[] {
    return [...HTTP_METHODS, OTHER_METHOD].flatMap((method, index) =>
      STATUS_CLASSES.flatMap((status, at) => {
        const count = this.#numbers[index * STATUS_CLASSES.length + at] as number;
        return count === 0 ? [] : [{ method, status, count }];
      }),
    );
  }

  histogram(span: LatencyPhase): LatencyHistogram {
    const start = REQUEST_COUNTERS + LATENCY_PHASES.indexOf(span) * HISTOGRAM_LENGTH;
    const numbers = this.#numbers.subarray(start, start + HISTOGRAM_LENGTH);
    return { counts: [...numbers.subarray(0, -1)], sumMs: numbers.at(-1) as number };
  }

  /** Adds what was counted so far to `SUMS` numbers. */
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

  #observe(span: number, ms: number): void {
    const start = REQUEST_COUNTERS + span * HISTOGRAM_LENGTH;
    let bucket = 0;
    while (bucket < BUCKET_BOUNDS_MS.length && ms > (BUCKET_BOUNDS_MS[bucket] as number)) bucket += 1;
    this.#add(start + bucket, 1);
    this.#add(start + HISTOGRAM_LENGTH - 1, ms);
  }

  #add(index: number, value: number): void {
    this.#numbers[index] = (this.#numbers[index] as number) + value;
  }
}

/** Stands for all requests that no route matched; no route can have it for its id. */
export const NO_ROUTE = '(none)';

/** Reasons of refusals. */
const DESCRIPTOR_SHORTAGES = new Set(['upstream_emfile', 'upstream_enfile']);

/** What is counted of a gateway's requests: nothing of it is made for a request but for the first one of its kind. */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteMetrics>();
  /** A series that begins with 1 has no increase, so the first internal error would raise no alert. */
  readonly #refusals = new Map<RefusalCode, number>([['internal_error', 0]]);
  readonly #reported = new Map<string, number>();
  /** Of the routes that are no more. */
  readonly #gone = new Float64Array(TOTALS_LENGTH);
  inFlight = 0;
  /** Requests that failed because there was no file descriptor for a connection to the upstream. */
  descriptorShortages = 0;

  /** By the ids of routes, and `NO_ROUTE`. */
  get routes(): ReadonlyMap<string, RouteMetrics> {
    return this.#routes;
  }

  get refusals(): ReadonlyMap<RefusalCode, number> {
    return this.#refusals;
  }

  /** How many requests `validation: report` let through that would have been refused, by the id of their route. */
  get reportedRequests(): ReadonlyMap<string, number> {
    return this.#reported;
  }

  /** `SUMS` numbers of all routes, those too that are no more. */
  totals(): Float64Array {
    const sums = Float64Array.from(this.#gone);
    for (const meter of this.#routes.values()) meter.addTo(sums);
    return sums;
  }

  record(exchange: Exchange, ms: number): void {
    this.inFlight -= 1;
    const id = exchange.route?.id ?? NO_ROUTE;
    let meter = this.#routes.get(id);
    if (meter === undefined) {
      meter = new RouteMetrics();
      this.#routes.set(id, meter);
    }
    meter.record(exchange, ms);
    if (exchange.refusal !== undefined) {
      this.countRefusal(exchange.refusal.code);
      if (DESCRIPTOR_SHORTAGES.has(exchange.refusal.reason)) this.descriptorShortages += 1;
    }
    if (exchange.reportedRefusals !== undefined) this.#reported.set(id, (this.#reported.get(id) ?? 0) + 1);
  }

  countRefusal(code: RefusalCode): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
  }

  /** Forgets the routes that are no more, so that what a reload renames again and again does not add up. */
  retainRoutes(ids: ReadonlySet<string>): void {
    for (const [id, meter] of this.#routes) {
      if (ids.has(id) || id === NO_ROUTE) continue;
      meter.addTo(this.#gone);
      this.#routes.delete(id);
      this.#reported.delete(id);
    }
  }
}
