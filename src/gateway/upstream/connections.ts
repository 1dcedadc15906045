import type { Target, Upstream } from '../../plan/plan.ts';
import { Connection, createConnector } from './connection.ts';

/** The connections to one target, up to a limit. The one that was used last is used next, so that the others may end. */
export class Connections {
  readonly #target: Target;
  readonly #upstream: Upstream;
  readonly #connect;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();

  constructor(target: Target, upstream: Upstream) {
    this.#target = target;
    this.#upstream = upstream;
    this.#connect = createConnector(upstream);
  }

  get size(): number {
    return this.#all.size;
  }

  /** How many are in use. */
  get busy(): number {
    return this.#all.size - this.#idle.length;
  }

  get hasRoom(): boolean {
    return this.busy < this.#upstream.connectionLimit;
  }

  /**
   * One to use; there must be room for it.
   *
   * @param isFresh one that no exchange has used
   */
  take(isFresh: boolean): Connection {
    const known = isFresh ? undefined : this.#idle.pop();
    return known ?? this.#open();
  }

  /** It may be used again. */
  release(connection: Connection): void {
    connection.end();
    this.#idle.push(connection);
  }

  /** It failed, or its socket was given away: it is not used again. */
  drop(connection: Connection): void {
    this.#all.delete(connection);
    connection.destroy();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => connection.close()));
  }

  #open(): Connection {
    const oldest = this.#all.size < this.#upstream.connectionLimit ? undefined : this.#idle.shift();
    if (oldest !== undefined) this.drop(oldest);
    const connection = new Connection(this.#target, this.#upstream, this.#connect, (ended) => this.#forget(ended));
    this.#all.add(connection);
    return connection;
  }

  /** One in use comes back by itself, or is dropped by whoever uses it. */
  #forget(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.drop(connection);
  }
}
