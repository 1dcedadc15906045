import type { WorkerCounter } from '../shared-memory/buffer-parts.ts';
import { type ConnectionLimit, privateConnectionLimit } from './connection-limit.ts';
import type { Dial } from './dial.ts';
import { UpstreamConnection, type UpstreamConnectionOptions } from './upstream-connection.ts';

interface ConnectionLimits {
  readonly connectionLimit: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly responseHeadLimitBytes?: number;
}

/** How often expired idle connections are closed. */
const SWEEP_MS = 1_000;

interface ConnectionPoolOptions {
  /** Shared with the pools of other workers for the same server. By default this pool has its own. */
  readonly limit?: ConnectionLimit;
  /** Shared with the pools for other servers. */
  readonly budget?: ConnectionBudget;
  /** Called when other workers may need the room of a closed connection, and must be notified. */
  readonly onRoom?: () => void;
}

/** The connections to one server, up to a limit. Reuses the most recently used one first, so that the others can expire. */
export class ConnectionPool {
  readonly #connectionOptions: Omit<UpstreamConnectionOptions, 'isForTunnel'>;
  readonly #limit: ConnectionLimit;
  readonly #budget: ConnectionBudget | undefined;
  readonly #onRoom: () => void;
  readonly #all = new Set<UpstreamConnection>();
  /** The longest idle connection comes first. */
  readonly #idle: UpstreamConnection[] = [];
  #sweeper: NodeJS.Timeout | undefined;

  constructor(dial: Dial, limits: ConnectionLimits, options: ConnectionPoolOptions = {}) {
    const { connectionLimit, responseTimeoutMs, idleTimeoutMs, responseHeadLimitBytes } = limits;
    const { limit = privateConnectionLimit(connectionLimit), budget, onRoom = () => undefined } = options;
    const onClosed = (connection: UpstreamConnection) => this.#remove(connection);
    this.#connectionOptions = { dial, responseTimeoutMs, idleTimeoutMs, responseHeadLimitBytes, onClosed };
    this.#limit = limit;
    this.#budget = budget;
    this.#onRoom = onRoom;
    budget?.add(this);
  }

  /** Connections of this pool that carry an exchange. */
  get busy(): number {
    return this.#all.size - this.#idle.length;
  }

  get idle(): number {
    return this.#idle.length;
  }

  get hasRoom(): boolean {
    return this.#idle.length > 0 || this.#limit.hasRoom;
  }

  /** Returns an idle connection, or a new one; `undefined` if there is no room. */
  acquire(): UpstreamConnection | undefined {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.isStale) {
        if (this.#limit.isShared) this.#limit.ownIdle = this.#idle.length;
        return connection;
      }
      this.discard(connection);
    }
    return this.open(false);
  }

  /** Returns a new connection, which opens with its first request, or `undefined` if there is no room. Closes an idle one for it. */
  open(isForTunnel: boolean): UpstreamConnection | undefined {
    if (this.#limit.tryOpen()) return this.#create(isForTunnel);
    const oldest = this.#idle.shift();
    this.#limit.ownIdle = this.#idle.length;
    return oldest && this.replace(oldest, isForTunnel);
  }

  /** Closes a connection and returns a new one in its place. */
  replace(connection: UpstreamConnection, isForTunnel: boolean): UpstreamConnection {
    this.#all.delete(connection);
    this.#budget?.onClosed();
    connection.destroy();
    return this.#create(isForTunnel);
  }

  /** Takes a connection back after its exchange. Keeps it if it can be reused and no other worker needs its room more. */
  release(connection: UpstreamConnection): void {
    if (!connection.isIdle) {
      this.discard(connection);
      return;
    }
    const idle = this.#idle.push(connection);
    // Another worker that waits from now on sees an idle connection and requests it.
    if (this.#limit.isShared && this.#limit.shouldYield(idle)) this.discard(connection);
    else this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  /** Closes a connection. The socket closes first, so that another worker opens its connection after that. */
  discard(connection: UpstreamConnection): void {
    connection.destroy();
    this.#remove(connection);
  }

  /** Closes the connection that has been idle longest, if any. */
  closeIdle(): void {
    const [oldest] = this.#idle;
    if (oldest !== undefined) this.discard(oldest);
  }

  /** Closes idle connections as long as other workers need their room. */
  yieldIdle(): void {
    while (this.#idle.length > 0 && this.#limit.shouldYield(this.#idle.length)) this.closeIdle();
  }

  /** Closes all connections, including those that carry an exchange. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const connection of [...this.#all]) this.discard(connection);
    this.#budget?.remove(this);
  }

  #create(isForTunnel: boolean): UpstreamConnection {
    const connection = new UpstreamConnection({ ...this.#connectionOptions, isForTunnel });
    this.#all.add(connection);
    this.#budget?.onOpened();
    return connection;
  }

  #remove(connection: UpstreamConnection): void {
    if (!this.#all.delete(connection)) return;
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    this.#limit.ownIdle = this.#idle.length;
    this.#budget?.onClosed();
    if (this.#limit.close()) this.#onRoom();
  }

  #sweep(): void {
    for (const connection of this.#idle.filter(({ isStale }) => isStale)) this.discard(connection);
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

/** Limits the connections of several pools. Beyond it, a new one closes an idle one of the largest pool, or of a pool in another worker. */
export class ConnectionBudget {
  readonly #limit: () => number;
  readonly #open: WorkerCounter;
  readonly #onExceeded: () => void;
  readonly #pools = new Set<ConnectionPool>();

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

  add(pool: ConnectionPool): void {
    this.#pools.add(pool);
  }

  remove(pool: ConnectionPool): void {
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
    let largest: ConnectionPool | undefined;
    for (const pool of this.#pools) if (pool.idle > (largest?.idle ?? 0)) largest = pool;
    largest?.closeIdle();
    return largest !== undefined;
  }
}
