/** Consecutive slots, one of which holds the counter of a value. */
const WINDOW = 32;
const MIN_SLOTS = 16;

/** A part of a table of counters, in arrays: an object for each value would take five times the memory. */
export class CounterShard {
  /** The theoretical arrival times. A slot whose time has passed is free. */
  readonly arrivals: Float64Array;
  /** Numbers that differ between a counter and one of the same value that was removed before. */
  readonly ids: Uint32Array;
  /** The halves of the 64-bit hashes of the values. */
  readonly #highs: Uint32Array;
  readonly #lows: Uint32Array;
  readonly #mask: number;

  /** @param size a power of two */
  constructor(size = MIN_SLOTS) {
    this.arrivals = new Float64Array(size);
    this.ids = new Uint32Array(size);
    this.#highs = new Uint32Array(size);
    this.#lows = new Uint32Array(size);
    this.#mask = size - 1;
  }

  get size(): number {
    return this.arrivals.length;
  }

  /** Returns the slot of a value, or -1. */
  find(high: number, low: number): number {
    const highs = this.#highs;
    const mask = this.#mask;
    const length = Math.min(WINDOW, this.size);
    for (let offset = 0; offset < length; offset += 1) {
      const slot = (high + offset) & mask;
      if (highs[slot] === high && this.#lows[slot] === low) return slot;
    }
    return -1;
  }

  /** Returns the slot for a new value with the earliest arrival time, which is free if that time has passed. */
  lightest(high: number, now: number): number {
    const { arrivals } = this;
    const mask = this.#mask;
    const length = Math.min(WINDOW, this.size);
    let lightest = high & mask;
    for (let offset = 0; offset < length; offset += 1) {
      const slot = (high + offset) & mask;
      const arrival = arrivals[slot] as number;
      if (arrival <= now) return slot;
      if (arrival < (arrivals[lightest] as number)) lightest = slot;
    }
    return lightest;
  }

  insert(slot: number, high: number, low: number, arrival: number, id: number): void {
    this.#highs[slot] = high;
    this.#lows[slot] = low;
    this.arrivals[slot] = arrival;
    this.ids[slot] = id;
  }

  /**
   * Returns a copy of another size without the free slots; `undefined` if a counter has no place in it. There is always a place
   * in a larger copy: counters keep their distance from the first slot of their window, so no two of them meet.
   */
  resized(size: number, now: number): CounterShard | undefined {
    const copy = new CounterShard(size);
    for (let slot = 0; slot < this.size; slot += 1) {
      const arrival = this.arrivals[slot] as number;
      if (arrival <= now) continue;
      const high = this.#highs[slot] as number;
      const distance = (slot - high) & this.#mask;
      const place = size > this.size ? (high + distance) & copy.#mask : copy.lightest(high, now);
      if ((copy.arrivals[place] as number) > now) return undefined;
      copy.insert(place, high, this.#lows[slot] as number, arrival, this.ids[slot] as number);
    }
    return copy;
  }

  /** Returns the number of counters whose time has not passed. */
  count(now: number): number {
    let count = 0;
    for (const arrival of this.arrivals) if (arrival > now) count += 1;
    return count;
  }
}
