import { createHmac } from 'node:crypto';
import type { LiveStore } from './live-store.ts';
import type { CountedRequest, Counters, LocalCounters, StoreFailure } from './local-counters.ts';
import { type RateLimit, STORE_FAILURES, type StoreFailureReason } from './rate-limit.ts';
import { COUNT, RELEASE } from './redis/gcra-script.ts';
import { storeErrorOf } from './redis/store-error.ts';

/** The requests with one key that came in one turn of the event loop after the first one. */
interface Group {
  requests: number;
  readonly result: Promise<readonly number[]>;
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
  readonly #groups = new Map<string, Group>();

  constructor(live: LiveStore, local: LocalCounters) {
    this.live = live;
    this.#local = local;
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
    const intervalUs = intervalOf(limit);
    let index: number;
    let result: readonly number[];
    try {
      [index, result] = await this.#runCount(this.#keyOf(limit, value), intervalUs, limit.burst);
    } catch (error) {
      return this.#countWithout(limit, value, storeErrorOf(error).reason);
    }
    const [allowed = 0, waitUs = 0, lastUs = 0, lastPosition = 0, counter = 0] = result;
    const isAllowed = index < allowed;
    const behindUs = isAllowed ? (allowed - 1 - index) * intervalUs : 0;
    const aheadUs = lastUs - behindUs;
    this.#local.raise(limit, value, aheadUs / 1_000);
    return {
      waitMs: isAllowed ? 0 : waitUs / 1_000,
      remaining: Math.floor(limit.burst - aheadUs / intervalUs),
      resetMs: aheadUs / 1_000,
      arrival: lastPosition - behindUs,
      counter,
      countedBy: this,
      isFallback: false,
    };
  }

  /**
   * Counts a request in the store. The first one of a turn is sent at once. Later ones of the same turn with the same key take one
   * command together: a flood of guesses must not delay the store. Returns the index of the request in its command, and the result.
   *
   * @throws StoreError
   */
  async #runCount(key: string, intervalUs: number, burst: number): Promise<[number, readonly number[]]> {
    // A reload may change the rate between two requests.
    const name = `${intervalUs} ${burst} ${key}`;
    const group = this.#groups.get(name);
    const run = (requests: number) => this.live.run(COUNT, key, [intervalUs, burst, requests]);
    if (group === undefined) {
      this.#beginGroup(name, run);
      return [0, await run(1)];
    }
    group.requests += 1;
    return [group.requests - 1, await group.result];
  }

  #beginGroup(name: string, run: (requests: number) => Promise<readonly number[]>): void {
    const { promise: result, resolve } = Promise.withResolvers<readonly number[]>();
    const group: Group = { requests: 0, result };
    this.#groups.set(name, group);
    setImmediate(() => {
      this.#groups.delete(name);
      if (group.requests > 0) resolve(run(group.requests));
    });
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
