import { createHmac } from 'node:crypto';
import type { CountedRequest, Counters, StoreFailure } from './counters.ts';
import type { LiveStore } from './live-store.ts';
import type { LocalCounters } from './local-counters.ts';
import type { RateLimit } from './rate-limit.ts';
import { RELEASE } from './redis/gcra-script.ts';
import { STORE_FAILURES, type StoreFailureReason, storeErrorOf } from './redis/store-error.ts';
import { intervalOf, SimultaneousCounts, type StoreCount } from './simultaneous-counts.ts';

/** A request that a store has counted. */
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
