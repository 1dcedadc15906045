/** A connection pool that closes idle connections on demand. */
interface BudgetedPool {
  readonly idle: number;
  closeIdle(): void;
}

/**
 * Limits the total connections of several pools. Beyond the limit, each new connection closes an idle one of the pool that has the
 * most.
 */
export class ConnectionBudget {
  readonly #limit: () => number;
  readonly #pools = new Set<BudgetedPool>();
  #open = 0;

  /** @param limit returns the most connections of all pools; called for each new connection */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  add(pool: BudgetedPool): void {
    this.#pools.add(pool);
  }

  remove(pool: BudgetedPool): void {
    this.#pools.delete(pool);
  }

  onOpened(): void {
    this.#open += 1;
    if (this.#open > this.#limit()) this.#closeIdle();
  }

  onClosed(): void {
    this.#open -= 1;
  }

  #closeIdle(): void {
    let largest: BudgetedPool | undefined;
    for (const pool of this.#pools) if (pool.idle > (largest?.idle ?? 0)) largest = pool;
    largest?.closeIdle();
  }
}
