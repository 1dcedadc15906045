import { createHash } from 'node:crypto';
import { getOrCreate } from '../../get-or-create.ts';
import { HTTP_METHODS } from '../../http1/http-methods.ts';
import { BufferParts, bytesOf } from '../../shared-memory/buffer-parts.ts';
import type { WorkerContext } from '../../shared-memory/worker-context.ts';
import { REFUSALS, type RefusalCode, TOKEN_ERRORS } from '../response/refusal.ts';

/** The id for requests that matched no route, and for routes without an upstream. It is not valid in a manifest. */
export const NO_ROUTE = '(none)';
/** The upper bounds of the histogram buckets, in milliseconds. One more bucket counts everything above the last bound. */
export const BUCKET_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];
export const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
/** A method that no route may have is `other`. */
export const METHODS: readonly string[] = [...HTTP_METHODS, 'other'];
export const REFUSAL_CODES = Object.keys(REFUSALS) as RefusalCode[];
/** The results of requests that need a token: first `allowed`, or why the response is 401, 403, or 503 for `keys_unavailable`. */
export const AUTHORIZATIONS = ['allowed', 'token_missing', 'role_not_allowed', 'origin_not_allowed', ...TOKEN_ERRORS];

/** The layout of totals: requests by status class, then the buckets of their time. */
export const TOTALS_INDEX = { none: 0, clientErrors: 4, serverErrors: 5, classes: STATUS_CLASSES.length } as const;
export const TOTALS_LENGTH = STATUS_CLASSES.length + BUCKET_BOUNDS_MS.length + 1;
/** The buckets, the bucket above the last bound, and the sum. */
const HISTOGRAM_LENGTH = BUCKET_BOUNDS_MS.length + 2;

const REST = 1 + TOTALS_LENGTH + 1;
const CODES = REFUSAL_CODES.length;
/** The layout of rows. All begin with the number of requests, the totals, and the sum of the times. */
export const AT = {
  count: 0,
  classes: 1,
  time: 1 + STATUS_CLASSES.length,
  /** The rest of an upstream, whose totals are those of forwarded requests: the histogram of the time until a request was forwarded or refused. */
  gatewayTime: REST,
  /** The rest of a route, and of the gateway: refusals by code. */
  refused: REST,
  /** Of a route: reported requests, then requests by method and status class. */
  reported: REST + CODES,
  methods: REST + CODES + 1,
  /** Of the gateway: requests in progress, requests without a free file descriptor, results of authorizations. */
  inFlight: REST + CODES,
  shortages: REST + CODES + 1,
  authorizations: REST + CODES + 2,
} as const;

const LENGTHS = {
  gateway: AT.authorizations + AUTHORIZATIONS.length,
  routes: AT.methods + METHODS.length * STATUS_CLASSES.length,
  upstreams: AT.gatewayTime + HISTOGRAM_LENGTH,
};

/** The gateway has one row for all requests. It is the first one. */
export type RowKind = keyof typeof LENGTHS;

export interface LatencyHistogram {
  /** The count of each bucket, not cumulative; the bucket above the last bound comes last. */
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** The sums of a row over all workers, as they are when they are read. */
export class RowSums {
  readonly #rows: readonly Float64Array[];

  /** @param rows the row of each worker */
  constructor(rows: readonly Float64Array[]) {
    this.#rows = rows;
  }

  at(index: number): number {
    let sum = 0;
    for (const row of this.#rows) sum += row[index] as number;
    return sum;
  }

  /** Returns the totals. @param totals is overwritten */
  totals(totals: Float64Array = new Float64Array(TOTALS_LENGTH)): Float64Array {
    for (let index = 0; index < TOTALS_LENGTH; index += 1) totals[index] = this.at(AT.classes + index);
    return totals;
  }

  histogram(start: number): LatencyHistogram {
    const counts = Array.from({ length: HISTOGRAM_LENGTH - 1 }, (_, index) => this.at(start + index));
    return { counts, sumMs: this.at(start + HISTOGRAM_LENGTH - 1) };
  }

  /** The refused requests by code, without codes that did not occur. An upstream has none. */
  get refusals(): Map<RefusalCode, number> {
    const counts = REFUSAL_CODES.map((code, index) => [code, this.at(AT.refused + index)] as const);
    return new Map(counts.filter(([, count]) => count > 0));
  }

  /** The requests of a route by method and status class; `none` if the client disconnected before the response began. */
  get requests() {
    const counts = METHODS.flatMap((method, row) =>
      STATUS_CLASSES.map((status, column) => {
        return { method, status, count: this.at(AT.methods + row * STATUS_CLASSES.length + column) };
      }),
    );
    return counts.filter(({ count }) => count > 0);
  }
}

/** The ids of the plan whose requests are counted. */
export type CountedPlan = Readonly<Record<'routes' | 'upstreams', readonly { readonly id: string }[]>>;

const layouts = new WeakMap<CountedPlan, ReturnType<typeof layoutOf>>();

/** Returns the buffer of the rows of a plan, and the starts of its rows by kind and id. Plans with the same ids have the same buffer. */
export function requestBuffer(plan: CountedPlan, workers: number) {
  // A plan of ten thousand routes takes milliseconds, and each reload needs its layout several times.
  const layout = getOrCreate(layouts, plan, () => layoutOf(plan));
  return { ...layout, bytes: workers * bytesOf((parts) => parts.float64(layout.length)) };
}

function layoutOf({ routes, upstreams }: CountedPlan) {
  let length = 0;
  const place = (kind: RowKind, entries: CountedPlan['routes']): ReadonlyMap<string, number> =>
    new Map(
      [...entries, { id: NO_ROUTE }].map(({ id }) => {
        length += LENGTHS[kind];
        return [id, length - LENGTHS[kind]];
      }),
    );
  const starts: Readonly<Record<RowKind, ReadonlyMap<string, number>>> = {
    gateway: place('gateway', []),
    routes: place('routes', routes),
    upstreams: place('upstreams', upstreams),
  };
  const ids = JSON.stringify(Object.values(starts).map((byId) => [...byId.keys()]));
  const name = `requests/${createHash('sha256').update(ids).digest('hex')}`;
  return { name, starts, length };
}

/** The rows of a plan. Each worker writes only its own ones, so that counting needs no lock. */
export class PlanRows {
  readonly buffer: SharedArrayBuffer;
  /** The rows of each worker. */
  readonly ofWorkers: readonly Float64Array[];
  /** The starts of the rows by id. */
  readonly starts: ReturnType<typeof requestBuffer>['starts'];

  constructor(plan: CountedPlan, { count, memory }: Pick<WorkerContext, 'count' | 'memory'>) {
    const { name, bytes, starts, length } = requestBuffer(plan, count);
    this.buffer = memory.buffer(name, bytes);
    this.starts = starts;
    const parts = new BufferParts(this.buffer);
    this.ofWorkers = Array.from({ length: count }, () => parts.float64(length));
  }

  /** True if a worker has counted a request in the row of a route or an upstream. */
  isUsed(kind: RowKind, id: string): boolean {
    const start = this.starts[kind].get(id);
    return start !== undefined && this.ofWorkers.some((rows) => rows[start] !== 0);
  }

  /** Returns the row of each worker; none for another id. */
  row(kind: RowKind, id: string): readonly Float64Array[] {
    const start = this.starts[kind].get(id);
    if (start === undefined) return [];
    return this.ofWorkers.map((rows) => rows.subarray(start, start + LENGTHS[kind]));
  }

  /** Adds the counts of ids that `between` has too. No worker may write these rows meanwhile. */
  add(earlier: PlanRows, between: PlanRows): void {
    for (const kind of Object.keys(LENGTHS) as RowKind[])
      for (const id of between.starts[kind].keys()) {
        const [to, from] = [this.starts[kind].get(id), earlier.starts[kind].get(id)];
        if (to === undefined || from === undefined) continue;
        for (const [worker, rows] of this.ofWorkers.entries()) {
          const others = earlier.ofWorkers[worker] as Float64Array;
          if (kind === 'gateway' || others[from] !== 0) addRow(rows, to, others, from, LENGTHS[kind]);
        }
      }
  }
}

function addRow(rows: Float64Array, to: number, others: Float64Array, from: number, length: number): void {
  for (let index = 0; index < length; index += 1) {
    const count = others[from + index] as number;
    // Memory that nothing was written to takes no room.
    if (count !== 0) (rows[to + index] as number) += count;
  }
}
