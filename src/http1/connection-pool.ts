import type { ConnectionBudget } from './connection-budget.ts';
import type { Dial } from './dial.ts';
import { UpstreamConnection } from './upstream-connection.ts';

export interface ConnectionLimits {
  readonly connectionLimit: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** How often expired idle connections are closed. */
const SWEEP_MS = 1_000;

/** The connections to one server, up to a limit. Reuses the most recently used one first, so that the others can expire. */
export class ConnectionPool {
  readonly #dial: Dial;
  readonly #limits: ConnectionLimits;
  readonly #budget: ConnectionBudget | undefined;
  readonly #all = new Set<UpstreamConnection>();
  /** The longest idle connection comes first. */
  #idle: UpstreamConnection[] = [];
  #sweeper: NodeJS.Timeout | undefined;

  /** @param budget shared with other pools; without it this pool has only its own limit */
  constructor(dial: Dial, limits: ConnectionLimits, budget?: ConnectionBudget) {
    this.#dial = dial;
    this.#limits = limits;
    this.#budget = budget;
    budget?.add(this);
  }

  get size(): number {
    return this.#all.size;
  }

  /** Connections that carry an exchange. */
  get busy(): number {
    return this.#all.size - this.#idle.length;
  }

  get idle(): number {
    return this.#idle.length;
  }

  get hasRoom(): boolean {
    return this.busy < this.#limits.connectionLimit;
  }

  /** Returns an idle connection, or a new one. The pool must have room. */
  acquire(): UpstreamConnection {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.isStale) return connection;
      this.discard(connection);
    }
    return this.open(false);
  }

  /** Returns a new connection, which opens with its first request. The pool must have room. */
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

  /** Takes a connection back after its exchange. Keeps it if it can be reused. */
  release(connection: UpstreamConnection): void {
    if (!connection.isIdle) {
      this.discard(connection);
      return;
    }
    this.#idle.push(connection);
    this.#sweeper ??= setInterval(this.#sweep, SWEEP_MS).unref();
  }

  /** Takes back a connection that failed or became a tunnel, and closes it. */
  discard(connection: UpstreamConnection): void {
    this.#remove(connection);
    connection.destroy();
  }

  /** Closes the connection that has been idle longest, if any. */
  closeIdle(): void {
    const oldest = this.#idle.shift();
    if (oldest !== undefined) this.discard(oldest);
  }

  /** Closes all connections, including those that carry an exchange. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const connection of [...this.#all]) this.discard(connection);
    this.#idle.length = 0;
    this.#budget?.remove(this);
  }

  #remove(connection: UpstreamConnection): void {
    if (this.#all.delete(connection)) this.#budget?.onClosed();
  }

  readonly #forget = (connection: UpstreamConnection): void => {
    this.#remove(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  };

  readonly #sweep = (): void => {
    const remaining: UpstreamConnection[] = [];
    for (const connection of this.#idle)
      if (connection.isStale) this.discard(connection);
      else remaining.push(connection);
    this.#idle = remaining;
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  };
}
