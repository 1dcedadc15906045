import { TOKEN_ERRORS } from '../../token-errors.ts';
import type { RefusalCode } from '../response/refusal.ts';
import type { RequestRecord } from './request-record.ts';
import {
  CounterArrays,
  type CountersNotice,
  countRefusal,
  NO_ROUTE,
  REFUSAL_CODES,
  RouteMetrics,
  readRefusals,
  TOTALS_LENGTH,
  type TrafficTotals,
  UpstreamMetrics,
} from './route-metrics.ts';

/** The reasons of refusals that a lack of file descriptors caused. */
const DESCRIPTOR_SHORTAGES = new Set(['upstream_emfile', 'upstream_enfile']);

/** The layout of the counters that belong to no route. */
const IN_FLIGHT = 0;
const SHORTAGES = 1;
const REFUSALS_START = 2;
const AUTHORIZATIONS_START = REFUSALS_START + REFUSAL_CODES.length;

/** The results of requests that need a token: `allowed`, or why the response is 401, 403, or 503 for `keys_unavailable`. */
const AUTHORIZATION_RESULTS = ['allowed', 'token_missing', 'role_not_allowed', 'origin_not_allowed', ...TOKEN_ERRORS];
const AUTHORIZATION_INDEX = new Map(AUTHORIZATION_RESULTS.map((result, index) => [result, index]));

/**
 * The metrics of all requests. Only the first request of a route allocates. Each worker counts its own requests. In the main thread,
 * which receives the arrays of the others, every value is the sum over all workers.
 */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteMetrics>();
  readonly #upstreams = new Map<string, UpstreamMetrics>();
  readonly #general = new CounterArrays(AUTHORIZATIONS_START + AUTHORIZATION_RESULTS.length);
  /** The totals of removed routes. */
  readonly #removed = new Float64Array(TOTALS_LENGTH);
  /** Removed routes to which other workers may still add requests: they activate a plan a moment later. */
  readonly #removedRoutes = new Map<RouteMetrics, string>();
  #announce: (notice: CountersNotice) => void = () => undefined;

  /** By route id; `NO_ROUTE` is one of the keys. */
  get routes(): ReadonlyMap<string, RouteMetrics> {
    return this.#routes;
  }

  /** The forwarded requests, by upstream id. */
  get upstreams(): ReadonlyMap<string, TrafficTotals> {
    return this.#upstreams;
  }

  /** `internal_error` is always there: a series that begins with 1 has no increase in Prometheus, so the first error would not alert. */
  get refusals(): ReadonlyMap<RefusalCode, number> {
    const refusals = readRefusals(this.#general, REFUSALS_START);
    return refusals.has('internal_error') ? refusals : refusals.set('internal_error', 0);
  }

  /** By result; all of them are there, so that the first refusals are an increase in Prometheus. */
  get authorizations(): ReadonlyMap<string, number> {
    return new Map(
      AUTHORIZATION_RESULTS.map((result, index) => [result, this.#general.sum(AUTHORIZATIONS_START + index)]),
    );
  }

  /** Requests with a violation that were forwarded because of `validation: report`, by route id. */
  get reportedRequests(): ReadonlyMap<string, number> {
    const counts = Array.from(this.#routes, ([id, { reported }]) => [id, reported] as const);
    return new Map(counts.filter(([, reported]) => reported > 0));
  }

  get inFlight(): number {
    return this.#general.sum(IN_FLIGHT);
  }

  /** Requests that failed because the process had no file descriptor for a connection to the upstream. */
  get descriptorShortages(): number {
    return this.#general.sum(SHORTAGES);
  }

  /** Returns the totals of all routes, including removed ones; `TOTALS_INDEX` has the layout. */
  totals(): Float64Array {
    const sums = Float64Array.from(this.#removed);
    for (const metrics of this.#removedRoutes.keys()) metrics.addTo(sums);
    for (const metrics of this.#routes.values()) metrics.addTo(sums);
    return sums;
  }

  /** Counts a request that begins. `record` ends it. */
  begin(): void {
    (this.#general.own[IN_FLIGHT] as number) += 1;
  }

  record(record: RequestRecord): void {
    const { route, refusal, forwardedAfterMs } = record;
    const { own } = this.#general;
    (own[IN_FLIGHT] as number) -= 1;
    const id = route?.id ?? NO_ROUTE;
    const metrics = this.#routes.get(id) ?? this.#addRoute(id);
    const upstreamId = forwardedAfterMs === undefined ? undefined : route?.upstream?.id;
    metrics.record(
      record,
      upstreamId === undefined ? undefined : (this.#upstreams.get(upstreamId) ?? this.#addUpstream(upstreamId)),
    );
    const authorization = authorizationIndex(record);
    if (authorization !== undefined) (own[AUTHORIZATIONS_START + authorization] as number) += 1;
    if (refusal === undefined) return;
    this.countRefusal(refusal.code);
    if (DESCRIPTOR_SHORTAGES.has(refusal.reason)) (own[SHORTAGES] as number) += 1;
  }

  countRefusal(code: RefusalCode): void {
    countRefusal(this.#general.own, REFUSALS_START, code);
  }

  /** Drops the metrics of removed routes and upstreams. Otherwise reloads that rename them would leak memory. */
  retain(ids: ReadonlySet<string>, upstreamIds: ReadonlySet<string>): void {
    for (const id of this.#upstreams.keys()) {
      if (upstreamIds.has(id)) continue;
      this.#upstreams.delete(id);
      this.#announce({ kind: 'upstream', id, buffer: undefined });
    }
    for (const [id, metrics] of this.#routes) {
      if (ids.has(id) || id === NO_ROUTE) continue;
      this.#routes.delete(id);
      this.#announce({ kind: 'route', id, buffer: undefined });
      this.#removedRoutes.set(metrics, id);
    }
    this.#sumRemovedRoutes();
  }

  /** Announces all arrays of this worker, also those that it creates later. */
  share(announce: (notice: CountersNotice) => void): void {
    this.#announce = announce;
    const announceAll = (kind: CountersNotice['kind'], id: string, { own }: CounterArrays) =>
      announce({ kind, id, buffer: own.buffer });
    announceAll('process', '', this.#general);
    for (const [id, { counters }] of this.#upstreams) announceAll('upstream', id, counters);
    for (const [id, { counters }] of this.#routes) announceAll('route', id, counters);
  }

  /** Adds an array of another worker to the sums, or takes over the counts of one that it no longer writes. */
  receive(worker: number, { kind, id, buffer }: CountersNotice): void {
    if (buffer !== undefined) this.#countersOf(kind, id).add(worker, buffer);
    else if (kind === 'upstream') this.#upstreams.get(id)?.counters.fold(worker);
    else this.#endRoute(worker, id);
  }

  /** Keeps the counts of a worker that has ended. Its requests in flight have ended with it. */
  forget(worker: number): void {
    this.#general.fold(worker, IN_FLIGHT);
    for (const { counters } of this.#upstreams.values()) counters.fold(worker);
    for (const { counters } of this.#routes.values()) counters.fold(worker);
    for (const { counters } of this.#removedRoutes.keys()) counters.fold(worker);
    this.#sumRemovedRoutes();
  }

  #endRoute(worker: number, id: string): void {
    const removed = this.#removedRoutes.entries().filter(([, removedId]) => removedId === id);
    for (const [{ counters }] of [...removed]) counters.fold(worker);
    this.#routes.get(id)?.counters.fold(worker);
    this.#sumRemovedRoutes();
  }

  /** Forgets the removed routes to which no worker adds requests. */
  #sumRemovedRoutes(): void {
    for (const metrics of this.#removedRoutes.keys()) {
      if (metrics.counters.hasOthers) continue;
      metrics.addTo(this.#removed);
      this.#removedRoutes.delete(metrics);
    }
  }

  #countersOf(kind: CountersNotice['kind'], id: string): CounterArrays {
    if (kind === 'process') return this.#general;
    if (kind === 'route') return (this.#routes.get(id) ?? this.#addRoute(id)).counters;
    return (this.#upstreams.get(id) ?? this.#addUpstream(id)).counters;
  }

  #addRoute(id: string): RouteMetrics {
    const metrics = new RouteMetrics();
    this.#routes.set(id, metrics);
    this.#announce({ kind: 'route', id, buffer: metrics.counters.own.buffer });
    return metrics;
  }

  #addUpstream(id: string): UpstreamMetrics {
    const metrics = new UpstreamMetrics();
    this.#upstreams.set(id, metrics);
    this.#announce({ kind: 'upstream', id, buffer: metrics.counters.own.buffer });
    return metrics;
  }
}

/** Returns the index of the result; `undefined` for a request that needed no token, or that ended before its token was verified. */
function authorizationIndex({ route, refusal, status, forwardedAfterMs }: RequestRecord): number | undefined {
  const reason = refusal?.code === 'token_invalid' ? refusal.reason : refusal?.code;
  const index = reason === undefined ? undefined : AUTHORIZATION_INDEX.get(reason);
  if (index !== undefined || route?.access !== 'protected') return index;
  return forwardedAfterMs !== undefined || (refusal === undefined && status !== undefined) ? 0 : undefined;
}
