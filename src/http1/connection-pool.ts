import type { ConnectionBudget } from './connection-budget.ts';
import type { Dial } from './dial.ts';
import { UpstreamConnection } from './upstream-connection.ts';

export interface ConnectionLimits {
  readonly connectionLimit: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** How often it is looked for connections that nobody used for long. */
const SWEEP_MS = 1_000;

/** The connections to one server, up to a limit. The one that was used last is used next, so that the others may end. */
export class ConnectionPool {
  readonly #dial: Dial;
  readonly #limits: ConnectionLimits;
  readonly #budget: ConnectionBudget | undefined;
  #free: UpstreamConnection[] = [];
  readonly #all = new Set<UpstreamConnection>();
  #sweeper: NodeJS.Timeout | undefined;

  /** @param budget is shared with other pools; the default is none */
  constructor(dial: Dial, limits: ConnectionLimits, budget?: ConnectionBudget) {
    this.#dial = dial;
    this.#limits = limits;
    this.#budget = budget;
    budget?.add(this);
  }

  get size(): number {
    return this.#all.size;
  }

  /** How many are in use. */
  get busy(): number {
    return this.#all.size - this.#free.length;
  }

  get idle(): number {
    return this.#free.length;
  }

  get hasRoom(): boolean {
    return this.busy < this.#limits.connectionLimit;
  }

  /** One to use; there must be room for it. */
  acquire(): UpstreamConnection {
    for (let known = this.#free.pop(); known !== undefined; known = this.#free.pop()) {
      if (!known.isStale) return known;
      this.discard(known);
    }
    return this.open(false);
  }

  /** One that no exchange has used; there must be room for it. @param isForTunnel it may become a tunnel */
  open(isForTunnel: boolean): UpstreamConnection {
    if (this.#all.size >= this.#limits.connectionLimit) this.closeIdle();
    const { responseTimeoutMs, idleTimeoutMs } = this.#limits;
    const connection = new UpstreamConnection({
      dial: this.#dial,
      responseTimeoutMs,
      idleTimeoutMs,
      isForTunnel,
      onClosed: this.#forget,
    });
    this.#all.add(connection);
    this.#budget?.onOpened();
    return connection;
  }

  /** Its exchange is over; it may be used again, where it is open. */
  release(connection: UpstreamConnection): void {
    if (!connection.isIdle) {
      this.discard(connection);
      return;
    }
    this.#free.push(connection);
    this.#sweeper ??= setInterval(this.#sweep, SWEEP_MS).unref();
  }

  /** It failed, or its socket was given away: it is not used again. */
  discard(connection: UpstreamConnection): void {
    this.#remove(connection);
    connection.destroy();
  }

  /** Closes the connection that was idle for longest, if there is one. */
  closeIdle(): void {
    const oldest = this.#free.shift();
    if (oldest !== undefined) this.discard(oldest);
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const connection of [...this.#all]) this.discard(connection);
    this.#free.length = 0;
    this.#budget?.remove(this);
  }

  #remove(connection: UpstreamConnection): void {
    if (this.#all.delete(connection)) this.#budget?.onClosed();
  }

  readonly #forget = (connection: UpstreamConnection): void => {
    this.#remove(connection);
    const index = this.#free.indexOf(connection);
    if (index !== -1) this.#free.splice(index, 1);
  };

  readonly #sweep = (): void => {
    const usable: UpstreamConnection[] = [];
    for (const connection of this.#free)
      if (connection.isStale) this.discard(connection);
      else usable.push(connection);
    this.#free = usable;
    if (this.#free.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  };
}
