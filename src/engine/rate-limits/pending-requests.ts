import {
  BLOCK_ENTRIES,
  BLOCKS_AT,
  PENDING_AT,
  PENDING_BLOCKS,
  SLOT_BYTES,
  WORKER_BYTES,
  WORKERS_AT,
} from './limit-buffer.ts';

/** The words of an entry after its arrival time. */
const NEXT = 2;
const HIGH = 3;
const LOW = 4;
/** The id of the counter plus 1; 0 if the entry is free. */
const COUNTER = 5;
const WORDS = SLOT_BYTES / 4;
const DOUBLES = SLOT_BYTES / 8;
const ENTRIES = PENDING_BLOCKS * BLOCK_ENTRIES;

/** The offset in a worker's row of its first free entry. */
const FREE_AT = 80;

/** Ends a list. */
export const NO_ENTRY = 0;

/** The counter of a pending request: the hash of its value, and its id. */
export interface PendingCounter {
  readonly high: number;
  readonly low: number;
  readonly id: number;
}

/** A counter whose lock the caller holds. */
interface LockedCounter extends PendingCounter {
  firstPending: number;
}

/**
 * Requests of a limit of failures without a response yet. Each counter has a list of them, the latest first: a counter knows the first
 * entry, and each entry the next one.
 *
 * An entry belongs to one worker, which alone reserves and frees it. The lists change under the lock of their counter. A thread can be
 * terminated at any loop or call, so a list changes by one assignment.
 */
export class PendingRequests {
  readonly #arrivals: Float64Array;
  readonly #words: Int32Array;
  /** The worker of each block of entries plus 1; 0 without one. */
  readonly #blocks: Int32Array;
  /** The first of the free entries of each worker, which are a list too. */
  readonly #free: Int32Array;
  readonly #worker: number;

  constructor(buffer: SharedArrayBuffer, workerIndex: number) {
    this.#arrivals = new Float64Array(buffer, PENDING_AT, (ENTRIES + 1) * DOUBLES);
    this.#words = new Int32Array(buffer, PENDING_AT, (ENTRIES + 1) * WORDS);
    this.#blocks = new Int32Array(buffer, BLOCKS_AT, PENDING_BLOCKS);
    this.#free = new Int32Array(buffer, WORKERS_AT + workerIndex * WORKER_BYTES + FREE_AT, 1);
    this.#worker = workerIndex;
  }

  /** Prepares an entry for this worker, if there is room. Call it without a lock. */
  reserve(): void {
    if (this.#free[0] !== NO_ENTRY) return;
    const blocks = this.#blocks;
    for (let block = 0; block < PENDING_BLOCKS; block += 1) {
      if (Atomics.compareExchange(blocks, block, 0, this.#worker + 1) !== 0) continue;
      const first = firstOf(block);
      for (let entry = first + BLOCK_ENTRIES - 1; entry >= first; entry -= 1) this.free(entry);
      return;
    }
  }

  /** Remembers a request that a counter has counted, in the reserved entry. Returns `NO_ENTRY` if there was no room for one. */
  add(counter: LockedCounter, arrival: number): number {
    const entry = this.#free[0] as number;
    if (entry === NO_ENTRY) return NO_ENTRY;
    const words = this.#words;
    const word = entry * WORDS;
    this.#free[0] = words[word + NEXT] as number;
    this.#arrivals[entry * DOUBLES] = arrival;
    words[word + NEXT] = counter.firstPending;
    words[word + HIGH] = counter.high;
    words[word + LOW] = counter.low;
    words[word + COUNTER] = counter.id + 1;
    counter.firstPending = entry;
    return entry;
  }

  /** The theoretical arrival time of a request, which is earlier if one ahead of it was released. */
  arrivalOf(entry: number): number {
    return this.#arrivals[entry * DOUBLES] as number;
  }

  /** Removes a request of a counter, and moves those that were counted after it ahead. */
  remove(counter: LockedCounter, entry: number, unusedMs: number): void {
    const words = this.#words;
    const next = words[entry * WORDS + NEXT] as number;
    let later = counter.firstPending;
    if (later === entry) counter.firstPending = next;
    // The number of steps is bounded, because a thread that was stopped for longer than a lock waits can leave a cycle.
    for (let step = 0; step < ENTRIES && later !== NO_ENTRY && later !== entry; step += 1) {
      (this.#arrivals[later * DOUBLES] as number) -= unusedMs;
      const following = words[later * WORDS + NEXT] as number;
      if (following === entry) words[later * WORDS + NEXT] = next;
      later = following;
    }
  }

  /** Returns an entry, which is in no list, to its worker. */
  free(entry: number): void {
    const word = entry * WORDS;
    this.#words[word + COUNTER] = 0;
    this.#words[word + NEXT] = this.#free[0] as number;
    this.#free[0] = entry;
  }

  /** Calls `remove` with each entry of this worker that is in use and its counter. Then gives all entries back. */
  forget(remove: (entry: number, counter: PendingCounter) => void): void {
    const words = this.#words;
    for (let block = 0; block < PENDING_BLOCKS; block += 1) {
      if (Atomics.load(this.#blocks, block) !== this.#worker + 1) continue;
      const first = firstOf(block);
      for (let entry = first; entry < first + BLOCK_ENTRIES; entry += 1) {
        const word = entry * WORDS;
        const counter = words[word + COUNTER] as number;
        if (counter === 0) continue;
        remove(entry, { high: words[word + HIGH] as number, low: words[word + LOW] as number, id: counter - 1 });
        words[word + COUNTER] = 0;
      }
    }
    this.#free[0] = NO_ENTRY;
    for (let block = 0; block < PENDING_BLOCKS; block += 1)
      Atomics.compareExchange(this.#blocks, block, this.#worker + 1, 0);
  }
}

function firstOf(block: number): number {
  // Entry 0 is unused, because 0 ends a list.
  return 1 + block * BLOCK_ENTRIES;
}
