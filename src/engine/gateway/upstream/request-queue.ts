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
  /** Called after this time, while the request still waits. */
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
    if (removed !== undefined) {
      // The new request takes over its place in the count.
      super.remove(removed.client, removed);
      removed.queueTimeout?.close();
    }
    request.queueTimeout = new RestartableTimeout(timeoutMs, () => onTimeout(request)).start();
    this.enqueue(request.client, request);
    return removed;
  }

  override remove(client: string, request: T): boolean {
    if (!super.remove(client, request)) return false;
    request.queueTimeout?.close();
    this.#waiting.remove();
    return true;
  }

  #requestWithoutRoom(request: T): T {
    const longest = [...(this.longestLine ?? [])];
    return longest.length > this.lengthOf(request.client) + 1 ? (longest.at(-1) as T) : request;
  }
}
