import type { RateLimit } from '../../plan/rate-limits/rate-limit.ts';
import { CounterTable } from './counter-table.ts';
import type { CountedRequest, Counters } from './counters.ts';
import { PendingRequests } from './pending-requests.ts';

/** The slots of all limits together, a power of two. They take 40 MB. */
const MAX_SLOTS = 2 ** 21;
/** Rounding errors of the sums are smaller, in milliseconds. */
const MAX_TOLERANCE_MS = 0.001;

/** A request that this process has counted. */
interface LocalCount extends CountedRequest {
  /** Earlier if a request ahead of this one was released. */
  arrival: number;
  /** The id of its counter. */
  readonly id: number;
  /** True if the counter is the common one of values without room. */
  readonly isOverflow: boolean;
}

/** The counters of one limit. */
interface LimitCounters {
  readonly table: CounterTable;
  readonly pending: PendingRequests<LocalCount>;
}

/** Counts the requests of this process. */
export class LocalCounters implements Counters {
  readonly #now: () => number;
  readonly #limits = new Map<string, LimitCounters>();
  /** The slots of each table. */
  #capacity = MAX_SLOTS;

  /** @param now returns milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The tables of the limits, by `RateLimit.key`. */
  get tables(): ReadonlyMap<string, CounterTable> {
    return new Map(Array.from(this.#limits, ([key, { table }]) => [key, table]));
  }

  /** Keeps the counters of these limits only, each with an equal share of the memory. */
  activate(limits: readonly RateLimit[]): void {
    const keys = new Set(limits.map(({ key }) => key));
    for (const key of this.#limits.keys()) if (!keys.has(key)) this.#limits.delete(key);
    this.#capacity = 2 ** Math.floor(Math.log2(MAX_SLOTS / Math.max(keys.size, 1)));
    for (const { table } of this.#limits.values()) table.resize(this.#capacity);
    for (const limit of limits) this.#countersOf(limit);
  }

  count(limit: RateLimit, value: string): LocalCount {
    const now = this.#now();
    const { intervalMs, burst } = limit;
    const fullMs = burst * intervalMs;
    const toleranceMs = Math.min(MAX_TOLERANCE_MS, intervalMs / 1_000);
    const { table, pending } = this.#countersOf(limit);
    // A counter further ahead than this refuses the next request.
    table.select(value, now, now + fullMs - intervalMs + toleranceMs);
    // A reload can shorten the limit. Then the counter is full, and not further ahead.
    const startMs = Math.min(Math.max(table.arrival - now, 0), fullMs);
    const aheadMs = startMs + intervalMs;
    const waitMs = aheadMs - fullMs;
    const isAllowed = waitMs <= toleranceMs;
    const resetMs = isAllowed ? aheadMs : startMs;
    table.arrival = now + resetMs;
    const counted: LocalCount = {
      waitMs: isAllowed ? 0 : waitMs,
      remaining: isAllowed ? Math.floor((toleranceMs - waitMs) / intervalMs) : 0,
      resetMs,
      arrival: now + aheadMs,
      id: table.id,
      isOverflow: table.isOverflow,
      countedBy: this,
      isFallback: false,
    };
    if (isAllowed && limit.failures !== undefined) pending.add(pendingKey(value, counted), counted);
    return counted;
  }

  /**
   * Imagine the intervals of the counted requests in a queue that runs down with the clock. Takes the rest of the interval out of
   * the queue, and moves the pending ones behind it ahead: if a release took more than that rest, it would take a part of another
   * request, and slow successes would let more failures pass.
   */
  release(limit: RateLimit, value: string, counted: LocalCount): void {
    const now = this.#now();
    const { table, pending } = this.#countersOf(limit);
    const later = pending.remove(pendingKey(value, counted), counted);
    if (counted.isOverflow) table.selectOverflow();
    else if (!table.find(value)) return;
    if (table.id !== counted.id) return;
    const unusedMs = Math.min(Math.max(counted.arrival - now, 0), limit.intervalMs);
    table.arrival -= unusedMs;
    for (const request of later) request.arrival -= unusedMs;
  }

  /** Moves a counter at least as far ahead as that of a store: a guesser who is over the limit there stays over it if the store fails. */
  raise(limit: RateLimit, value: string, aheadMs: number): void {
    const now = this.#now();
    const { table } = this.#countersOf(limit);
    table.select(value, now, now + (limit.burst - 1) * limit.intervalMs);
    if (!table.isOverflow) table.arrival = Math.max(table.arrival, now + aheadMs);
  }

  keep(limit: RateLimit, value: string, counted: LocalCount): void {
    this.#countersOf(limit).pending.remove(pendingKey(value, counted), counted);
  }

  #countersOf({ key }: RateLimit): LimitCounters {
    let counters = this.#limits.get(key);
    if (counters === undefined) {
      // Also for a request that began with an earlier plan. The next activation then removes them.
      counters = { table: new CounterTable(this.#capacity, this.#now), pending: new PendingRequests() };
      this.#limits.set(key, counters);
    }
    return counters;
  }
}

/** Values without room share a counter, and so a queue. */
function pendingKey(value: string, { isOverflow }: LocalCount): string | undefined {
  return isOverflow ? undefined : value;
}
