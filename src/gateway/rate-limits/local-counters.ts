import type { RateLimit } from '../../plan/rate-limits/rate-limit.ts';
import { CounterTable } from './counter-table.ts';
import type { CountedRequest, Counters } from './counters.ts';

/** The counters of all limits together, which then take about 150 MB. */
const MAX_COUNTERS = 1_000_000;
/** Rounding errors of the sums, in milliseconds. */
const TOLERANCE_MS = 0.001;

/** Counts the requests of this process. Remembers at most `MAX_COUNTERS` values. */
export class LocalCounters implements Counters {
  readonly #now: () => number;
  readonly #tables = new Map<string, CounterTable>();

  /** @param now returns milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The tables of the limits, by `RateLimit.key`. */
  get tables(): ReadonlyMap<string, CounterTable> {
    return this.#tables;
  }

  /** Keeps the counters of these limits only, each with an equal share of the memory. */
  activate(limits: readonly RateLimit[]): void {
    const keys = new Set(limits.map(({ key }) => key));
    for (const key of this.#tables.keys()) if (!keys.has(key)) this.#tables.delete(key);
    for (const key of keys) if (!this.#tables.has(key)) this.#tables.set(key, new CounterTable());
    for (const table of this.#tables.values()) table.capacity = Math.floor(MAX_COUNTERS / this.#tables.size);
  }

  count(limit: RateLimit, value: string): CountedRequest {
    const now = this.#now();
    const { intervalMs, burst } = limit;
    const table = this.#tableOf(limit);
    // A counter further ahead than this refuses the next request.
    const blockedAfter = now + (burst - 1) * intervalMs + TOLERANCE_MS;
    const slot = table.slotFor(value, now, blockedAfter);
    const arrival = Math.max(table.get(slot) ?? now, now) + intervalMs;
    const aheadMs = arrival - now;
    const waitMs = aheadMs - burst * intervalMs;
    const common = { arrival, countedBy: this, isFallback: false };
    if (waitMs > TOLERANCE_MS) return { ...common, waitMs, remaining: 0, resetMs: aheadMs - intervalMs };
    table.set(slot, arrival);
    const remaining = Math.floor((TOLERANCE_MS - waitMs) / intervalMs);
    return { ...common, waitMs: 0, remaining, resetMs: aheadMs };
  }

  release(limit: RateLimit, value: string, { arrival }: CountedRequest): void {
    const now = this.#now();
    const table = this.#tableOf(limit);
    const current = table.get(value);
    if (current === undefined) return;
    const released = current - unusedTime(arrival, limit.intervalMs, now);
    if (released > now) table.set(value, released);
    else table.delete(value);
  }

  #tableOf({ key }: RateLimit): CounterTable {
    const table = this.#tables.get(key);
    if (table !== undefined) return table;
    // The request began with an earlier plan. The next activation removes this table.
    const temporary = new CounterTable();
    this.#tables.set(key, temporary);
    return temporary;
  }
}

/**
 * Returns the part of a counted interval that has not passed. The counter has already recovered from the rest: taking all of it
 * back would also take back a part of later requests.
 */
function unusedTime(arrival: number, intervalMs: number, now: number): number {
  return Math.min(Math.max(arrival - now, 0), intervalMs);
}
