import { RoundRobinQueue } from '../../fairness/round-robin-queue.ts';

/** Waits for a connection to an upstream. */
export interface QueueEntry {
  /** The key of the client that it waits for; each client has a line of its own. */
  readonly client: string;
}

/**
 * Requests that wait for a connection, fairly by client: clients take turns, and when the queue is full, a client with fewer
 * requests takes the place of the latest one of the client with the most. So one client can fill the queue only while it waits alone.
 */
export class RequestQueue<T extends QueueEntry> {
  readonly #limit: number;
  readonly #turns = new RoundRobinQueue<string, T>();
  readonly #timers = new Map<T, NodeJS.Timeout>();
  /** The clients by how many of their requests wait: the last entry is never empty, but for the first. */
  readonly #byLength: Set<string>[] = [new Set()];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#turns.size;
  }

  get next(): T | undefined {
    return this.#turns.next;
  }

  /**
   * Adds one at the end of its client's line.
   *
   * @returns the one that has no room: this one, or one that waited and has been removed
   */
  enqueue(waiter: T, timer: () => NodeJS.Timeout): T | undefined {
    const removed = this.size < this.#limit ? undefined : this.#makeRoomFor(waiter);
    if (removed === waiter) return waiter;
    this.#turns.enqueue(waiter.client, waiter);
    this.#timers.set(waiter, timer());
    this.#changed(waiter.client, 1);
    return removed;
  }

  /** Removes the next one; the next turn is another client's. */
  dequeue(): T | undefined {
    const waiter = this.#turns.dequeue();
    if (waiter !== undefined) this.#forget(waiter);
    return waiter;
  }

  remove(waiter: T): void {
    if (this.#turns.remove(waiter.client, waiter)) this.#forget(waiter);
  }

  #forget(waiter: T): void {
    clearTimeout(this.#timers.get(waiter));
    this.#timers.delete(waiter);
    this.#changed(waiter.client, -1);
  }

  #makeRoomFor(waiter: T): T {
    const longest = this.#byLength.length - 1;
    const [client] = this.#byLength[longest] ?? [];
    const latest = client === undefined ? undefined : this.#turns.lastOf(client);
    if (latest === undefined || longest <= this.#turns.lengthOf(waiter.client) + 1) return waiter;
    this.remove(latest);
    return latest;
  }

  /** @param by by how much the client's line has changed */
  #changed(client: string, by: 1 | -1): void {
    const lengths = this.#byLength;
    const length = this.#turns.lengthOf(client);
    lengths[length - by]?.delete(client);
    lengths[length] ??= new Set();
    if (length > 0) lengths[length].add(client);
    while (lengths.length > 1 && lengths.at(-1)?.size === 0) lengths.pop();
  }
}
