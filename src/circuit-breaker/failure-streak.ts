/** Limits the memory. The failures of further clients count, but without a limit for each client. */
const MAX_CLIENTS = 1_024;
/** Weight of a client that left after a long wait. */
const ABANDONED_WEIGHT = 0.5;

/** Failures of an endpoint since its last success, weighted by the share that one client can have caused. */
export class FailureStreak {
  #points = 0;
  /** Points of failures that a request may have provoked, by client. */
  readonly #provoked = new Map<string, number>();
  /** Clients that left after a long wait, since the last response. */
  readonly #abandoned = new Set<string>();

  /** Clients that left count only together with a failure, because leaving alone proves nothing. */
  get points(): number {
    return this.#points === 0 ? 0 : this.#points + this.#abandoned.size * ABANDONED_WEIGHT;
  }

  /** The clients whose requests may have provoked some of the failures. */
  get clients(): Iterable<string> {
    return this.#provoked.keys();
  }

  /** Counts a failure that no request can cause. */
  recordFailure(): void {
    this.#points += 1;
  }

  /** Counts a failure that a request may have provoked. @param limit points that one client can contribute */
  recordProvokedFailure(client: string, limit: number): void {
    const points = this.#provoked.get(client) ?? 0;
    const added = Math.min(1, limit - points);
    if (added <= 0) return;
    if (points > 0 || this.#provoked.size < MAX_CLIENTS) this.#provoked.set(client, points + added);
    this.#points += added;
  }

  /** Counts a client that left after a long wait. Each client counts once. */
  recordAbandoned(client: string): void {
    if (this.#abandoned.size < MAX_CLIENTS) this.#abandoned.add(client);
  }

  /** A response began, so the endpoint does not hang. */
  recordResponse(): void {
    if (this.#abandoned.size > 0) this.#abandoned.clear();
  }

  /** An exchange succeeded. */
  reset(): void {
    this.recordResponse();
    if (this.#points === 0) return;
    this.#points = 0;
    this.#provoked.clear();
  }
}
