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

/** Returns a count that this thread shares with no other. */
export function privateWaitingRequests(): WaitingRequests {
  return new WaitingRequests(
    privateParts((parts) => waitingMemory(parts, SINGLE_WORKER.count)),
    SINGLE_WORKER,
  );
}

/** The counts of a worker are on a cache line of their own. */
const STRIDE = 16;
const OPEN = 0;
/** Connections without an exchange. */
const IDLE = 1;
/** Connections that this worker may open, because another one has closed a connection for it. */
const GRANTED = 2;

/** Workers that need a connection equally pass it on after this time. A connection for each request would cost more. */
const TURN_MS = 20;

export interface ConnectionLimitMemory {
  readonly counts: Int32Array;
  /** The worker that is first among equals when a connection is passed on. */
  readonly turn: Int32Array;
  /** When the latest connection was passed on. */
  readonly turnedAt: Float64Array;
}

/** @param workers the number of workers */
export function connectionLimitMemory(parts: BufferParts, workers: number): ConnectionLimitMemory {
  return { counts: parts.int32(workers * STRIDE), turn: parts.int32(1), turnedAt: parts.float64(1) };
}

/**
 * Limits the connections of all workers to one server. A worker that closes a connection grants its room to the worker with
 * waiting requests that has the fewest connections. Only that worker can use the room, or return it.
 */
export class ConnectionLimit {
  readonly #limit: number;
  readonly #waiting: WaitingRequests;
  readonly #memory: ConnectionLimitMemory;
  readonly #own: number;
  readonly #workers: number;
  readonly #others: readonly number[];
  /** True if this worker left spare room to its own queue, although others wait too. */
  #hasLeftRoom = false;

  constructor(limit: number, waiting: WaitingRequests, memory: ConnectionLimitMemory, worker: WorkerPlace) {
    this.#limit = limit;
    this.#waiting = waiting;
    this.#memory = memory;
    this.#own = worker.index;
    this.#workers = worker.count;
    this.#others = Array.from({ length: worker.count }, (_, index) => index).filter((index) => index !== worker.index);
  }

  /** The open connections of all workers. */
  get open(): number {
    return this.#sum(OPEN);
  }

  /** The connections of all workers that carry an exchange. */
  get busy(): number {
    // Other workers may change their counts between the two sums.
    return Math.max(0, this.#sum(OPEN) - this.#sum(IDLE));
  }

  /** Reports how many connections of this worker carry no exchange. */
  set ownIdle(count: number) {
    Atomics.store(this.#memory.counts, this.#own * STRIDE + IDLE, count);
  }

  /** True if this worker may open a connection. */
  get hasRoom(): boolean {
    return this.#count(this.#own, GRANTED) > 0 || this.#hasSpare;
  }

  /** True if another worker has a connection without an exchange. */
  get hasIdleElsewhere(): boolean {
    return this.#others.some((worker) => this.#count(worker, IDLE) > 0);
  }

  /** Returns true, once, if this worker left room to its own queue that another one can use, which must then be notified. */
  checkUnclaimed(): boolean {
    if (!this.#hasLeftRoom) return false;
    this.#hasLeftRoom = false;
    return this.#isWantedElsewhere && this.#hasSpare;
  }

  /** Counts a new connection of this worker. Returns false if there is no room for it. */
  tryOpen(): boolean {
    return this.#waiting.lock.run(() => {
      if (this.#count(this.#own, GRANTED) > 0) this.#add(this.#own, GRANTED, -1);
      else if (!this.#hasSpare) return false;
      this.#add(this.#own, OPEN, 1);
      return true;
    });
  }

  /**
   * Gives back the room of a closed connection. Returns true if another worker got it, which must then be notified.
   *
   * @param isForOthers false if this worker serves its own queue next
   */
  close(isForOthers: boolean): boolean {
    return this.#waiting.lock.run(() => {
      this.#add(this.#own, OPEN, -1);
      return this.#grant(isForOthers ? this.#own : undefined);
    });
  }

  /** True if a connection without an exchange should be closed for another worker, even if requests of this worker wait for it. */
  shouldYield(): boolean {
    if (!this.#isWantedElsewhere || this.#hasSpare) return false;
    return this.#waiting.lock.run(() => {
      const next = this.#neediest(this.#own);
      if (next === undefined) return false;
      if (this.#waiting.of(this.#own) === 0) return true;
      const difference = this.#held(this.#own) - 1 - this.#held(next);
      return difference > 0 || (difference === 0 && sharedNow() - (this.#memory.turnedAt[0] as number) >= TURN_MS);
    });
  }

  /** Returns the room that was granted to this worker and that it does not use. Returns false if there is none. */
  returnGrants(): boolean {
    if (this.#count(this.#own, GRANTED) === 0) return false;
    return this.#waiting.lock.run(() => Atomics.exchange(this.#memory.counts, this.#own * STRIDE + GRANTED, 0) > 0);
  }

  /** Gives back everything that a worker held which ended. */
  forget(worker: number): void {
    this.#waiting.lock.run(() => {
      for (const field of [OPEN, IDLE, GRANTED]) Atomics.store(this.#memory.counts, worker * STRIDE + field, 0);
      this.#grant();
    });
  }

  get #isWantedElsewhere(): boolean {
    for (const worker of this.#others) if (this.#isWanting(worker)) return true;
    return false;
  }

  get #hasSpare(): boolean {
    let used = 0;
    for (let worker = 0; worker < this.#workers; worker += 1) used += this.#held(worker);
    return used < this.#limit;
  }

  /** Grants spare room while a worker needs it. Returns true if another worker got some. */
  #grant(except?: number): boolean {
    let isGranted = false;
    while (this.#hasSpare) {
      const next = this.#neediest(except);
      // This worker finds the spare room when it serves its own queue.
      if (next === this.#own) this.#hasLeftRoom = true;
      if (next === undefined || next === this.#own) break;
      this.#add(next, GRANTED, 1);
      this.#memory.turn[0] = next + 1;
      this.#memory.turnedAt[0] = sharedNow();
      isGranted = true;
    }
    return isGranted;
  }

  /** Returns the worker with waiting requests that holds the least; among equals the next one in turn. */
  #neediest(except?: number): number | undefined {
    const turn = this.#memory.turn[0] as number;
    let neediest: number | undefined;
    for (let step = 0; step < this.#workers; step += 1) {
      const worker = (turn + step) % this.#workers;
      if (worker === except || !this.#isWanting(worker)) continue;
      if (neediest === undefined || this.#held(worker) < this.#held(neediest)) neediest = worker;
    }
    return neediest;
  }

  #isWanting(worker: number): boolean {
    const waiting = this.#waiting.of(worker);
    return waiting > 0 && waiting > this.#count(worker, GRANTED);
  }

  #held(worker: number): number {
    return this.#count(worker, OPEN) + this.#count(worker, GRANTED);
  }

  #sum(field: number): number {
    let sum = 0;
    for (let worker = 0; worker < this.#workers; worker += 1) sum += this.#count(worker, field);
    return sum;
  }

  #count(worker: number, field: number): number {
    return Atomics.load(this.#memory.counts, worker * STRIDE + field);
  }

  #add(worker: number, field: number, amount: number): void {
    Atomics.add(this.#memory.counts, worker * STRIDE + field, amount);
  }
}

/** Returns a limit that this thread shares with no other. */
export function privateConnectionLimit(limit: number): ConnectionLimit {
  const memory = privateParts((parts) => connectionLimitMemory(parts, SINGLE_WORKER.count));
  return new ConnectionLimit(limit, privateWaitingRequests(), memory, SINGLE_WORKER);
}
