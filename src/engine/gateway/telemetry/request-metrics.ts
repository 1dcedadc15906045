import { createSingleWorker, type WorkerContext } from '../../shared-memory/worker-context.ts';
import type { RefusalCode } from '../response/refusal.ts';
import {
  AT,
  AUTHORIZATIONS,
  BUCKET_BOUNDS_MS,
  type CountedPlan,
  METHODS,
  NO_ROUTE,
  PlanRows,
  REFUSAL_CODES,
  type RowKind,
  RowSums,
  STATUS_CLASSES,
} from './request-counters.ts';
import type { RequestRecord } from './request-record.ts';

/** The reasons of refusals that a lack of file descriptors caused. */
const DESCRIPTOR_SHORTAGES = new Set(['upstream_emfile', 'upstream_enfile']);
const AUTHORIZATION_INDEX = indexOf(AUTHORIZATIONS);
const METHOD_INDEX = indexOf(METHODS);
const REFUSAL_INDEX = indexOf(REFUSAL_CODES);

/**
 * The metrics of all requests. Each worker counts its own requests in shared memory, and the main thread reads the sums. Counts never go
 * back: the rows of a worker that ends remain, and its successor continues them.
 */
export class RequestMetrics {
  readonly #worker: Omit<WorkerContext, 'bus'>;
  #active: PlanRows;
  /** The rows of this worker. The first one is that of the gateway. */
  #own: Float64Array;
  /** The rows of the plan before, which other workers write until they activate the plan. `#active` has the counts before these. */
  #earlier: PlanRows | undefined;

  constructor(plan: CountedPlan, worker: Omit<WorkerContext, 'bus'> = createSingleWorker()) {
    this.#worker = worker;
    this.#active = new PlanRows(plan, worker);
    this.#own = this.#active.ofWorkers[worker.index] as Float64Array;
  }

  /**
   * Counts the requests of this plan from now on. The counts of other routes and upstreams are lost. The main thread calls it before other
   * workers count requests of the plan, and after all of them have activated the last one.
   */
  activate(plan: CountedPlan): void {
    const next = new PlanRows(plan, this.#worker);
    if (next.buffer === this.#active.buffer) return;
    if (this.#earlier !== undefined && this.#worker.index === 0) next.add(this.#earlier, this.#active);
    this.#earlier = this.#active;
    this.#active = next;
    this.#own = next.ofWorkers[this.#worker.index] as Float64Array;
  }

  /** Forgets the requests in flight of a worker that has ended. */
  forget(worker: number): void {
    for (const plan of [this.#active, this.#earlier]) plan?.ofWorkers[worker]?.fill(0, AT.inFlight, AT.inFlight + 1);
  }

  /** Counts a request that begins. `record` ends it. */
  begin(): void {
    (this.#own[AT.inFlight] as number) += 1;
  }

  record(record: RequestRecord): void {
    const { route, refusal, status = 0, durationMs = 0, forwardedAfterMs } = record;
    const own = this.#own;
    const hundreds = Math.floor(status / 100);
    const statusClass = hundreds < STATUS_CLASSES.length ? hundreds : 0;
    (own[AT.inFlight] as number) -= 1;
    (own[AT.classes + statusClass] as number) += 1;
    const bucket = observe(own, AT.time, durationMs);
    const reason = refusal?.code === 'token_invalid' ? refusal.reason : refusal?.code;
    const refusedIndex = reason === undefined ? undefined : AUTHORIZATION_INDEX.get(reason);
    // A request that ended before its token was verified has no result.
    const isVerified = forwardedAfterMs !== undefined || (refusal === undefined && record.status !== undefined);
    if (refusedIndex !== undefined) (own[AT.authorizations + refusedIndex] as number) += 1;
    else if (isVerified && route?.access === 'protected') (own[AT.authorizations] as number) += 1;
    this.#countRoute(record, statusClass, bucket);
    if (refusal === undefined) return;
    this.countRefusal(refusal.code);
    if (DESCRIPTOR_SHORTAGES.has(refusal.reason)) (own[AT.shortages] as number) += 1;
  }

  countRefusal(code: RefusalCode): void {
    (this.#own[AT.refused + (REFUSAL_INDEX.get(code) as number)] as number) += 1;
  }

  /** `internal_error` is always there: a series that begins with 1 has no increase in Prometheus, so the first error would not alert. */
  get refusals(): ReadonlyMap<RefusalCode, number> {
    const { refusals } = this.#gateway;
    return refusals.has('internal_error') ? refusals : refusals.set('internal_error', 0);
  }

  /** By result; all of them are there, so that the first refusals are an increase in Prometheus. */
  get authorizations(): ReadonlyMap<string, number> {
    const sums = this.#gateway;
    return new Map(AUTHORIZATIONS.map((result, index) => [result, sums.at(AT.authorizations + index)]));
  }

  /** Requests with a violation that were forwarded because of `validation: report`, by route id. */
  get reportedRequests(): ReadonlyMap<string, number> {
    const counts = this.routes.map(([id, sums]) => [id, sums.at(AT.reported)] as const);
    return new Map(counts.filter(([, reported]) => reported > 0));
  }

  get inFlight(): number {
    return this.#gateway.at(AT.inFlight);
  }

  /** Requests that failed because the process had no file descriptor for a connection to the upstream. */
  get descriptorShortages(): number {
    return this.#gateway.at(AT.shortages);
  }

  /** Returns the totals of all requests; `TOTALS_INDEX` has the layout. */
  totals(): Float64Array {
    return this.#gateway.totals();
  }

  /** The routes with requests by id; `NO_ROUTE` is one of them. */
  get routes(): IteratorObject<[id: string, sums: RowSums]> {
    return this.#all('routes');
  }

  /** The upstreams of routes with requests by id; `NO_ROUTE` for routes without one. Their totals are those of forwarded requests. */
  get upstreams(): IteratorObject<[id: string, sums: RowSums]> {
    return this.#all('upstreams');
  }

  *#all(kind: RowKind): Generator<[id: string, sums: RowSums]> {
    for (const id of this.#active.starts[kind].keys())
      if (this.#active.isUsed(kind, id) || this.#earlier?.isUsed(kind, id)) yield [id, this.#sums(kind, id)];
  }

  get #gateway(): RowSums {
    return this.#sums('gateway', NO_ROUTE);
  }

  #sums(kind: RowKind, id: string): RowSums {
    return new RowSums([this.#active, this.#earlier].flatMap((plan) => plan?.row(kind, id) ?? []));
  }

  /** A reload may have removed the route or its upstream. */
  #countRoute(record: RequestRecord, statusClass: number, bucket: number): void {
    const { route, refusal, reported, method = '', durationMs = 0, forwardedAfterMs, respondedAfterMs } = record;
    const own = this.#own;
    const { routes, upstreams } = this.#active.starts;
    const at = routes.get(route?.id ?? NO_ROUTE);
    if (at !== undefined) {
      const methodIndex = METHOD_INDEX.get(method) ?? METHODS.length - 1;
      (own[at] as number) += 1;
      (own[at + AT.classes + statusClass] as number) += 1;
      (own[at + AT.time + bucket] as number) += 1;
      (own[at + AT.time + BUCKET_BOUNDS_MS.length + 1] as number) += durationMs;
      (own[at + AT.methods + methodIndex * STATUS_CLASSES.length + statusClass] as number) += 1;
      if (refusal !== undefined) (own[at + AT.refused + (REFUSAL_INDEX.get(refusal.code) as number)] as number) += 1;
      if (reported?.some(({ limit }) => limit === undefined)) (own[at + AT.reported] as number) += 1;
    }
    const upstreamAt = upstreams.get(route?.upstream?.id ?? NO_ROUTE);
    if (upstreamAt === undefined) return;
    (own[upstreamAt] as number) += 1;
    observe(own, upstreamAt + AT.gatewayTime, forwardedAfterMs ?? durationMs);
    if (forwardedAfterMs === undefined) return;
    (own[upstreamAt + AT.classes + statusClass] as number) += 1;
    observe(own, upstreamAt + AT.time, (respondedAfterMs ?? durationMs) - forwardedAfterMs);
  }
}

function indexOf<Name>(names: readonly Name[]): ReadonlyMap<Name, number> {
  return new Map(names.map((name, index) => [name, index]));
}

/** Adds a time to the histogram at an index. Returns the number of its bucket. */
function observe(row: Float64Array, start: number, ms: number): number {
  let bucket = 0;
  while (bucket < BUCKET_BOUNDS_MS.length && ms > (BUCKET_BOUNDS_MS[bucket] as number)) bucket += 1;
  (row[start + bucket] as number) += 1;
  (row[start + BUCKET_BOUNDS_MS.length + 1] as number) += ms;
  return bucket;
}
