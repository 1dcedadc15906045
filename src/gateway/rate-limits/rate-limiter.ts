import type { NameResolver } from '../../dns/name-resolver.ts';
import type { Log } from '../../log/log.ts';
import type { RateLimit, RateLimitFacts } from '../../plan/rate-limits/rate-limit.ts';
import { Refusal } from '../response/refusal.ts';
import type { CountedRequest, Counters, StoreFailure } from './counters.ts';
import { createLimitCounts, type LimitCounts } from './limit-counts.ts';
import { LiveStores } from './live-stores.ts';
import { LocalCounters } from './local-counters.ts';
import type { StoreStatus } from './store-status.ts';

/** A request that a limit has counted. */
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
  readonly #counts = new Map<string, LimitCounts>();
  #limits: readonly RateLimit[] = [];
  #stores: LiveStores | undefined;
  /** The limits of the active plan that count in a store, by `RateLimit.key`. */
  #shared: ReadonlyMap<string, RateLimit> = new Map();

  /** @param now returns milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.local = new LocalCounters(now);
  }

  /** Keeps the counters of the limits that the new plan has too. */
  activate(limits: readonly RateLimit[]): void {
    this.#limits = limits;
    this.local.activate(limits);
    this.#shared = new Map(limits.filter(({ store }) => store !== undefined).map((limit) => [limit.key, limit]));
    void this.#stores?.activate(limits);
    const ids = new Set(limits.map(({ id }) => id));
    for (const id of this.#counts.keys()) if (!ids.has(id)) this.#counts.delete(id);
    for (const id of ids) if (!this.#counts.has(id)) this.#counts.set(id, createLimitCounts());
  }

  /**
   * Connects to the stores of the active plan and of later ones. Before that, and without it, this process counts by itself.
   *
   * @returns a promise that resolves once each store is connected, has failed, or takes too long
   */
  async connect(resolver: NameResolver, logger: Log['logger']): Promise<void> {
    this.#stores ??= new LiveStores(this.local, resolver, logger);
    await this.#stores.activate(this.#limits);
  }

  /** Closes the connections to stores after their pending decisions. */
  async close(): Promise<void> {
    await this.#stores?.close();
  }

  /** The stores of the active plan, once `connect` was called. */
  get stores(): readonly StoreStatus[] {
    return this.#stores?.statuses ?? [];
  }

  /** The counts of the limits of the active plan, by id. */
  get counts(): ReadonlyMap<string, Readonly<LimitCounts>> {
    return this.#counts;
  }

  /**
   * Counts a request by several limits, one after the other, and stops at the first refusal. Returns a promise only if a store
   * has to be asked.
   *
   * @throws Refusal `rate_limit_exceeded`, `rate_limit_key_missing` or `rate_limit_unavailable`
   */
  apply(limits: readonly RateLimit[], exchange: LimitedExchange, start = 0): void | Promise<void> {
    for (let index = start; index < limits.length; index += 1) {
      const limit = limits[index] as RateLimit;
      const value = limit.readValue(exchange);
      if (value === undefined) {
        this.#handleMissingKey(limit, exchange);
        continue;
      }
      const result = this.#countersOf(limit).count(limit, value);
      if (result instanceof Promise) return this.#applyRest(result, limits, exchange, index, value);
      this.#handleResult(limit, exchange, value, result);
    }
  }

  async #applyRest(
    pending: Promise<CountedRequest | StoreFailure>,
    limits: readonly RateLimit[],
    exchange: LimitedExchange,
    index: number,
    value: string,
  ): Promise<void> {
    this.#handleResult(limits[index] as RateLimit, exchange, value, await pending);
    await this.apply(limits, exchange, index + 1);
  }

  /** Takes a request back from the limits of failures, unless its response is one. @param status `undefined` without a response */
  release(applied: readonly AppliedLimit[], status: number | undefined): void {
    for (const { limit, value, counted } of applied) {
      if (limit.failures === undefined || (status !== undefined && limit.failures.has(status))) continue;
      counted.countedBy.release(limit, value, counted);
      this.#countsOf(limit).released += 1;
    }
  }

  #countersOf({ key }: RateLimit): Counters {
    // A request that began with an earlier plan counts where the requests of the active plan do.
    const limit = this.#shared.get(key);
    return (limit && this.#stores?.get(limit)) ?? this.local;
  }

  #handleMissingKey(limit: RateLimit, exchange: LimitedExchange): void {
    const counts = this.#countsOf(limit);
    if (limit.missing === 'skip') {
      counts.skipped += 1;
      return;
    }
    const refusal = new Refusal('rate_limit_key_missing', { limit: limit.id });
    if (limit.mode === 'enforce') {
      counts.undecided += 1;
      throw refusal;
    }
    counts.skipped += 1;
    exchange.addReport(refusal);
  }

  #handleResult(
    limit: RateLimit,
    exchange: LimitedExchange,
    value: string,
    result: CountedRequest | StoreFailure,
  ): void {
    const counts = this.#countsOf(limit);
    if ('storeFailure' in result) {
      const reason = result.storeFailure;
      const refusal = new Refusal('rate_limit_unavailable', {
        limit: limit.id,
        reason,
        headers: { 'Retry-After': '1' },
      });
      if (limit.mode === 'enforce') {
        counts.undecided += 1;
        throw refusal;
      }
      counts.skipped += 1;
      exchange.addReport(refusal);
      return;
    }
    if (result.isFallback) counts.fallback += 1;
    exchange.appliedLimits ??= [];
    if (result.waitMs === 0) {
      counts.allowed += 1;
      exchange.appliedLimits.push({ limit, value, counted: result });
      return;
    }
    const seconds = String(Math.ceil(result.waitMs / 1_000));
    const refusal = new Refusal('rate_limit_exceeded', { limit: limit.id, headers: { 'Retry-After': seconds } });
    if (limit.mode === 'enforce') {
      counts.refused += 1;
      throw refusal;
    }
    counts.reported += 1;
    exchange.addReport(refusal);
  }

  #countsOf({ id }: RateLimit): LimitCounts {
    // A request may have begun with an earlier plan. Its counts are not kept.
    return this.#counts.get(id) ?? createLimitCounts();
  }
}
