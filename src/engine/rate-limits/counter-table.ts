import { HASH_KEY_LENGTH, KeyedHash } from '../shared-memory/keyed-hash.ts';
import { SharedLock } from '../shared-memory/shared-lock.ts';
import type { WorkerPlace } from '../shared-memory/worker-context.ts';
import { CounterSlots, OVERFLOW_PLACE, placeOf } from './counter-slots.ts';
import { HASH_KEY_AT, MIN_SLOTS, SHARD_BYTES, SHARDS, SHARDS_AT } from './limit-buffer.ts';
import { type PendingCounter, PendingRequests } from './pending-requests.ts';
import { type LimitRows, limitRows } from './rate-limit.ts';

/** The cells of a shard: its lock, its last level, and the last id of its counters. */
const LOCK = 0;
const LEVEL = 1;
const LAST_ID = 2;
const CELLS = SHARD_BYTES / 4;

/** The shard and the id of the counter that values without room share. */
const OVERFLOW_SHARD = SHARDS;
const OVERFLOW_ID = 0;
const MAX_ID = 2 ** 30;

/**
 * The counters of one rate limit in a bounded memory, which all workers share. It keeps a 64-bit hash instead of each value. A new
 * value takes the slot of a counter whose time has passed, or else of the one among its neighbours that is closest to its start. A
 * counter that is over its limit is never removed: clients could otherwise invent values to be forgotten. If all neighbours are over
 * their limits, new values share one counter.
 *
 * `lock` gives this thread the counters with similar hashes, until `unlock`. In between, `select`, `find` or `lockOverflow` selects the
 * counter that the other members read and change. No state of the table is in this object, except for the selection.
 */
export class CounterTable extends CounterSlots {
  /** The numbers that each worker has counted. */
  readonly rows: LimitRows;
  readonly pending: PendingRequests;
  readonly #workers: number;
  readonly #now: () => number;
  readonly #hash: KeyedHash;
  readonly #cells: Int32Array;
  readonly #locks: SharedLock[];
  #maxLevel = 0;
  #shard = OVERFLOW_SHARD;
  /** The halves of the hash of the locked value, as integers with a sign. */
  high = 0;
  low = 0;

  /**
   * @param buffer that of `limitBuffer`
   * @param capacity the slots, a power of two
   * @param now the clock of the arrival times, which is the same for all workers
   */
  constructor(buffer: SharedArrayBuffer, worker: WorkerPlace, capacity: number, now: () => number) {
    super(buffer);
    this.rows = limitRows(buffer, worker.index);
    this.pending = new PendingRequests(buffer, worker);
    this.#workers = worker.count;
    this.#now = now;
    this.#hash = new KeyedHash(new Int32Array(buffer, HASH_KEY_AT, HASH_KEY_LENGTH));
    const cells = new Int32Array(buffer, SHARDS_AT, (SHARDS + 1) * CELLS);
    this.#cells = cells;
    this.#locks = Array.from({ length: SHARDS + 1 }, (_, shard) => new SharedLock(cells, shard * CELLS + LOCK));
    this.capacity = capacity;
  }

  /** True for the memory of this table. Each thread has an object of its own for it, and may receive several. */
  uses(buffer: SharedArrayBuffer): boolean {
    return hashKeyOf(buffer) === hashKeyOf(this.buffer);
  }

  /** Sets the number of slots up to which the table grows. A table with more keeps them: shared memory never shrinks. */
  set capacity(slots: number) {
    this.#maxLevel = Math.max(Math.log2(slots / SHARDS / MIN_SLOTS), 0);
  }

  /** The number of counters whose time has not passed. Reads all of them, without a lock. */
  get size(): number {
    const now = this.#now();
    let size = 0;
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const level = this.#levelOf(shard);
      this.include(level);
      size += this.count(shard, level, now);
    }
    return size;
  }

  /** Waits until no other thread uses the counters with hashes like that of a value. Call `unlock` in `finally`. */
  lock(value: string): void {
    const hash = this.#hash;
    hash.hash(value);
    this.#lockHash(hash.high | 0, hash.low | 0);
  }

  /** Locks and selects the common counter. */
  lockOverflow(): void {
    this.#lockShard(OVERFLOW_SHARD);
    this.place = OVERFLOW_PLACE;
  }

  unlock(): void {
    (this.#locks[this.#shard] as SharedLock).release();
  }

  /** Selects the counter of the locked value. Returns false if there is none. */
  find(): boolean {
    return this.findIn(this.#shard, this.#levelOf(this.#shard), this.high, this.low);
  }

  /**
   * Selects the counter of the locked value: its own, or a new one. Returns false if there is no room; then unlock it, and use the
   * common one.
   *
   * @param blockedAfter a counter with a later arrival time is over the limit
   */
  select(now: number, blockedAfter: number): boolean {
    if (this.find()) return true;
    const place = this.#placeFor(now);
    const lightest = this.arrivalAt(place);
    if (lightest > blockedAfter) {
      this.rows.add('overflowed');
      return false;
    }
    if (lightest > now) this.rows.add('evicted');
    this.insert(place, this.high, this.low, now, this.#nextId());
    return true;
  }

  /** Removes the pending requests of a worker that has ended. They remain counted. */
  forgetWorker(index: number): void {
    const pending = new PendingRequests(this.buffer, { index, count: this.#workers });
    pending.forget((entry, counter) => this.#removePending(entry, counter));
  }

  #removePending(entry: number, { high, low, id }: PendingCounter): void {
    const isOverflow = id === OVERFLOW_ID;
    if (isOverflow) this.lockOverflow();
    else this.#lockHash(high, low);
    try {
      if ((isOverflow || this.find()) && this.id === id) this.pending.remove(this, entry, 0);
    } finally {
      this.unlock();
    }
  }

  #lockHash(high: number, low: number): void {
    this.high = high;
    this.low = low;
    this.#lockShard(low & (SHARDS - 1));
  }

  #lockShard(shard: number): void {
    (this.#locks[shard] as SharedLock).acquire();
    this.#shard = shard;
    // Another thread may have added a level.
    if (shard !== OVERFLOW_SHARD) this.include(this.#levelOf(shard));
  }

  #levelOf(shard: number): number {
    return this.#cells[shard * CELLS + LEVEL] as number;
  }

  #nextId(): number {
    const cell = this.#shard * CELLS + LAST_ID;
    const id = ((this.#cells[cell] as number) % MAX_ID) + 1;
    this.#cells[cell] = id;
    return id;
  }

  /** Returns the place for a new counter of the locked shard, which gets another level if all neighbours are in use. */
  #placeFor(now: number): number {
    const shard = this.#shard;
    const level = this.#levelOf(shard);
    const place = this.lightest(shard, level, this.high, now);
    if (this.arrivalAt(place) <= now || level >= this.#maxLevel) return place;
    try {
      this.include(level + 1);
    } catch {
      // The system has no more memory.
      return place;
    }
    this.#cells[shard * CELLS + LEVEL] = level + 1;
    return placeOf(shard, level + 1, this.high);
  }
}

/** The key of the hash is random, so it identifies a memory too. */
function hashKeyOf(buffer: SharedArrayBuffer): bigint {
  return new BigInt64Array(buffer, HASH_KEY_AT, 1)[0] as bigint;
}
