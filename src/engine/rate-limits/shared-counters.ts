import { createHmac } from 'node:crypto';
import { STORE_FAILURES, type StoreFailureReason } from './limit-status.ts';
import type { LiveStore } from './live-store.ts';
import type { CountedRequest, Counters, LocalCounters, StoreFailure } from './local-counters.ts';
import type { RateLimit } from './rate-limit.ts';
import { COUNT, RELEASE } from './redis/gcra-script.ts';
import { storeErrorOf } from './redis/store-error.ts';

/** The part of a store's result that belongs to one request. All times are microseconds. */
interface StoreCount {
  /** 0 if the request is allowed. */
  readonly waitUs: number;
  readonly aheadUs: number;
  readonly position: number;
  readonly counter: number;
}

/** The requests with one key that came in one turn of the event loop after the first one. */
interface Group {
  requests: number;
  readonly result: Promise<readonly number[]>;
}

/**
 * Counts requests in a store. The first one of a turn is sent at once. Later ones of the same turn with the same key take one
 * command together: a flood of guesses must not delay the store.
 */
export class SimultaneousCounts {
  readonly #live: LiveStore;
  readonly #groups = new Map<string, Group>();

  constructor(live: LiveStore) {
    this.#live = live;
  }

  /** @throws StoreError */
  async count(limit: RateLimit, key: string): Promise<StoreCount> {
    const intervalUs = intervalOf(limit);
    // A reload may change the rate between two requests.
    const name = `${intervalUs} ${limit.burst} ${key}`;
    const group = this.#groups.get(name);
    if (group === undefined) {
      this.#begin(name, key, [intervalUs, limit.burst]);
      return placeOf(await this.#live.run(COUNT, key, [intervalUs, limit.burst, 1]), 0, intervalUs);
    }
    const index = group.requests;
    group.requests += 1;
    return placeOf(await group.result, index, intervalUs);
  }

  #begin(name: string, key: string, values: readonly number[]): void {
    const result = new Promise<readonly number[]>((resolve) => {
      setImmediate(() => {
        this.#groups.delete(name);
        if (group.requests > 0) resolve(this.#live.run(COUNT, key, [...values, group.requests]));
      });
    });
    const group: Group = { requests: 0, result };
    this.#groups.set(name, group);
  }
}

/** Returns the place of a request in the result of its command. */
function placeOf(result: readonly number[], index: number, intervalUs: number): StoreCount {
  const [allowed = 0, waitUs = 0, aheadUs = 0, position = 0, counter = 0] = result;
  if (index >= allowed) return { waitUs, aheadUs, position, counter };
  const behindUs = (allowed - 1 - index) * intervalUs;
  return { waitUs: 0, aheadUs: aheadUs - behindUs, position: position - behindUs, counter };
}

/** Returns the interval in whole microseconds, so that sums are exact. Rounded up: the limit is never looser than in the manifest. */
function intervalOf({ periodMs, requests }: RateLimit): number {
  return Math.ceil((periodMs * 1_000) / requests);
}

interface SharedCount extends CountedRequest {
  /** Identifies the counter: later ones of the same value do not contain the request. */
  readonly counter: number;
}

/** Counts the requests of several gateways in a store. While the store fails, counts in this process or makes no decision. */
export class SharedCounters implements Counters {
  readonly live: LiveStore;
  readonly #local: LocalCounters;
  readonly #counts: SimultaneousCounts;

  constructor(live: LiveStore, local: LocalCounters) {
    this.live = live;
    this.#local = local;
    this.#counts = new SimultaneousCounts(live);
  }

  count(limit: RateLimit, value: string): CountedRequest | StoreFailure | Promise<CountedRequest | StoreFailure> {
    const { obstacle } = this.live;
    return obstacle === undefined ? this.#countInStore(limit, value) : this.#countWithout(limit, value, obstacle);
  }

  release(limit: RateLimit, value: string, { arrival, counter }: SharedCount): void {
    if (this.live.obstacle !== undefined) return;
    // A request that cannot be taken back remains counted: a failure of the store never helps a guesser.
    this.live.run(RELEASE, this.#keyOf(limit, value), [intervalOf(limit), arrival, counter]).catch(() => undefined);
  }

  async #countInStore(limit: RateLimit, value: string): Promise<SharedCount | CountedRequest | StoreFailure> {
    let result: StoreCount;
    try {
      result = await this.#counts.count(limit, this.#keyOf(limit, value));
    } catch (error) {
      return this.#countWithout(limit, value, storeErrorOf(error).reason);
    }
    const { waitUs, aheadUs, position, counter } = result;
    this.#local.raise(limit, value, aheadUs / 1_000);
    const remaining = Math.floor(limit.burst - aheadUs / intervalOf(limit));
    const common = { arrival: position, counter, countedBy: this, isFallback: false };
    return { ...common, waitMs: waitUs / 1_000, remaining, resetMs: aheadUs / 1_000 };
  }

  #countWithout(limit: RateLimit, value: string, reason: StoreFailureReason): CountedRequest | StoreFailure {
    this.live.recordWithout(reason);
    if (this.live.store.onFailure === 'refuse') return { storeFailure: STORE_FAILURES[reason] };
    return Object.assign(this.#local.count(limit, value), { isFallback: true });
  }

  /** Values are personal data. Only this hash leaves the process. Without the secret, nobody can compare it with known values. */
  #keyOf({ id, key }: RateLimit, value: string): string {
    const hash = createHmac('sha256', this.live.store.secret()).update(`${key}\0${value}`).digest('base64url');
    return `sg:rl:${id}:${hash}`;
  }
}
