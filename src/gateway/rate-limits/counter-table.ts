import { randomInt } from 'node:crypto';

/** Several small maps: one large map would block the event loop each time that it grows. */
const SHARDS = 64;
/** Passed counters that each new one removes, at most. */
const MAX_CLEANED = 2;
/** Counters that are compared to remove one if there is no room. */
const MAX_COMPARED = 16;
/** The counter of all values that have no room. No value has this form. */
const OVERFLOW = '\0overflow';

/**
 * The theoretical arrival times of one rate limit, by value, in a bounded memory. If there is no room for a new value, the table
 * removes one whose time has passed, or else the one of its neighbours that is closest to its start. It never removes a value
 * that is over its limit: clients could otherwise invent values to be forgotten. If all neighbours are over their limits, new
 * values share one counter.
 */
export class CounterTable {
  capacity = Number.POSITIVE_INFINITY;
  /** Counters that were removed before their time had passed. */
  evicted = 0;
  /** Requests that were counted together, because there was no room. */
  overflowed = 0;
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<string, number>());
  readonly #overflow = new Map<string, number>();
  /** Clients cannot choose values for one shard without knowing it. */
  readonly #seed = randomInt(2 ** 32);

  get size(): number {
    return this.#shards.reduce((sum, { size }) => sum + size, 0);
  }

  get(slot: string): number | undefined {
    return this.#shardOf(slot).get(slot);
  }

  set(slot: string, arrival: number): void {
    this.#shardOf(slot).set(slot, arrival);
  }

  delete(slot: string): void {
    this.#shardOf(slot).delete(slot);
  }

  /**
   * Returns the slot that counts a value: the value itself, or the common one if there is no room for it.
   *
   * @param blockedAfter a counter with a later arrival time is over the limit
   */
  slotFor(value: string, now: number, blockedAfter: number): string {
    const shard = this.#shardOf(value);
    if (shard.has(value)) return value;
    removePassed(shard, now);
    if (shard.size < this.capacity / SHARDS || this.#removeLightest(shard, now, blockedAfter)) return value;
    this.overflowed += 1;
    return OVERFLOW;
  }

  #removeLightest(shard: Map<string, number>, now: number, blockedAfter: number): boolean {
    let lightest: string | undefined;
    let lightestArrival = blockedAfter;
    let compared = 0;
    for (const [value, arrival] of shard) {
      compared += 1;
      if (compared > MAX_COMPARED) break;
      if (arrival < lightestArrival) {
        lightest = value;
        lightestArrival = arrival;
      }
      // The next removal compares others.
      shard.delete(value);
      shard.set(value, arrival);
    }
    if (lightest === undefined) return false;
    shard.delete(lightest);
    if (lightestArrival > now) this.evicted += 1;
    return true;
  }

  #shardOf(slot: string): Map<string, number> {
    if (slot === OVERFLOW) return this.#overflow;
    let hash = this.#seed;
    for (let index = 0; index < slot.length; index += 1) hash = Math.imul(hash ^ slot.charCodeAt(index), 0x01000193);
    return this.#shards[(hash ^ (hash >>> 15)) & (SHARDS - 1)] as Map<string, number>;
  }
}

/** Removes counters at the front whose time has passed. One that has not passed moves to the end. */
function removePassed(shard: Map<string, number>, now: number): void {
  let examined = 0;
  for (const [value, arrival] of shard) {
    examined += 1;
    if (examined > MAX_CLEANED) return;
    shard.delete(value);
    if (arrival > now) shard.set(value, arrival);
  }
}
