import { type BufferParts, privateParts } from '../shared-memory/buffer-parts.ts';
import { SharedLock } from '../shared-memory/shared-lock.ts';
import { SINGLE_WORKER, sharedNow, type WorkerPlace } from '../shared-memory/worker-context.ts';

export interface WaitingMemory {
  readonly lock: Int32Array;
  /** By worker. One cache line for several workers: they change rarely, and each release of a connection reads them. */
  readonly counts: Int32Array;
}

/** @param workers the number of workers */
export function waitingMemory(parts: BufferParts, workers: number): WaitingMemory {
  return { lock: parts.int32(1), counts: parts.int32(workers) };
}

/** The number of requests that wait for a connection to one of several servers, for each worker of the process. */
export class WaitingRequests {
  /** For the counts, and for the connections that the requests wait for. */
  readonly lock: SharedLock;
  readonly #counts: Int32Array;
  readonly #own: number;

  constructor({ lock, counts }: WaitingMemory, { index }: WorkerPlace) {
    this.lock = new SharedLock(lock);
    this.#counts = counts;
    this.#own = index;
  }

  /** The requests of all workers. */
  get total(): number {
    let total = 0;
    for (let worker = 0; worker < this.#counts.length; worker += 1) total += this.of(worker);
    return total;
  }

  of(worker: number): number {
    return Atomics.load(this.#counts, worker);
  }

  /** Adds a request of this worker. Returns false if as many as the limit wait already. */
  tryAdd(limit: number): boolean {
    return this.lock.run(() => {
      if (this.total >= limit) return false;
      Atomics.add(this.#counts, this.#own, 1);
      return true;
    });
  }

  remove(): void {
    Atomics.sub(this.#counts, this.#own, 1);
  }

  /** Removes the requests of a worker that ended. */
  forget(worker: number): void {
    Atomics.store(this.#counts, worker, 0);
  }
}

/** The counts of a worker are on a cache line of their own. */
const STRIDE = 16;
const OPEN = 0;
/** Connections without an exchange. */
const IDLE = 1;

/** Workers that need a connection equally pass it on after this time. A connection for each request would cost more. */
const TURN_MS = 20;

export interface ConnectionLimitMemory {
  readonly counts: Int32Array;
  /** The worker that is first among those with as many connections. */
  readonly turn: Int32Array;
  /** When the latest connection was passed on. */
  readonly turnedAt: Float64Array;
}

/** @param workers the number of workers */
export function connectionLimitMemory(parts: BufferParts, workers: number): ConnectionLimitMemory {
  return { counts: parts.int32(workers * STRIDE), turn: parts.int32(1), turnedAt: parts.float64(1) };
}

/**
 * Limits the connections of all workers to one server. Spare room belongs to the worker with waiting requests that has the fewest
 * connections, so the worker that closes a connection for another one cannot use the room before it.
 */
export class ConnectionLimit {
  /** True if there are other workers. Only they read the number of idle connections of this one. */
  readonly isShared: boolean;
  readonly #limit: number;
  readonly #waiting: WaitingRequests;
  readonly #memory: ConnectionLimitMemory;
  readonly #own: number;
  readonly #workers: number;
  readonly #others: readonly number[];

  constructor(limit: number, waiting: WaitingRequests, memory: ConnectionLimitMemory, worker: WorkerPlace) {
    this.#limit = limit;
    this.#waiting = waiting;
    this.#memory = memory;
    this.#own = worker.index;
    this.#workers = worker.count;
    this.#others = Array.from({ length: worker.count }, (_, index) => index).filter((index) => index !== worker.index);
    this.isShared = this.#others.length > 0;
  }

  /** The open connections of all workers. */
  get open(): number {
    let open = 0;
    for (let worker = 0; worker < this.#workers; worker += 1) open += this.#count(worker, OPEN);
    return open;
  }

  /** The connections of other workers that carry an exchange. */
  get busyElsewhere(): number {
    let busy = 0;
    // A worker may change its counts between the two reads.
    for (const worker of this.#others) busy += Math.max(0, this.#count(worker, OPEN) - this.#count(worker, IDLE));
    return busy;
  }

  /** Reports how many connections of this worker carry no exchange. */
  set ownIdle(count: number) {
    Atomics.store(this.#memory.counts, this.#own * STRIDE + IDLE, count);
  }

  /** True if this worker may open a connection: there is more room than the workers before it wait for. */
  get hasRoom(): boolean {
    let room = this.#limit - this.open;
    for (const worker of this.#others) if (this.#isBefore(worker, this.#own)) room -= this.#waiting.of(worker);
    return room > 0;
  }

  /** True if another worker has a connection without an exchange. */
  get hasIdleElsewhere(): boolean {
    return this.#others.some((worker) => this.#count(worker, IDLE) > 0);
  }

  /** True if there is room for a request that waits in another worker, which must be notified if the room was reserved before. */
  get hasRoomElsewhere(): boolean {
    return this.#waiting.total > this.#waiting.of(this.#own) && this.open < this.#limit;
  }

  /** Counts a new connection of this worker. Returns false if there is no room for it. */
  tryOpen(): boolean {
    return this.#waiting.lock.run(() => {
      if (!this.hasRoom) return false;
      Atomics.add(this.#memory.counts, this.#own * STRIDE + OPEN, 1);
      return true;
    });
  }

  /** Gives back the room of a closed connection. Returns true if other workers may need it, which must then be notified. */
  close(): boolean {
    Atomics.sub(this.#memory.counts, this.#own * STRIDE + OPEN, 1);
    return this.hasRoomElsewhere;
  }

  /**
   * True if a connection without an exchange should be closed for another worker, even if requests of this worker wait for it.
   *
   * @param idle the connections of this worker without an exchange
   */
  shouldYield(idle: number): boolean {
    Atomics.store(this.#memory.counts, this.#own * STRIDE + IDLE, idle);
    const own = this.#waiting.of(this.#own);
    const spare = this.#limit - this.open;
    const next = this.#next;
    if (next === undefined || this.#waiting.total - own <= spare) return false;
    const { turn, turnedAt } = this.#memory;
    const now = sharedNow();
    const difference = this.#count(this.#own, OPEN) - 1 - this.#count(next, OPEN) - spare;
    const isTurnOver = difference > 0 || (difference === 0 && now - (turnedAt[0] as number) >= TURN_MS);
    if (own > 0 && !isTurnOver) return false;
    turn[0] = next;
    turnedAt[0] = now;
    return true;
  }

  /** Gives back everything that a worker held which ended. */
  forget(worker: number): void {
    for (const field of [OPEN, IDLE]) Atomics.store(this.#memory.counts, worker * STRIDE + field, 0);
  }

  /** The other worker with waiting requests that gets spare room first. */
  get #next(): number | undefined {
    let next: number | undefined;
    for (const worker of this.#others)
      if (this.#waiting.of(worker) > 0 && (next === undefined || this.#isBefore(worker, next))) next = worker;
    return next;
  }

  /** True if a worker has fewer connections than another one, or as many and its turn comes earlier. */
  #isBefore(worker: number, other: number): boolean {
    const difference = this.#count(worker, OPEN) - this.#count(other, OPEN);
    return difference < 0 || (difference === 0 && this.#turnOf(worker) < this.#turnOf(other));
  }

  #turnOf(worker: number): number {
    return (worker - (this.#memory.turn[0] as number) + this.#workers) % this.#workers;
  }

  #count(worker: number, field: number): number {
    return Atomics.load(this.#memory.counts, worker * STRIDE + field);
  }
}

/** Returns a limit that this thread shares with no other. */
export function privateConnectionLimit(limit: number): ConnectionLimit {
  const waiting = privateParts((parts) => waitingMemory(parts, SINGLE_WORKER.count));
  const memory = privateParts((parts) => connectionLimitMemory(parts, SINGLE_WORKER.count));
  return new ConnectionLimit(limit, new WaitingRequests(waiting, SINGLE_WORKER), memory, SINGLE_WORKER);
}
