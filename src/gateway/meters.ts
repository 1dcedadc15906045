import type { Exchange } from './exchange.ts';
import { METHODS } from './methods.ts';
import type { RefusalCode } from './refusal.ts';

/** The upper bounds of the histograms' buckets, in milliseconds; above the last one there is one more. */
export const BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/** Where the time of a request went: before it was sent on, until the upstream's answer had begun, and all of it. */
export const SPANS = ['gateway', 'upstream', 'total'] as const;

export type Span = (typeof SPANS)[number];

const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const OTHER = 'other';
const METHOD_INDEX = new Map(METHODS.map((method, index) => [method, index]));

const REQUESTS = (METHODS.length + 1) * CLASSES.length;
/** The buckets, the one above them all, and the sum. */
const HISTOGRAM = BOUNDS_MS.length + 2;

export interface Requests {
  /** `other`: one that no route may have. */
  readonly method: string;
  /** `none`: the client left before there was an answer. */
  readonly status: (typeof CLASSES)[number];
  readonly count: number;
}

export interface Histogram {
  /** How many fell into each bucket alone, the one above all bounds last. */
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** What `addTo` adds up: requests by the class of their status, then the buckets of all of their time. */
export const SUMMED = { none: 0, clientErrors: 4, serverErrors: 5, classes: CLASSES.length } as const;

/** How many numbers `addTo` adds to. */
export const SUMS = CLASSES.length + BOUNDS_MS.length + 1;

/** What is counted of the requests of one route, in numbers that are there from its first request on. */
export class RouteMeter {
  readonly #numbers = new Float64Array(REQUESTS + SPANS.length * HISTOGRAM);

  /** @param ms from the request's head to its end */
  count({ request, response, isTunnel, forwardedAt, answeredAt }: Exchange, ms: number): void {
    const method = METHOD_INDEX.get(request.method ?? '') ?? METHODS.length;
    const status = isTunnel ? 1 : response.headersSent ? Math.floor(response.statusCode / 100) : 0;
    this.#add(method * CLASSES.length + (status < CLASSES.length ? status : 0), 1);
    this.#observe(0, forwardedAt ?? ms);
    if (forwardedAt !== undefined) this.#observe(1, (answeredAt ?? ms) - forwardedAt);
    this.#observe(2, ms);
  }

  /** Those that there were. */
  get requests(): Requests[] {
    return [...METHODS, OTHER].flatMap((method, index) =>
      CLASSES.flatMap((status, at) => {
        const count = this.#numbers[index * CLASSES.length + at] as number;
        return count === 0 ? [] : [{ method, status, count }];
      }),
    );
  }

  histogram(span: Span): Histogram {
    const start = REQUESTS + SPANS.indexOf(span) * HISTOGRAM;
    const numbers = this.#numbers.subarray(start, start + HISTOGRAM);
    return { counts: [...numbers.subarray(0, -1)], sumMs: numbers.at(-1) as number };
  }

  /** Adds what was counted so far to `SUMS` numbers. */
  addTo(sums: Float64Array): void {
    for (let index = 0; index < REQUESTS; index += 1) {
      const count = this.#numbers[index] as number;
      sums[index % CLASSES.length] = (sums[index % CLASSES.length] as number) + count;
    }
    const buckets = REQUESTS + SPANS.indexOf('total') * HISTOGRAM;
    for (let index = CLASSES.length; index < SUMS; index += 1) {
      const count = this.#numbers[buckets + index - CLASSES.length] as number;
      sums[index] = (sums[index] as number) + count;
    }
  }

  #observe(span: number, ms: number): void {
    const start = REQUESTS + span * HISTOGRAM;
    let bucket = 0;
    while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] as number)) bucket += 1;
    this.#add(start + bucket, 1);
    this.#add(start + HISTOGRAM - 1, ms);
  }

  #add(index: number, value: number): void {
    this.#numbers[index] = (this.#numbers[index] as number) + value;
  }
}

/** Stands for all requests that no route matched; no route can have it for its id. */
export const NO_ROUTE = '(none)';

/** Reasons of refusals. */
const SHORTAGES = new Set(['upstream_emfile', 'upstream_enfile']);

/** What is counted of a gateway's requests: nothing of it is made for a request but for the first one of its kind. */
export class Meters {
  readonly #routes = new Map<string, RouteMeter>();
  /** A series that begins with 1 has no increase, so the first internal error would raise no alert. */
  readonly #refusals = new Map<RefusalCode, number>([['internal_error', 0]]);
  readonly #reported = new Map<string, number>();
  /** Of the routes that are no more. */
  readonly #gone = new Float64Array(SUMS);
  inFlight = 0;
  /** Requests that failed because there was no file descriptor for a connection to the upstream. */
  descriptorShortages = 0;

  /** By the ids of routes, and `NO_ROUTE`. */
  get routes(): ReadonlyMap<string, RouteMeter> {
    return this.#routes;
  }

  get refusals(): ReadonlyMap<RefusalCode, number> {
    return this.#refusals;
  }

  /** How many requests `validation: report` let through that would have been refused, by the id of their route. */
  get reported(): ReadonlyMap<string, number> {
    return this.#reported;
  }

  /** `SUMS` numbers of all routes, those too that are no more. */
  sums(): Float64Array {
    const sums = Float64Array.from(this.#gone);
    for (const meter of this.#routes.values()) meter.addTo(sums);
    return sums;
  }

  ended(exchange: Exchange, ms: number): void {
    this.inFlight -= 1;
    const id = exchange.route?.id ?? NO_ROUTE;
    let meter = this.#routes.get(id);
    if (meter === undefined) {
      meter = new RouteMeter();
      this.#routes.set(id, meter);
    }
    meter.count(exchange, ms);
    if (exchange.refusal !== undefined) {
      this.refused(exchange.refusal.code);
      if (SHORTAGES.has(exchange.refusal.reason)) this.descriptorShortages += 1;
    }
    if (exchange.reported !== undefined) this.#reported.set(id, (this.#reported.get(id) ?? 0) + 1);
  }

  refused(code: RefusalCode): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
  }

  /** Forgets the routes that are no more, so that what a reload renames again and again does not add up. */
  keep(ids: ReadonlySet<string>): void {
    for (const [id, meter] of this.#routes) {
      if (ids.has(id) || id === NO_ROUTE) continue;
      meter.addTo(this.#gone);
      this.#routes.delete(id);
      this.#reported.delete(id);
    }
  }
}
