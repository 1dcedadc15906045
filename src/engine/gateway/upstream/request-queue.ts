import type { WaitingRequests } from '../../http1/connection-limit.ts';
import { RestartableTimeout } from '../../http1/event-loop.ts';
import { RoundRobinQueue } from '../fairness/round-robin-queue.ts';

/** A request that waits for a connection to an upstream. */
export interface QueueEntry {
  /** The key of the client. Each client has its own line. */
  readonly client: string;
  /** The queue sets it while the request waits. */
  queueTimeout?: RestartableTimeout | undefined;
}

interface QueueLimits<T> {
  /** The most requests that wait. */
  readonly size: number;
  /** The longest time that a request waits. */
  readonly timeoutMs: number;
  /** Called after this time. The queue no longer has the request. */
  readonly onTimeout: (request: T) => void;
}

/**
 * Requests that wait for a connection. Clients take turns. If the queue is full, a request of a client with fewer requests
 * replaces the latest request of the client with the most, so one client can fill the queue only while no other client waits.
 * The limit is for the queues of all workers together; clients take turns in each of them.
 */
export class RequestQueue<T extends QueueEntry> extends RoundRobinQueue<string, T> {
  readonly #limits: QueueLimits<T>;
  readonly #waiting: WaitingRequests;
  /** The clients by the number of their requests. The last set is empty only if the queue is. */
  readonly #byLength: Set<string>[] = [new Set()];

  /** @param waiting counts the requests of all workers */
  constructor(limits: QueueLimits<T>, waiting: WaitingRequests) {
    super();
    this.#limits = limits;
    this.#waiting = waiting;
  }

  /**
   * Adds a request at the end of its client's line, within the limit.
   *
   * @returns the request that has no room: this one, or one that waited and is now removed
   */
  add(request: T): T | undefined {
    const { size, timeoutMs, onTimeout } = this.#limits;
    const removed = this.#waiting.tryAdd(size) ? undefined : this.#requestWithoutRoom(request);
    if (removed === request) return request;
    // The new request takes over its place in the count.
    if (removed !== undefined) this.remove(removed.client, removed);
    request.queueTimeout = new RestartableTimeout(timeoutMs, () => {
      this.cancel(request);
      onTimeout(request);
    }).start();
    this.enqueue(request.client, request);
    return removed;
  }

  /** Removes the next request. The next turn belongs to another client. */
  override dequeue(): T | undefined {
    const request = super.dequeue();
    if (request !== undefined) this.#waiting.remove();
    return request;
  }

  /** Removes a request, if the queue has it. */
  cancel(request: T): void {
    if (this.remove(request.client, request)) this.#waiting.remove();
  }

  override enqueue(client: string, request: T): void {
    super.enqueue(client, request);
    this.#updateLength(client, 1);
  }

  override remove(client: string, request: T): boolean {
    if (!super.remove(client, request)) return false;
    request.queueTimeout?.close();
    this.#updateLength(client, -1);
    return true;
  }

  #requestWithoutRoom(request: T): T {
    const longest = this.#byLength.length - 1;
    const [client] = this.#byLength[longest] ?? [];
    const latest = client === undefined ? undefined : this.lastOf(client);
    return latest === undefined || longest <= this.lengthOf(request.client) + 1 ? request : latest;
  }

  /** Moves a client to the set of its new length. @param change the change of that length */
  #updateLength(client: string, change: 1 | -1): void {
    const lengths = this.#byLength;
    const length = this.lengthOf(client);
    lengths[length - change]?.delete(client);
    lengths[length] ??= new Set();
    if (length > 0) lengths[length].add(client);
    while (lengths.length > 1 && lengths.at(-1)?.size === 0) lengths.pop();
  }
}
