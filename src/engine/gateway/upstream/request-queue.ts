import { privateWaitingRequests, type WaitingRequests } from '../../http1/connection-limit.ts';
import { RoundRobinQueue } from '../fairness/round-robin-queue.ts';

/** A request that waits for a connection to an upstream. */
export interface QueueEntry {
  /** The key of the client. Each client has its own line. */
  readonly client: string;
}

/** The time limit of a request that waits. */
interface QueueTimer {
  close(): unknown;
}

/**
 * Requests that wait for a connection. Clients take turns. If the queue is full, a request of a client with fewer requests
 * replaces the latest request of the client with the most, so one client can fill the queue only while no other client waits.
 * The limit is for the queues of all workers together; clients take turns in each of them.
 */
export class RequestQueue<T extends QueueEntry> {
  readonly #limit: number;
  readonly #waiting: WaitingRequests;
  readonly #lines = new RoundRobinQueue<string, T>();
  readonly #timers = new Map<T, QueueTimer>();
  /** The clients by the number of their requests. The last set is empty only if the queue is. */
  readonly #byLength: Set<string>[] = [new Set()];

  /** @param waiting counts the requests of all workers */
  constructor(limit: number, waiting: WaitingRequests = privateWaitingRequests()) {
    this.#limit = limit;
    this.#waiting = waiting;
  }

  get size(): number {
    return this.#timers.size;
  }

  get next(): T | undefined {
    return this.size === 0 ? undefined : this.#lines.next;
  }

  /**
   * Adds a request at the end of its client's line.
   *
   * @param startTimer starts the time limit of the request
   * @returns the request that has no room: this one, or one that waited and is now removed
   */
  enqueue(request: T, startTimer: () => QueueTimer): T | undefined {
    const removed = this.#waiting.tryAdd(this.#limit) ? undefined : this.#makeRoomFor(request);
    if (removed === request) return request;
    this.#lines.enqueue(request.client, request);
    this.#timers.set(request, startTimer());
    this.#updateLength(request.client, 1);
    return removed;
  }

  /** Removes the next request. The next turn belongs to another client. */
  dequeue(): T | undefined {
    const request = this.#lines.dequeue();
    if (request !== undefined) {
      this.#forget(request);
      this.#waiting.remove();
    }
    return request;
  }

  remove(request: T): void {
    if (this.#take(request)) this.#waiting.remove();
  }

  /** Removes a request whose place in the count remains. Returns false if the queue does not have it. */
  #take(request: T): boolean {
    const isRemoved = this.#lines.remove(request.client, request);
    if (isRemoved) this.#forget(request);
    return isRemoved;
  }

  #forget(request: T): void {
    this.#timers.get(request)?.close();
    this.#timers.delete(request);
    this.#updateLength(request.client, -1);
  }

  /** Returns the request that has no room. If it is another one, this request has its place. */
  #makeRoomFor(request: T): T {
    const longest = this.#byLength.length - 1;
    const [client] = this.#byLength[longest] ?? [];
    const latest = client === undefined ? undefined : this.#lines.lastOf(client);
    if (latest === undefined || longest <= this.#lines.lengthOf(request.client) + 1) return request;
    this.#take(latest);
    return latest;
  }

  /** Moves a client to the set of its new length. @param change the change of that length */
  #updateLength(client: string, change: 1 | -1): void {
    const lengths = this.#byLength;
    const length = this.#lines.lengthOf(client);
    lengths[length - change]?.delete(client);
    lengths[length] ??= new Set();
    if (length > 0) lengths[length].add(client);
    while (lengths.length > 1 && lengths.at(-1)?.size === 0) lengths.pop();
  }
}
