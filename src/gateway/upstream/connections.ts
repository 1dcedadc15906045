import type { NameResolver } from '../../dns/resolver.ts';
import { Connection } from '../../http1/connection.ts';
import { createDial, type Dial } from '../../http1/dial.ts';
import type { Target, Upstream } from '../../plan/plan.ts';

/** How often it is looked for connections that nobody used for long. */
const SWEEP_MS = 1_000;

/** The connections to one target, up to a limit. The one that was used last is used next, so that the others may end. */
export class Connections {
  readonly #upstream: Upstream;
  readonly #dial: Dial;
  #free: Connection[] = [];
  readonly #all = new Set<Connection>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(target: Target, upstream: Upstream, resolver: NameResolver) {
    this.#upstream = upstream;
    this.#dial = createDial(target, upstream, resolver);
  }

  get size(): number {
    return this.#all.size;
  }

  /** How many are in use. */
  get busy(): number {
    return this.#all.size - this.#free.length;
  }

  get hasRoom(): boolean {
    return this.busy < this.#upstream.connectionLimit;
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
    const oldest = this.#all.size < this.#upstream.connectionLimit ? undefined : this.#free.shift();
    if (oldest !== undefined) this.drop(oldest);
    const { responseTimeoutMs, idleTimeoutMs } = this.#upstream;
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

  readonly #sweep = (): void => {
    const usable: Connection[] = [];
    for (const connection of this.#free)
      if (connection.isStale) this.drop(connection);
      else usable.push(connection);
    this.#free = usable;
    if (this.#free.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  };
}
