/** How long a second client is remembered. */
const MEMORY_MS = 600_000;

/**
 * Detects if several clients use an endpoint. If all requests come from one address, a local application or a proxy,
 * only its failures show the state of the endpoint, and ejecting the endpoint harms no other client.
 */
export class RecentClients {
  #last: string | undefined;
  #changedAt = Number.NEGATIVE_INFINITY;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  record(client: string): void {
    if (client === this.#last) return;
    if (this.#last !== undefined) this.#changedAt = this.#now();
    this.#last = client;
  }

  get hasSeveral(): boolean {
    return this.#now() - this.#changedAt < MEMORY_MS;
  }
}
