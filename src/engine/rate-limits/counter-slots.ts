import { limitBytes, MIN_SLOTS, SHARDS, SLOT_BYTES, SLOTS_AT } from './limit-buffer.ts';

/** The words of a slot after its arrival time. */
const HIGH = 2;
const LOW = 3;
const ID = 4;
const PENDING = 5;
const WORDS = SLOT_BYTES / 4;
const DOUBLES = SLOT_BYTES / 8;

/** Consecutive slots of each level, one of which holds the counter of a value. The first level has no more. */
const WINDOW = MIN_SLOTS;

/** The place of the counter that values without room share. */
export const OVERFLOW_PLACE = 0;

/**
 * The slots of a table of counters. A slot has a theoretical arrival time, the halves of the 64-bit hash of its value, an id, and its
 * last pending request. It is free if its time has passed. A place is the index of a slot.
 *
 * A shard grows by levels, each with as many slots as all levels before, and counters never move. The slots of all shards at one level
 * are close together, so a small table is in few pages of memory.
 *
 * The caller holds the lock of the shard. A thread can be terminated at any loop or call, so each change that others rely on is one
 * assignment, and comes last.
 */
export class CounterSlots {
  readonly buffer: SharedArrayBuffer;
  #times: Float64Array = new Float64Array();
  #words: Int32Array = new Int32Array();
  /** The last level that these views contain. */
  #level = -1;
  /** The place of the selected counter, which the other members read and change. */
  protected place = OVERFLOW_PLACE;

  /** @param buffer that of `limitBuffer` */
  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.include(0);
  }

  get arrival(): number {
    return this.arrivalAt(this.place);
  }

  set arrival(arrival: number) {
    this.#times[this.place * DOUBLES] = arrival;
  }

  /** Differs from the id of a removed counter of the same value. */
  get id(): number {
    return this.#words[this.place * WORDS + ID] as number;
  }

  /** The last pending request. */
  get firstPending(): number {
    return this.#words[this.place * WORDS + PENDING] as number;
  }

  set firstPending(entry: number) {
    this.#words[this.place * WORDS + PENDING] = entry;
  }

  /** True if the counter is the common one. */
  get isOverflow(): boolean {
    return this.place === OVERFLOW_PLACE;
  }

  protected arrivalAt(place: number): number {
    return this.#times[place * DOUBLES] as number;
  }

  /** Selects the counter of a value. Returns false if there is none. @param level the last level of the shard */
  protected findIn(shard: number, level: number, high: number, low: number): boolean {
    const words = this.#words;
    // Most counters are in the last levels.
    for (let each = level; each >= 0; each -= 1) {
      for (let offset = 0; offset < WINDOW; offset += 1) {
        const place = placeOf(shard, each, high + offset);
        if (words[place * WORDS + HIGH] !== high || words[place * WORDS + LOW] !== low) continue;
        this.place = place;
        return true;
      }
    }
    return false;
  }

  /** Returns the place for a new value with the earliest arrival time, which is free if that time has passed. */
  protected lightest(shard: number, level: number, high: number, now: number): number {
    let lightest = OVERFLOW_PLACE;
    let earliest = Number.POSITIVE_INFINITY;
    for (let each = level; each >= 0; each -= 1) {
      for (let offset = 0; offset < WINDOW; offset += 1) {
        const place = placeOf(shard, each, high + offset);
        const arrival = this.arrivalAt(place);
        if (arrival <= now) return place;
        if (arrival >= earliest) continue;
        lightest = place;
        earliest = arrival;
      }
    }
    return lightest;
  }

  /** Begins a new counter in the place of another one, and selects it. */
  protected insert(place: number, high: number, low: number, arrival: number, id: number): void {
    this.place = place;
    this.arrival = arrival;
    this.firstPending = 0;
    const word = place * WORDS;
    this.#words[word + ID] = id;
    this.#words[word + HIGH] = high;
    this.#words[word + LOW] = low;
  }

  /** Returns the number of counters of a shard whose time has not passed. */
  protected count(shard: number, level: number, now: number): number {
    let count = 0;
    for (let each = 0; each <= level; each += 1)
      for (let slot = slotsOf(each) - 1; slot >= 0; slot -= 1)
        if (this.arrivalAt(placeOf(shard, each, slot)) > now) count += 1;
    return count;
  }

  /**
   * Includes the slots up to a level. Views of a fixed length are faster than views that grow with the memory.
   *
   * @throws RangeError if the system has no more memory
   */
  protected include(level: number): void {
    if (level <= this.#level) return;
    const shardSlots = MIN_SLOTS << level;
    growTo(this.buffer, limitBytes(shardSlots));
    this.#times = new Float64Array(this.buffer, SLOTS_AT, (1 + shardSlots * SHARDS) * DOUBLES);
    this.#words = new Int32Array(this.buffer, SLOTS_AT, (1 + shardSlots * SHARDS) * WORDS);
    this.#level = level;
  }
}

/** Returns the number of slots of a shard at a level. */
function slotsOf(level: number): number {
  return level === 0 ? MIN_SLOTS : MIN_SLOTS << (level - 1);
}

/** @param index of a slot, modulo their number at the level */
export function placeOf(shard: number, level: number, index: number): number {
  const slots = slotsOf(level);
  const levelAt = level === 0 ? 1 : 1 + slots * SHARDS;
  return levelAt + slots * shard + (index & (slots - 1));
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
