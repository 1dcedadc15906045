const FAILURES = 5;
/** The most that one client counts for, while several clients ask: its tokens may be what the service fails on. */
const FAILURES_PER_CLIENT = 2;
const COOLDOWN_MS = 2_000;
/** How long a second client is remembered. */
const SEVERAL_MS = 600_000;
/** Bounds the memory for clients. */
const MAX_CLIENTS = 1_024;

type ClientKey = string | undefined;

/**
 * Protects a service that does not respond: five failures in a row open it, and then one question goes through in two
 * seconds, first of a client that had no part in it. One client alone neither opens it nor keeps it open, while others ask.
 */
export class IdentityBreaker {
  readonly #now: () => number;
  #failures = 0;
  readonly #failuresOf = new Map<ClientKey, number>();
  /** Clients that asked while it was open. */
  readonly #tried = new Set<ClientKey>();
  #mayAskAt = Number.NEGATIVE_INFINITY;
  #last: { readonly client: ClientKey } | undefined;
  #changedAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True if this client may ask now: it then asks, and reports the result. */
  mayRequest(client?: string): boolean {
    this.#see(client);
    if (!this.isOpen) return true;
    const now = this.#now();
    const isRepeated = (this.#tried.has(client) || this.#failuresOf.has(client)) && this.#areSeveral;
    if (now < this.#mayAskAt + (isRepeated ? COOLDOWN_MS : 0)) return false;
    this.#mayAskAt = now + COOLDOWN_MS;
    if (this.#tried.size < MAX_CLIENTS) this.#tried.add(client);
    return true;
  }

  get isOpen(): boolean {
    return this.#failures >= FAILURES;
  }

  recordSuccess(): void {
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#failuresOf.clear();
    this.#tried.clear();
  }

  recordFailure(client?: string): void {
    if (this.isOpen) return;
    const own = this.#failuresOf.get(client) ?? 0;
    if (own >= FAILURES_PER_CLIENT && this.#areSeveral) return;
    if (own > 0 || this.#failuresOf.size < MAX_CLIENTS) this.#failuresOf.set(client, own + 1);
    this.#failures += 1;
    if (this.isOpen) this.#mayAskAt = this.#now() + COOLDOWN_MS;
  }

  get #areSeveral(): boolean {
    return this.#now() - this.#changedAt < SEVERAL_MS;
  }

  #see(client: ClientKey): void {
    if (this.#last !== undefined && this.#last.client === client) return;
    if (this.#last !== undefined) this.#changedAt = this.#now();
    this.#last = { client };
  }
}
