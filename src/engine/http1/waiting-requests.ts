import { type BufferParts, privateParts } from '../shared-memory/buffer-parts.ts';
import { SharedLock } from '../shared-memory/shared-lock.ts';
import { SINGLE_WORKER, type WorkerPlace } from '../shared-memory/worker-context.ts';

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
