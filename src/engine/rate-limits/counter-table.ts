import { HASH_KEY_LENGTH, KeyedHash } from '../shared-memory/keyed-hash.ts';
import { SharedLock } from '../shared-memory/shared-lock.ts';
import { CounterSlots, OVERFLOW_PLACE } from './counter-slots.ts';
import { HASH_KEY_AT, MIN_SLOTS, SHARD_BYTES, SHARDS, SHARDS_AT } from './limit-buffer.ts';
import { type LimitRows, limitRows } from './limit-status.ts';
import { NO_ENTRY, type PendingCounter, PendingRequests } from './pending-requests.ts';

/** The cells of a shard. The size of a shard is 16, doubled as often as its level says. */
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
 * value takes the slot of a counter whose time has passed, or else of the one among 32 neighbours that is closest to its start. A
 * counter that is over its limit is never removed: clients could otherwise invent values to be forgotten. If all neighbours are over
 * their limits, new values share one counter.
 *
 * `lock` gives this thread the counters with similar hashes, until `unlock`. In between, `select`, `find` or `selectOverflow` selects the
 * counter that the other members read and change. No state of the table is in this object, except for the selection.
 */
export class CounterTable {
  readonly buffer: SharedArrayBuffer;
  /** The numbers that each worker has counted. */
  readonly rows: LimitRows;
  readonly #pending: PendingRequests;
  readonly #now: () => number;
  readonly #hash: KeyedHash;
  readonly #slots: CounterSlots;
  readonly #cells: Int32Array;
  readonly #locks: SharedLock[];
  #maxLevel = 0;
  /** The halves of the hash of the locked value, as integers with a sign. */
  #high = 0;
  #low = 0;
  #shard = OVERFLOW_SHARD;
  #place = OVERFLOW_PLACE;

  /**
   * @param buffer that of `limitBuffer`
   * @param capacity the slots, a power of two
   * @param now the clock of the arrival times, which is the same for all workers
   */
  constructor(buffer: SharedArrayBuffer, workerIndex: number, capacity: number, now: () => number) {
    this.buffer = buffer;
    this.rows = limitRows(buffer, workerIndex);
    this.#pending = new PendingRequests(buffer, workerIndex);
    this.#now = now;
    this.#hash = new KeyedHash(new Int32Array(buffer, HASH_KEY_AT, HASH_KEY_LENGTH));
    this.#slots = new CounterSlots(buffer);
    const cells = new Int32Array(buffer, SHARDS_AT, (SHARDS + 1) * CELLS);
    this.#cells = cells;
    this.#locks = Array.from({ length: SHARDS + 1 }, (_, shard) => new SharedLock(cells, shard * CELLS + LOCK));
    this.capacity = capacity;
  }

  /** True for the memory of this table. Each thread has an object of its own for it, and may receive several. */
  uses(buffer: SharedArrayBuffer): boolean {
    return hashKeyOf(buffer) === hashKeyOf(this.buffer);
  }

  /** The number of counters whose time has not passed. Reads all of them, without a lock. */
  get size(): number {
    const now = this.#now();
    let size = 0;
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const slots = this.#sizeOf(shard);
      this.#slots.include(slots);
      size += this.#slots.count(shard, slots, now);
    }
    return size;
  }

  /** Counters that were removed before their time had passed. */
  get evicted(): number {
    return this.rows.sum('evicted');
  }

  /** Requests that were counted together, because there was no room. */
  get overflowed(): number {
    return this.rows.sum('overflowed');
  }

  /** Requests that remained counted although they were no failures: there was no room to remember them until their responses. */
  get retained(): number {
    return this.rows.sum('retained');
  }

  get arrival(): number {
    return this.#slots.arrivalAt(this.#place);
  }

  set arrival(arrival: number) {
    this.#slots.setArrival(this.#place, arrival);
  }

  /** Differs from the id of a removed counter of the same value. */
  get id(): number {
    return this.#slots.idAt(this.#place);
  }

  /** True if the counter is the common one. */
  get isOverflow(): boolean {
    return this.#place === OVERFLOW_PLACE;
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
    this.#place = OVERFLOW_PLACE;
  }

  unlock(): void {
    (this.#locks[this.#shard] as SharedLock).release();
  }

  /** Selects the counter of the locked value. Returns false if there is none. */
  find(): boolean {
    const place = this.#slots.find(this.#shard, this.#sizeOf(this.#shard), this.#high, this.#low);
    if (place === -1) return false;
    this.#place = place;
    return true;
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
    const lightest = this.#slots.arrivalAt(place);
    if (lightest > blockedAfter) {
      this.rows.add('overflowed');
      return false;
    }
    if (lightest > now) this.rows.add('evicted');
    this.#slots.insert(place, this.#high, this.#low, now, this.#nextId());
    this.#place = place;
    return true;
  }

  /** Prepares the next `addPending`. Call it without a lock. */
  reservePending(): void {
    this.#pending.reserve();
  }

  /** Remembers a request that the selected counter has counted. Returns its entry, or `NO_ENTRY` if there was no room. */
  addPending(arrival: number): number {
    const first = this.#slots.pendingAt(this.#place);
    const entry = this.#pending.add(first, arrival, this.#high, this.#low, this.id);
    if (entry !== NO_ENTRY) this.#slots.setPending(this.#place, entry);
    return entry;
  }

  /** The theoretical arrival time of a pending request of the selected counter. */
  arrivalOf(entry: number): number {
    return this.#pending.arrivalOf(entry);
  }

  /** Removes a pending request of the selected counter, and moves those behind it ahead. */
  removePending(entry: number, unusedMs: number): void {
    const first = this.#slots.pendingAt(this.#place);
    this.#slots.setPending(this.#place, this.#pending.remove(first, entry, unusedMs));
  }

  /** Frees an entry that the list of its counter no longer contains. */
  freePending(entry: number): void {
    this.#pending.free(entry);
  }

  /** Removes the pending requests of a worker that has ended. They remain counted. */
  forgetWorker(index: number): void {
    new PendingRequests(this.buffer, index).forget((entry, counter) => this.#removeEntry(entry, counter));
  }

  /** Sets the number of slots up to which the table grows. A table with more keeps them: shared memory never shrinks. */
  set capacity(slots: number) {
    this.#maxLevel = Math.max(Math.log2(slots / SHARDS / MIN_SLOTS), 0);
  }

  #lockHash(high: number, low: number): void {
    this.#high = high;
    this.#low = low;
    this.#lockShard(low & (SHARDS - 1));
  }

  #lockShard(shard: number): void {
    (this.#locks[shard] as SharedLock).acquire();
    this.#shard = shard;
    // Another thread may have doubled the shard.
    if (shard !== OVERFLOW_SHARD) this.#slots.include(this.#sizeOf(shard));
  }

  #levelOf(shard: number): number {
    return this.#cells[shard * CELLS + LEVEL] as number;
  }

  #sizeOf(shard: number): number {
    return MIN_SLOTS << this.#levelOf(shard);
  }

  #nextId(): number {
    const cell = this.#shard * CELLS + LAST_ID;
    const id = ((this.#cells[cell] as number) % MAX_ID) + 1;
    this.#cells[cell] = id;
    return id;
  }

  /** Returns the place for a new counter of the locked shard, which grows if all slots are in use. */
  #placeFor(now: number): number {
    const shard = this.#shard;
    for (;;) {
      const place = this.#slots.lightest(shard, this.#sizeOf(shard), this.#high, now);
      if (this.#slots.arrivalAt(place) <= now || this.#levelOf(shard) >= this.#maxLevel) return place;
      if (!this.#double(shard, now)) return place;
    }
  }

  /** Returns false if the system has no more memory. */
  #double(shard: number, now: number): boolean {
    const size = this.#sizeOf(shard);
    try {
      this.#slots.include(size * 2);
    } catch {
      return false;
    }
    this.#slots.copyToNewHalf(shard, size, now);
    (this.#cells[shard * CELLS + LEVEL] as number) += 1;
    this.#slots.clearCopied(shard, size, now);
    return true;
  }

  #removeEntry(entry: number, { high, low, id }: PendingCounter): void {
    const isOverflow = id === OVERFLOW_ID;
    if (isOverflow) this.lockOverflow();
    else this.#lockHash(high, low);
    try {
      if ((isOverflow || this.find()) && this.id === id) this.removePending(entry, 0);
    } finally {
      this.unlock();
    }
  }
}

/** The key of the hash is random, so it identifies a memory too. */
function hashKeyOf(buffer: SharedArrayBuffer): bigint {
  return new BigInt64Array(buffer, HASH_KEY_AT, 1)[0] as bigint;
}
