import { createSingleWorker, type WorkerContext } from '../shared-memory/worker-context.ts';
import { CounterTable } from './counter-table.ts';
import { limitBuffer, MAX_SLOTS } from './limit-buffer.ts';
import { NO_ENTRY } from './pending-requests.ts';
import type { RateLimit } from './rate-limit.ts';

/**
 * The result of counting one request by the generic cell rate algorithm (GCRA). A counter is one number, the theoretical arrival
 * time. Each request moves it one interval ahead. A request is over the limit if the counter would then be more than `burst`
 * intervals ahead of the clock.
 */
export interface CountedRequest {
  /** Milliseconds until a request is allowed; 0 if this one is. */
  readonly waitMs: number;
  /** Requests that are still allowed at once. */
  readonly remaining: number;
  /** Milliseconds until the counter is back at its start. */
  readonly resetMs: number;
  /** The theoretical arrival time after this request, by the clock of the counters. */
  readonly arrival: number;
  /** The counters that must take the request back: a store that fails uses those of this process. */
  readonly countedBy: Counters;
  /** True if this process counted the request because the store failed. */
  readonly isFallback: boolean;
}

/** The store failed, and its `onFailure` is `refuse`. */
export interface StoreFailure {
  /** For the log. */
  readonly storeFailure: string;
}

/** Counters of rate limits: of this process, or of a store that several gateways share. */
export interface Counters {
  /** Counts a request that is within the limit. The promise never rejects. */
  count(limit: RateLimit, value: string): CountedRequest | StoreFailure | Promise<CountedRequest | StoreFailure>;
  /** Takes back a request that was counted, except for the part of its interval that has passed. */
  release(limit: RateLimit, value: string, counted: CountedRequest): void;
  /** Ends a request of a limit of failures that remains counted. Each one is either released or kept. */
  keep?(limit: RateLimit, value: string, counted: CountedRequest): void;
}

/** Rounding errors of the sums are smaller, in milliseconds. */
const MAX_TOLERANCE_MS = 0.001;

/** A request that this process has counted. */
interface LocalCount extends CountedRequest {
  /** The table of its counter. A reload can remove it. */
  readonly table: CounterTable;
  readonly id: number;
  /** True if the counter is the common one of values without room. */
  readonly isOverflow: boolean;
  /** The entry of a request of a limit of failures, until its response; `NO_ENTRY` without one. */
  readonly entry: number;
}

/** A worker, and the memory in which it counts with the others. */
export type CountingWorker = Omit<WorkerContext, 'bus'>;

/** Counts the requests of this process, over all its workers. */
export class LocalCounters implements Counters {
  readonly #now: () => number;
  readonly #worker: CountingWorker;
  readonly #tables = new Map<string, CounterTable>();
  /** The slots of each table. */
  #capacity = MAX_SLOTS;

  /** @param now returns milliseconds of a clock that never goes back and is the same for all workers */
  constructor(now: () => number, worker: CountingWorker = createSingleWorker()) {
    this.#now = now;
    this.#worker = worker;
  }

  /** The tables of the limits, by `RateLimit.key`. */
  get tables(): ReadonlyMap<string, CounterTable> {
    return this.#tables;
  }

  /** Keeps the counters of these limits only, each with an equal share of the memory. */
  activate(limits: readonly RateLimit[]): void {
    const { memory } = this.#worker;
    const keys = new Set(limits.map(({ key }) => key));
    for (const key of this.#tables.keys()) {
      if (keys.has(key)) continue;
      this.#tables.delete(key);
      memory.delete(limitBuffer({ key }).name);
    }
    this.#capacity = 2 ** Math.floor(Math.log2(MAX_SLOTS / Math.max(keys.size, 1)));
    for (const key of keys) {
      const { name, bytes, maxBytes } = limitBuffer({ key });
      const buffer = memory.buffer(name, bytes, maxBytes);
      const table = this.#tables.get(key);
      if (table?.uses(buffer)) table.capacity = this.#capacity;
      else this.#addTable(key, buffer);
    }
  }

  count(limit: RateLimit, value: string): LocalCount {
    const { intervalMs, burst } = limit;
    const fullMs = burst * intervalMs;
    const toleranceMs = Math.min(MAX_TOLERANCE_MS, intervalMs / 1_000);
    const table = this.#tableOf(limit);
    // A counter further ahead than this refuses the next request.
    const now = this.#lock(table, value, fullMs - intervalMs + toleranceMs);
    try {
      // A reload can shorten the limit. Then the counter is full, and not further ahead.
      const startMs = Math.min(Math.max(table.arrival - now, 0), fullMs);
      const aheadMs = startMs + intervalMs;
      const waitMs = aheadMs - fullMs;
      const isAllowed = waitMs <= toleranceMs;
      const isPending = isAllowed && limit.failures !== undefined;
      table.arrival = now + (isAllowed ? aheadMs : startMs);
      return {
        waitMs: isAllowed ? 0 : waitMs,
        remaining: isAllowed ? Math.floor((toleranceMs - waitMs) / intervalMs) : 0,
        resetMs: isAllowed ? aheadMs : startMs,
        arrival: now + aheadMs,
        countedBy: this,
        isFallback: false,
        table,
        id: table.id,
        isOverflow: table.isOverflow,
        entry: isPending ? table.pending.add(table, now + aheadMs) : NO_ENTRY,
      };
    } finally {
      table.unlock();
    }
  }

  /**
   * Imagine the intervals of the counted requests in a queue that runs down with the clock. Takes the rest of the interval out of
   * the queue, and moves the pending ones behind it ahead: if a release took more than that rest, it would take a part of another
   * request, and slow successes would let more failures pass.
   */
  release(limit: RateLimit, value: string, counted: LocalCount): void {
    if (limit.failures !== undefined && counted.entry === NO_ENTRY) counted.table.rows.add('retained');
    else this.#settle(value, counted, limit.intervalMs);
  }

  keep(_limit: RateLimit, value: string, counted: LocalCount): void {
    if (counted.entry !== NO_ENTRY) this.#settle(value, counted, 0);
  }

  /** Moves a counter at least as far ahead as that of a store: a guesser who is over the limit there stays over it if the store fails. */
  raise(limit: RateLimit, value: string, aheadMs: number): void {
    const table = this.#tableOf(limit);
    const now = this.#lock(table, value, (limit.burst - 1) * limit.intervalMs);
    try {
      if (!table.isOverflow) table.arrival = Math.max(table.arrival, now + aheadMs);
    } finally {
      table.unlock();
    }
  }

  /** Removes the pending requests of a worker that has ended. They remain counted. */
  forgetWorker(index: number): void {
    for (const table of this.#tables.values()) table.forgetWorker(index);
  }

  /** Locks the counter of a value, which may be the common one. Returns the time. */
  #lock(table: CounterTable, value: string, maxAheadMs: number): number {
    table.lock(value);
    // Reads the clock under the lock. Otherwise another thread could have moved the counter by a later time.
    const now = this.#now();
    if (table.select(now, now + maxAheadMs)) return now;
    table.unlock();
    table.lockOverflow();
    return this.#now();
  }

  /** Takes at most `maxUnusedMs` of a counted request back, and removes it from the pending ones. */
  #settle(value: string, counted: LocalCount, maxUnusedMs: number): void {
    const { table, entry } = counted;
    if (counted.isOverflow) table.lockOverflow();
    else table.lock(value);
    try {
      if ((counted.isOverflow || table.find()) && table.id === counted.id) {
        const arrival = entry === NO_ENTRY ? counted.arrival : table.pending.arrivalOf(entry);
        const unusedMs = Math.min(Math.max(arrival - this.#now(), 0), maxUnusedMs);
        if (entry !== NO_ENTRY) table.pending.remove(table, entry, unusedMs);
        table.arrival -= unusedMs;
      }
    } finally {
      table.unlock();
    }
    if (entry !== NO_ENTRY) table.pending.free(entry);
  }

  #tableOf({ key }: RateLimit): CounterTable {
    const table = this.#tables.get(key);
    if (table !== undefined) return table;
    // For a request that began with an earlier plan. The next activation replaces the table.
    const { bytes, maxBytes } = limitBuffer({ key });
    return this.#addTable(key, new SharedArrayBuffer(bytes, { maxByteLength: maxBytes }));
  }

  #addTable(key: string, buffer: SharedArrayBuffer): CounterTable {
    const table = new CounterTable(buffer, this.#worker, this.#capacity, this.#now);
    this.#tables.set(key, table);
    return table;
  }
}
