/** A connection pool that closes idle connections on demand. */
interface BudgetedPool {
  readonly idle: number;
  closeIdle(): void;
}

/** Counts the connections of several pools. Beyond the limit, each new connection closes an idle one, of any of the pools. */
export class ConnectionBudget {
  readonly #limit: () => number;
  readonly #pools = new Set<BudgetedPool>();
  #open = 0;

  /** @param limit connections of all pools at one time, read for each new connection */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Takes part until `leave`. */
  add(pool: BudgetedPool): void {
    this.#pools.add(pool);
  }

  remove(pool: BudgetedPool): void {
    this.#pools.delete(pool);
  }

  onOpened(): void {
    this.#open += 1;
    if (this.#open > this.#limit()) this.#dropIdle();
  }

  onClosed(): void {
    this.#open -= 1;
  }

  #dropIdle(): void {
    let most: BudgetedPool | undefined;
    for (const pool of this.#pools) if (pool.idle > (most?.idle ?? 0)) most = pool;
    most?.closeIdle();
  }
}
