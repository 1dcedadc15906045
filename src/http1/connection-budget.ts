/** A connection pool that closes idle connections on demand. */
interface Pool {
  readonly idle: number;
  dropIdle(): void;
}

/** Counts the connections of several pools. Beyond the limit, each new connection closes an idle one, of any of the pools. */
export class ConnectionBudget {
  readonly #limit: () => number;
  readonly #pools = new Set<Pool>();
  #open = 0;

  /** @param limit connections of all pools at one time, read for each new connection */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Takes part until `leave`. */
  join(pool: Pool): void {
    this.#pools.add(pool);
  }

  leave(pool: Pool): void {
    this.#pools.delete(pool);
  }

  opened(): void {
    this.#open += 1;
    if (this.#open > this.#limit()) this.#dropIdle();
  }

  closed(): void {
    this.#open -= 1;
  }

  #dropIdle(): void {
    let most: Pool | undefined;
    for (const pool of this.#pools) if (pool.idle > (most?.idle ?? 0)) most = pool;
    most?.dropIdle();
  }
}
