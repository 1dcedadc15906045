/** How long a second client is remembered. */
const MEMORY_MS = 600_000;

/**
 * Determines if several clients use an endpoint. If all requests come from one address (a local application or a proxy), there are no
 * other failures to count, and ejecting the endpoint harms no other client.
 */
export class RecentClients {
  #latest: string | undefined;
  #changedAt = Number.NEGATIVE_INFINITY;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  record(client: string): void {
    if (client === this.#latest) return;
    if (this.#latest !== undefined) this.#changedAt = this.#now();
    this.#latest = client;
  }

  get hasSeveral(): boolean {
    return this.#now() - this.#changedAt < MEMORY_MS;
  }
}
