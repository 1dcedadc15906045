import type { WorkerPlace } from '../shared-memory/worker-context.ts';
import { PENDING_AT, PENDING_ENTRIES, SLOT_BYTES } from './limit-buffer.ts';

/** The words of an entry after its arrival time. */
const NEXT = 2;
const HIGH = 3;
const LOW = 4;
/** The id of the counter plus 1; 0 if the entry is free. */
const COUNTER = 5;
const WORDS = SLOT_BYTES / 4;
const DOUBLES = SLOT_BYTES / 8;

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
 * Each worker has an equal part of the entries, which it alone uses and frees. The lists change under the lock of their counter. A
 * thread can be terminated at any loop or call, so a list changes by one assignment.
 */
export class PendingRequests {
  readonly #arrivals: Float64Array;
  readonly #words: Int32Array;
  readonly #first: number;
  readonly #end: number;
  /** The first entry that was never used, and the used ones that are free. */
  #unused: number;
  readonly #freed: number[] = [];

  constructor(buffer: SharedArrayBuffer, { index, count }: WorkerPlace) {
    this.#arrivals = new Float64Array(buffer, PENDING_AT, (PENDING_ENTRIES + 1) * DOUBLES);
    this.#words = new Int32Array(buffer, PENDING_AT, (PENDING_ENTRIES + 1) * WORDS);
    const entries = Math.floor(PENDING_ENTRIES / count);
    // Entry 0 is unused, because 0 ends a list.
    this.#first = 1 + index * entries;
    this.#end = this.#first + entries;
    this.#unused = this.#first;
  }

  /** Remembers a request that a counter has counted. Returns its entry, or `NO_ENTRY` if there was no room for one. */
  add(counter: LockedCounter, arrival: number): number {
    const entry = this.#freed.pop() ?? (this.#unused < this.#end ? this.#unused++ : NO_ENTRY);
    if (entry === NO_ENTRY) return NO_ENTRY;
    const words = this.#words;
    const word = entry * WORDS;
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
    for (let step = 0; step < PENDING_ENTRIES && later !== NO_ENTRY && later !== entry; step += 1) {
      (this.#arrivals[later * DOUBLES] as number) -= unusedMs;
      const following = words[later * WORDS + NEXT] as number;
      if (following === entry) words[later * WORDS + NEXT] = next;
      later = following;
    }
  }

  /** Frees an entry, which is in no list. */
  free(entry: number): void {
    this.#words[entry * WORDS + COUNTER] = 0;
    this.#freed.push(entry);
  }

  /** Calls `remove` with each entry that is in use and its counter, after its worker has ended. Then frees them for the next one. */
  forget(remove: (entry: number, counter: PendingCounter) => void): void {
    const words = this.#words;
    for (let entry = this.#first; entry < this.#end; entry += 1) {
      const word = entry * WORDS;
      const counter = words[word + COUNTER] as number;
      if (counter === 0) continue;
      remove(entry, { high: words[word + HIGH] as number, low: words[word + LOW] as number, id: counter - 1 });
      words[word + COUNTER] = 0;
    }
  }
}
