import { setTimeout as sleep } from 'node:timers/promises';
import type { NameResolver } from '../dns/name-resolver.ts';
import type { Log } from '../log/log.ts';
import type { CounterStore } from './compile-stores.ts';
import { LiveStore } from './live-store.ts';
import type { LocalCounters } from './local-counters.ts';
import type { RateLimit, StoreStatus } from './rate-limit.ts';
import { loadRedis } from './redis/redis-link.ts';
import { SharedCounters } from './shared-counters.ts';

/** The longest that a start waits for its stores. */
const READY_MS = 2_000;
/** A store that a reload removed still takes back the requests that it has counted before. */
const RETIRED_MS = 30_000;

/** The stores of the active plan, and of one that is prepared, with their connections. */
export class LiveStores {
  readonly #local: LocalCounters;
  readonly #resolver: NameResolver;
  readonly #logger: Log['logger'];
  readonly #byKey = new Map<string, SharedCounters>();
  /** By `RateLimit.key`, for the limits of the active plan. */
  #byLimit: ReadonlyMap<string, SharedCounters | undefined> = new Map();
  readonly #retired = new Map<LiveStore, NodeJS.Timeout>();

  constructor(local: LocalCounters, resolver: NameResolver, logger: Log['logger']) {
    this.#local = local;
    this.#resolver = resolver;
    this.#logger = logger;
  }

  get statuses(): readonly StoreStatus[] {
    return [...this.#byKey.values()].map(({ live }) => live.status);
  }

  /** Returns the counters of the limit of the active plan with a key; `undefined` if this process counts by itself. */
  get(limitKey: string): SharedCounters | undefined {
    return this.#byLimit.get(limitKey);
  }

  /**
   * Connects to the stores that the active plan lacks, so that no request fails because they are not connected yet.
   *
   * @returns a promise that resolves once each of them is connected, has failed, or takes too long
   */
  async prepare(limits: readonly RateLimit[]): Promise<void> {
    const added: LiveStore[] = [];
    for (const [key, store] of storesOf(limits)) {
      if (this.#byKey.has(key)) continue;
      const live = new LiveStore(store, this.#resolver, this.#logger);
      this.#byKey.set(key, new SharedCounters(live, this.#local));
      added.push(live);
    }
    if (added.length === 0) return;
    // A slow disk must not take from the time of the stores. The stores themselves report an error.
    await loadRedis().catch(() => undefined);
    const starts = added.map((live) => live.start());
    await Promise.race([Promise.all(starts), sleep(READY_MS, undefined, { ref: false })]);
  }

  /** Keeps the stores that the new plan has too, and closes the others. Connects in the background to those not prepared. */
  activate(limits: readonly RateLimit[]): void {
    const stores = storesOf(limits);
    for (const [key, { live }] of this.#byKey) {
      if (stores.has(key)) continue;
      this.#byKey.delete(key);
      this.#retire(live);
    }
    void this.prepare(limits);
    this.#byLimit = new Map(limits.map(({ key, store }) => [key, store && this.#byKey.get(store.key)]));
  }

  /** Closes all stores after their pending decisions. */
  async close(): Promise<void> {
    for (const timer of this.#retired.values()) clearTimeout(timer);
    const stores = [...this.#retired.keys(), ...Array.from(this.#byKey.values(), ({ live }) => live)];
    await Promise.all(stores.map((live) => live.close()));
  }

  #retire(live: LiveStore): void {
    const close = () => {
      this.#retired.delete(live);
      void live.close();
    };
    this.#retired.set(live, setTimeout(close, RETIRED_MS).unref());
  }
}

/** Returns the stores of limits by `CounterStore.key`. */
function storesOf(limits: readonly RateLimit[]): ReadonlyMap<string, CounterStore> {
  return new Map(limits.flatMap(({ store }) => (store === undefined ? [] : [[store.key, store]])));
}
