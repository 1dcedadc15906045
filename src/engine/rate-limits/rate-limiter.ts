import type { NameResolver } from '../dns/name-resolver.ts';
import { Refusal } from '../gateway/response/refusal.ts';
import { getOrCreate } from '../get-or-create.ts';
import type { Log } from '../log/log.ts';
import type { CounterTable } from './counter-table.ts';
import { LiveStores } from './live-stores.ts';
import {
  type CountedRequest,
  type Counters,
  type CountingWorker,
  LocalCounters,
  type StoreFailure,
} from './local-counters.ts';
import {
  type LimitCount,
  type LimitCounts,
  type RateLimit,
  type RateLimitFacts,
  type RouteRateLimits,
  SharedLimitCounts,
  type StoreStatus,
} from './rate-limit.ts';

export interface AppliedLimit {
  readonly limit: RateLimit;
  readonly value: string;
  readonly counted: CountedRequest;
}

/** The request of an exchange, and the limits that have counted it. */
export interface LimitedExchange extends RateLimitFacts {
  appliedLimits: AppliedLimit[] | undefined;
  /** Records a refusal that is not sent, because the limit only reports. */
  addReport(refusal: Refusal): void;
}

/** Counts requests by the rate limits of the active plan. */
export class RateLimiter {
  readonly local: LocalCounters;
  readonly #counts = new Map<string, SharedLimitCounts>();
  #limits: readonly RateLimit[] = [];
  #stores: LiveStores | undefined;

  /**
   * @param now returns milliseconds of a clock that never goes back and is the same for all workers
   * @param worker by default there are no other workers
   */
  constructor(now: () => number, worker?: CountingWorker) {
    this.local = new LocalCounters(now, worker);
  }

  /** Keeps the counters of the limits that the new plan has too. */
  activate(limits: readonly RateLimit[]): void {
    this.#limits = limits;
    this.local.activate(limits);
    this.#stores?.activate(limits);
    const ids = new Set(limits.map(({ id }) => id));
    for (const id of this.#counts.keys()) if (!ids.has(id)) this.#counts.delete(id);
    for (const { id, key } of limits) {
      const { rows } = this.local.tables.get(key) as CounterTable;
      getOrCreate(this.#counts, id, () => new SharedLimitCounts(rows)).continueWith(rows);
    }
  }

  /**
   * Connects to the stores of the active plan and of later ones. Before that, and without it, this process counts by itself.
   *
   * @returns a promise that resolves once each store is connected, has failed, or takes too long
   */
  async connect(resolver: NameResolver, logger: Log['logger']): Promise<void> {
    this.#stores ??= new LiveStores(this.local, resolver, logger);
    await this.prepare(this.#limits);
    this.#stores.activate(this.#limits);
  }

  /** Connects to the stores of a plan before it becomes active, in the same way as `connect`. */
  async prepare(limits: readonly RateLimit[]): Promise<void> {
    await this.#stores?.prepare(limits);
  }

  /** Closes the connections to stores after their pending decisions. */
  async close(): Promise<void> {
    await this.#stores?.close();
  }

  /** The stores of the active plan, once `connect` was called. */
  get stores(): readonly StoreStatus[] {
    return this.#stores?.statuses ?? [];
  }

  /** The counts of the limits of the active plan over all workers, by id. */
  get counts(): ReadonlyMap<string, Readonly<LimitCounts>> {
    return new Map(Array.from(this.#counts, ([id, counts]) => [id, counts.read()]));
  }

  /**
   * Counts a request by several limits. If one of them refuses it, still applies the others, so that the client learns the
   * longest time to wait. Returns a promise only if a limit counts in a store.
   *
   * @throws Refusal `rate_limit_exceeded`, `rate_limit_key_missing` or `rate_limit_unavailable`; `body_invalid` or
   *   `parameter_invalid` if servers could read another key than the gateway
   */
  apply(limits: readonly RateLimit[], exchange: LimitedExchange, start = 0, earlier?: Refusal): void | Promise<void> {
    let refusal = earlier;
    for (let index = start; index < limits.length; index += 1) {
      const limit = limits[index] as RateLimit;
      const value = limit.readValue(exchange);
      if (typeof value !== 'string') {
        if (value === undefined) this.#handleMissingKey(limit, exchange);
        else this.#refuseUncounted(limit, exchange, value);
        continue;
      }
      const result = this.#countersOf(limit).count(limit, value);
      if (result instanceof Promise) return this.#applyRest(result, limits, exchange, index, value, refusal);
      refusal = longest(refusal, this.#handleResult(limit, exchange, value, result));
    }
    if (refusal !== undefined) throw refusal;
  }

  async #applyRest(
    pending: Promise<CountedRequest | StoreFailure>,
    limits: readonly RateLimit[],
    exchange: LimitedExchange,
    index: number,
    value: string,
    earlier: Refusal | undefined,
  ): Promise<void> {
    const refusal = this.#handleResult(limits[index] as RateLimit, exchange, value, await pending);
    await this.apply(limits, exchange, index + 1, longest(earlier, refusal));
  }

  /** Ends the counting of a request: takes it back from the limits that the predicate accepts. */
  settle(applied: readonly AppliedLimit[], isReleased: (limit: RateLimit) => boolean): void {
    for (const { limit, value, counted } of applied) {
      const { countedBy } = counted;
      if (isReleased(limit)) {
        countedBy.release(limit, value, counted);
        this.#add(limit, 'released');
      } else if (limit.failures !== undefined) countedBy.keep?.(limit, value, counted);
    }
  }

  /** Removes the requests in progress of a worker that has ended. They remain counted. */
  forgetWorker(index: number): void {
    this.local.forgetWorker(index);
  }

  #countersOf({ key }: RateLimit): Counters {
    // A request that began with an earlier plan counts where the requests of the active plan do.
    return this.#stores?.get(key) ?? this.local;
  }

  #handleMissingKey(limit: RateLimit, exchange: LimitedExchange): void {
    if (limit.missing === 'skip') this.#add(limit, 'skipped');
    else this.#refuseUncounted(limit, exchange, new Refusal('rate_limit_key_missing', { limit: limit.id }));
  }

  /** Refuses a request that the limit could not count, unless the limit only reports. @throws Refusal */
  #refuseUncounted(limit: RateLimit, exchange: LimitedExchange, refusal: Refusal): void {
    if (limit.mode === 'enforce') {
      this.#add(limit, 'undecided');
      throw refusal;
    }
    this.#add(limit, 'skipped');
    exchange.addReport(refusal);
  }

  /** Returns the refusal of a request over the limit, unless the limit only reports. */
  #handleResult(limit: RateLimit, exchange: LimitedExchange, value: string, result: CountedRequest | StoreFailure) {
    if ('storeFailure' in result) {
      const details = { limit: limit.id, reason: result.storeFailure, headers: { 'Retry-After': '1' } };
      this.#refuseUncounted(limit, exchange, new Refusal('rate_limit_unavailable', details));
      return undefined;
    }
    if (result.isFallback) this.#add(limit, 'fallback');
    exchange.appliedLimits ??= [];
    if (result.waitMs === 0) {
      this.#add(limit, 'allowed');
      exchange.appliedLimits.push({ limit, value, counted: result });
      return undefined;
    }
    const headers = { 'Retry-After': String(wholeSeconds(result.waitMs)) };
    const refusal = new Refusal('rate_limit_exceeded', { limit: limit.id, headers });
    if (limit.mode === 'enforce') {
      this.#add(limit, 'refused');
      return refusal;
    }
    this.#add(limit, 'reported');
    exchange.addReport(refusal);
    return undefined;
  }

  #add({ id }: RateLimit, member: LimitCount): void {
    // A request may have begun with an earlier plan. Its counts are not kept.
    this.#counts.get(id)?.add(member);
  }
}

/** Returns the refusal with the longer time to wait. */
function longest(first: Refusal | undefined, second: Refusal | undefined): Refusal | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Number(second.headers['Retry-After']) > Number(first.headers['Retry-After']) ? second : first;
}

/** The rounding errors of the counters are smaller, in milliseconds. */
const TOLERANCE_MS = 0.001;

/** Returns the seconds of a time to wait, rounded up, and at least 1. */
export function wholeSeconds(ms: number): number {
  return Math.max(Math.ceil((ms - TOLERANCE_MS) / 1_000), 1);
}

/**
 * Returns the `RateLimit-Policy` and `RateLimit` fields of a response (draft-ietf-httpapi-ratelimit-headers-11). Limits of
 * failures are not in them: a guesser could read how many guesses remain. A refused request gets the policies only, which are the same
 * for every request to the route, so that nobody learns which limit refused it.
 *
 * @param rateLimits those of the route
 * @param applied those that have counted the request; `undefined` for a refused request
 */
export function rateLimitFields(
  rateLimits: RouteRateLimits | undefined,
  applied: readonly AppliedLimit[] | undefined,
): string[] {
  if (rateLimits === undefined) return [];
  const policies = [...rateLimits.match, ...rateLimits.authorize, ...rateLimits.validate].filter(isShown);
  if (policies.length === 0) return [];
  const fields = ['RateLimit-Policy', policies.map(policyItem).join(', ')];
  const shown = applied?.filter(({ limit }) => isShown(limit)) ?? [];
  return shown.length === 0 ? fields : [...fields, 'RateLimit', shown.map(limitItem).join(', ')];
}

function isShown({ failures, mode }: RateLimit): boolean {
  return failures === undefined && mode === 'enforce';
}

/** The quota is that of the window. A burst is not: `1 per 1s` with a burst of 100 allows no 100 requests every second. */
function policyItem({ id, requests, periodMs }: RateLimit): string {
  return `"${id}";q=${requests};w=${wholeSeconds(periodMs)}`;
}

function limitItem({ limit, counted }: AppliedLimit): string {
  return `"${limit.id}";r=${counted.remaining};t=${wholeSeconds(counted.resetMs)}`;
}
