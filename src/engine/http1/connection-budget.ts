import type { WorkerCounter } from '../shared-memory/worker-counter.ts';

/** A connection pool that closes idle connections on demand. */
interface BudgetedPool {
  readonly idle: number;
  closeIdle(): void;
}

/** Limits the connections of several pools. Beyond it, a new one closes an idle one of the largest pool, or of a pool in another worker. */
export class ConnectionBudget {
  readonly #limit: () => number;
  readonly #open: WorkerCounter;
  readonly #onExceeded: () => void;
  readonly #pools = new Set<BudgetedPool>();

  /**
   * @param limit returns the most connections of all pools; called for each new connection
   * @param open counts the connections of all workers
   * @param onExceeded called if other workers must close an idle connection, because this one has none
   */
  constructor(limit: () => number, open: WorkerCounter, onExceeded: () => void) {
    this.#limit = limit;
    this.#open = open;
    this.#onExceeded = onExceeded;
  }

  add(pool: BudgetedPool): void {
    this.#pools.add(pool);
  }

  remove(pool: BudgetedPool): void {
    this.#pools.delete(pool);
  }

  onOpened(): void {
    this.#open.add(1);
    if (this.#isExceeded && !this.#closeIdle()) this.#onExceeded();
  }

  onClosed(): void {
    this.#open.add(-1);
  }

  /** Closes an idle connection if there are too many connections, for a worker that has no idle one. */
  closeExceeding(): void {
    if (this.#isExceeded) this.#closeIdle();
  }

  get #isExceeded(): boolean {
    return this.#open.total > this.#limit();
  }

  /** Returns false if no connection is idle. */
  #closeIdle(): boolean {
    let largest: BudgetedPool | undefined;
    for (const pool of this.#pools) if (pool.idle > (largest?.idle ?? 0)) largest = pool;
    largest?.closeIdle();
    return largest !== undefined;
  }
}
