import { KeyedHash } from '../../shared-memory/keyed-hash.ts';
import { CounterShard } from './counter-shard.ts';

/** A table grows one shard at a time: to copy all counters at once would block the event loop. */
const SHARDS = 64;

/**
 * The counters of one rate limit in a bounded memory. It keeps a 64-bit hash instead of each value. A new value takes the slot of
 * a counter whose time has passed, or else of the one among 32 neighbours that is closest to its start. A counter that is over
 * its limit is never removed: clients could otherwise invent values to be forgotten. If all neighbours are over their limits, new
 * values share one counter.
 *
 * `select` or `find` selects the counter that the other members read and change.
 */
export class CounterTable {
  /** Counters that were removed before their time had passed. */
  evicted = 0;
  /** Requests that were counted together, because there was no room. */
  overflowed = 0;
  readonly #now: () => number;
  #maxShardSize: number;
  readonly #shards: (CounterShard | undefined)[] = new Array(SHARDS).fill(undefined);
  readonly #overflow = new CounterShard(1);
  readonly #hash = new KeyedHash();
  #lastId = 0;
  #shard = this.#overflow;
  #slot = 0;

  /** @param capacity the slots, a power of two. @param now the clock of the arrival times */
  constructor(capacity: number, now: () => number) {
    this.#maxShardSize = capacity / SHARDS;
    this.#now = now;
  }

  /** The number of counters whose time has not passed. Reads all of them. */
  get size(): number {
    const now = this.#now();
    return this.#shards.reduce((sum, shard) => sum + (shard?.count(now) ?? 0), 0);
  }

  get arrival(): number {
    return this.#shard.arrivals[this.#slot] as number;
  }

  set arrival(arrival: number) {
    this.#shard.arrivals[this.#slot] = arrival;
  }

  /** Differs from the id of a removed counter of the same value. */
  get id(): number {
    return this.#shard.ids[this.#slot] as number;
  }

  /** True if the counter is the common one. */
  get isOverflow(): boolean {
    return this.#shard === this.#overflow;
  }

  selectOverflow(): void {
    this.#shard = this.#overflow;
    this.#slot = 0;
  }

  /** Selects the counter of a value. Returns false if there is none. */
  find(value: string): boolean {
    const hash = this.#hash;
    hash.hash(value);
    const shard = this.#shards[hash.low & (SHARDS - 1)];
    const slot = shard?.find(hash.high, hash.low) ?? -1;
    if (shard === undefined || slot === -1) return false;
    this.#shard = shard;
    this.#slot = slot;
    return true;
  }

  /**
   * Selects the counter of a value: its own, a new one, or the common one.
   *
   * @param blockedAfter a counter with a later arrival time is over the limit
   */
  select(value: string, now: number, blockedAfter: number): void {
    if (this.find(value)) return;
    const { high, low } = this.#hash;
    const index = low & (SHARDS - 1);
    let shard = this.#shards[index] ?? new CounterShard();
    let slot = shard.lightest(high, now);
    while ((shard.arrivals[slot] as number) > now && shard.size < this.#maxShardSize) {
      shard = shard.resized(shard.size * 2, now) as CounterShard;
      slot = shard.lightest(high, now);
    }
    this.#shards[index] = shard;
    const lightest = shard.arrivals[slot] as number;
    if (lightest > blockedAfter) {
      this.overflowed += 1;
      this.selectOverflow();
      return;
    }
    if (lightest > now) this.evicted += 1;
    this.#lastId = (this.#lastId + 1) >>> 0;
    shard.insert(slot, high, low, now, this.#lastId);
    this.#shard = shard;
    this.#slot = slot;
  }

  /** Changes the number of slots. A shard with too many counters for it remains as it is. */
  resize(capacity: number): void {
    const now = this.#now();
    this.#maxShardSize = capacity / SHARDS;
    for (const [index, shard] of this.#shards.entries())
      if (shard !== undefined && shard.size > this.#maxShardSize)
        this.#shards[index] = shard.resized(this.#maxShardSize, now) ?? shard;
  }
}
