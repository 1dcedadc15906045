/** Waits for a connection to an upstream. */
export interface Waiter {
  /** The client that it waits for; each client has a line of its own. */
  readonly client: string;
}

type Line<T> = Map<T, NodeJS.Timeout>;

/**
 * Requests that wait for a connection, fairly by client: clients take turns, and where there is no room left the client with
 * the most requests loses its latest one. So one client can fill the queue only as long as it waits alone.
 */
export class WaitingQueue<T extends Waiter> {
  readonly #limit: number;
  /** In the order of their turns. */
  readonly #lines = new Map<string, Line<T>>();
  #size = 0;
  /** The client with the longest line, when it was last looked for. */
  #longest: string | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** The one whose turn it is. */
  get next(): T | undefined {
    const [line] = this.#lines.values();
    return line?.keys().next().value;
  }

  /**
   * Adds one at the end of its client's line.
   *
   * @returns the one that has no room: this one, or one that waited and has been removed
   */
  add(waiter: T, timer: () => NodeJS.Timeout): T | undefined {
    const removed = this.#size < this.#limit ? undefined : this.#makeRoomFor(waiter);
    if (removed === waiter) return waiter;
    let line = this.#lines.get(waiter.client);
    if (line === undefined) {
      line = new Map();
      this.#lines.set(waiter.client, line);
    }
    line.set(waiter, timer());
    this.#size += 1;
    return removed;
  }

  /** Removes the one whose turn it is; the next turn is another client's. */
  take(): T | undefined {
    const waiter = this.next;
    if (waiter === undefined) return undefined;
    const line = this.#lines.get(waiter.client) as Line<T>;
    this.delete(waiter);
    if (line.size > 0) {
      this.#lines.delete(waiter.client);
      this.#lines.set(waiter.client, line);
    }
    return waiter;
  }

  delete(waiter: T): void {
    const line = this.#lines.get(waiter.client);
    clearTimeout(line?.get(waiter));
    if (line?.delete(waiter) !== true) return;
    this.#size -= 1;
    if (line.size === 0) this.#lines.delete(waiter.client);
  }

  #makeRoomFor(waiter: T): T {
    const own = this.#lines.get(waiter.client)?.size ?? 0;
    const longest = this.#longerThan(own + 1);
    if (longest === undefined) return waiter;
    const latest = [...longest.keys()].at(-1) as T;
    this.delete(latest);
    return latest;
  }

  /** A line longer than so many, the longest one when it was last looked for. */
  #longerThan(size: number): Line<T> | undefined {
    let found = this.#lines.get(this.#longest ?? '');
    if (found !== undefined && found.size > size) return found;
    // Each client has one place at most.
    if (this.#lines.size === this.#size) return undefined;
    for (const [client, line] of this.#lines) {
      if (line.size <= (found?.size ?? 0)) continue;
      found = line;
      this.#longest = client;
    }
    return found !== undefined && found.size > size ? found : undefined;
  }
}
