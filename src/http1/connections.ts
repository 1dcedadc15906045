import { Connection } from './connection.ts';
import type { Dial } from './dial.ts';

export interface ConnectionLimits {
  readonly connectionLimit: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** How often it is looked for connections that nobody used for long. */
const SWEEP_MS = 1_000;

/** The connections to one server, up to a limit. The one that was used last is used next, so that the others may end. */
export class Connections {
  readonly #dial: Dial;
  readonly #limits: ConnectionLimits;
  readonly #free: Connection[] = [];
  readonly #all = new Set<Connection>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(dial: Dial, limits: ConnectionLimits) {
    this.#dial = dial;
    this.#limits = limits;
  }

  get size(): number {
    return this.#all.size;
  }

  /** How many are in use. */
  get busy(): number {
    return this.#all.size - this.#free.length;
  }

  get hasRoom(): boolean {
    return this.busy < this.#limits.connectionLimit;
  }

  /** One to use; there must be room for it. */
  take(): Connection {
    for (let known = this.#free.pop(); known !== undefined; known = this.#free.pop()) {
      if (!known.isStale) return known;
      this.drop(known);
    }
    return this.open(false);
  }

  /** One that no exchange has used; there must be room for it. @param isForTunnel it may become a tunnel */
  open(isForTunnel: boolean): Connection {
    const oldest = this.#all.size < this.#limits.connectionLimit ? undefined : this.#free.shift();
    if (oldest !== undefined) this.drop(oldest);
    const { responseTimeoutMs, idleTimeoutMs } = this.#limits;
    const connection = new Connection({
      dial: this.#dial,
      responseTimeoutMs,
      idleTimeoutMs,
      isForTunnel,
      onClosed: this.#forget,
    });
    this.#all.add(connection);
    return connection;
  }

  /** Its exchange is over; it may be used again, where it is open. */
  release(connection: Connection): void {
    if (!connection.isFree) {
      this.drop(connection);
      return;
    }
    this.#free.push(connection);
    this.#sweeper ??= setInterval(this.#sweep, SWEEP_MS).unref();
  }

  /** It failed, or its socket was given away: it is not used again. */
  drop(connection: Connection): void {
    this.#all.delete(connection);
    connection.destroy();
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const connection of this.#all) connection.destroy();
    this.#all.clear();
    this.#free.length = 0;
  }

  readonly #forget = (connection: Connection): void => {
    this.#all.delete(connection);
    const index = this.#free.indexOf(connection);
    if (index !== -1) this.#free.splice(index, 1);
  };

  /** Those at the front were used longest ago. */
  readonly #sweep = (): void => {
    while (this.#free[0]?.isStale === true) this.drop(this.#free.shift() as Connection);
    if (this.#free.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  };
}
