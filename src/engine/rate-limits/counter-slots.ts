import { limitBytes, MIN_SLOTS, SHARDS, SLOT_BYTES, SLOTS_AT } from './limit-buffer.ts';

/** Consecutive slots of a shard, one of which holds the counter of a value. */
const WINDOW = 32;

/** The words of a slot after its arrival time. */
const HIGH = 2;
const LOW = 3;
const ID = 4;
const PENDING = 5;
const WORDS = SLOT_BYTES / 4;
const DOUBLES = SLOT_BYTES / 8;

/** The place of the counter that values without room share. */
export const OVERFLOW_PLACE = 0;

/**
 * The slots of a table of counters. A slot has a theoretical arrival time, the halves of the 64-bit hash of its value, an id, and its
 * last pending request. It is free if its time has passed.
 *
 * A shard doubles in place: the new half of each shard lies behind those of all shards. The parts of a small table are therefore
 * close together, and a slot is in one page of memory. A place is the index of a slot among those of all shards.
 *
 * The caller holds the lock of the shard. A thread can be terminated at any loop or call, so each change that others rely on is one
 * assignment, and comes last.
 */
export class CounterSlots {
  readonly #buffer: SharedArrayBuffer;
  /** The slots of each shard that the views contain. */
  #size = 0;
  #times: Float64Array = new Float64Array();
  #words: Int32Array = new Int32Array();

  constructor(buffer: SharedArrayBuffer) {
    this.#buffer = buffer;
    this.include(MIN_SLOTS);
  }

  /**
   * Includes the slots of shards of this size. Views of a fixed length are faster than views that grow with the memory.
   *
   * @throws RangeError if the system has no more memory
   */
  include(size: number): void {
    if (size <= this.#size) return;
    growTo(this.#buffer, limitBytes(size));
    this.#times = new Float64Array(this.#buffer, SLOTS_AT, (1 + size * SHARDS) * DOUBLES);
    this.#words = new Int32Array(this.#buffer, SLOTS_AT, (1 + size * SHARDS) * WORDS);
    this.#size = size;
  }

  arrivalAt(place: number): number {
    return this.#times[place * DOUBLES] as number;
  }

  setArrival(place: number, arrival: number): void {
    this.#times[place * DOUBLES] = arrival;
  }

  idAt(place: number): number {
    return this.#words[place * WORDS + ID] as number;
  }

  pendingAt(place: number): number {
    return this.#words[place * WORDS + PENDING] as number;
  }

  setPending(place: number, pending: number): void {
    this.#words[place * WORDS + PENDING] = pending;
  }

  /** Returns the place of a value, or -1. */
  find(shard: number, size: number, high: number, low: number): number {
    const words = this.#words;
    const length = Math.min(WINDOW, size);
    for (let offset = 0; offset < length; offset += 1) {
      const place = placeOf(shard, (high + offset) & (size - 1));
      if (words[place * WORDS + HIGH] === high && words[place * WORDS + LOW] === low) return place;
    }
    return -1;
  }

  /** Returns the place for a new value with the earliest arrival time, which is free if that time has passed. */
  lightest(shard: number, size: number, high: number, now: number): number {
    const length = Math.min(WINDOW, size);
    let lightest = -1;
    let earliest = Number.POSITIVE_INFINITY;
    for (let offset = 0; offset < length; offset += 1) {
      const place = placeOf(shard, (high + offset) & (size - 1));
      const arrival = this.arrivalAt(place);
      if (arrival <= now) return place;
      if (arrival < earliest) {
        lightest = place;
        earliest = arrival;
      }
    }
    return lightest;
  }

  /** Begins a new counter in the place of another one. */
  insert(place: number, high: number, low: number, arrival: number, id: number): void {
    this.setArrival(place, arrival);
    const word = place * WORDS;
    this.#words[word + PENDING] = 0;
    this.#words[word + ID] = id;
    this.#words[word + HIGH] = high;
    this.#words[word + LOW] = low;
  }

  /**
   * Copies the counters of a shard that belong into its new half once it has twice the size, and clears the rest of that half. Each
   * counter keeps its distance from the first slot of its window, so no two of them meet.
   */
  copyToNewHalf(shard: number, size: number, now: number): void {
    for (let slot = 0; slot < size; slot += 1) {
      const place = placeOf(shard, slot);
      const target = placeOf(shard, slot + size);
      if (this.#moves(place, slot, size, now)) this.#copy(place, target);
      else this.insert(target, 0, 0, 0, 0);
    }
  }

  /** Clears the originals of the counters in the new half. */
  clearCopied(shard: number, size: number, now: number): void {
    for (let slot = 0; slot < size; slot += 1) {
      const place = placeOf(shard, slot);
      if (this.#moves(place, slot, size, now)) this.insert(place, 0, 0, 0, 0);
    }
  }

  /** Returns the number of counters of a shard whose time has not passed. */
  count(shard: number, size: number, now: number): number {
    let count = 0;
    for (let slot = 0; slot < size; slot += 1) if (this.arrivalAt(placeOf(shard, slot)) > now) count += 1;
    return count;
  }

  /** True if a counter belongs into the new half of a shard with twice the size. */
  #moves(place: number, slot: number, size: number, now: number): boolean {
    if (this.arrivalAt(place) <= now) return false;
    const high = this.#words[place * WORDS + HIGH] as number;
    const distance = (slot - high) & (size - 1);
    return ((high + distance) & (2 * size - 1)) !== slot;
  }

  #copy(place: number, target: number): void {
    const from = place * WORDS;
    const words = this.#words;
    this.setArrival(target, this.arrivalAt(place));
    for (let word = HIGH; word <= PENDING; word += 1) words[target * WORDS + word] = words[from + word] as number;
  }
}

function placeOf(shard: number, slot: number): number {
  if (slot < MIN_SLOTS) return 1 + shard * MIN_SLOTS + slot;
  // The number of slots before the last doubling.
  const half = 0x8000_0000 >>> Math.clz32(slot);
  return 1 + slot + half * (SHARDS - 1 + shard);
}

function growTo(buffer: SharedArrayBuffer, bytes: number): void {
  if (buffer.byteLength >= bytes) return;
  try {
    buffer.grow(bytes);
  } catch (error) {
    // Another thread may have grown it further, and memory never shrinks.
    if (buffer.byteLength < bytes) throw error;
  }
}
