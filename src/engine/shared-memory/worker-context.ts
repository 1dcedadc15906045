import { getOrCreate } from '../get-or-create.ts';

/** Buffers by name that all workers of a process read and write. A process with one worker uses the same code. */
export class SharedMemory {
  readonly #buffers: Map<string, SharedArrayBuffer>;

  /** @param buffers those that another thread has created */
  constructor(buffers: ReadonlyMap<string, SharedArrayBuffer> = new Map()) {
    this.#buffers = new Map(buffers);
  }

  /**
   * Returns the buffer of a name, or a new one that holds zeros. The main thread creates the buffers of a plan before any worker
   * activates it. A worker that requests another one, for a request that began with an earlier plan, gets one that it does not share.
   *
   * @param maxBytes the size up to which it can grow
   */
  buffer(name: string, bytes: number, maxBytes = bytes): SharedArrayBuffer {
    return getOrCreate(this.#buffers, name, () =>
      maxBytes > bytes ? new SharedArrayBuffer(bytes, { maxByteLength: maxBytes }) : new SharedArrayBuffer(bytes),
    );
  }

  /** All buffers by name, to send to a thread. */
  get buffers(): ReadonlyMap<string, SharedArrayBuffer> {
    return this.#buffers;
  }

  /** Adds the buffers that the main thread has created for a plan. */
  add(buffers: ReadonlyMap<string, SharedArrayBuffer>): void {
    for (const [name, buffer] of buffers) this.#buffers.set(name, buffer);
  }

  /** Forgets a buffer. Its memory is freed once nobody uses it. */
  delete(name: string): void {
    this.#buffers.delete(name);
  }

  /** Forgets all other buffers. Their memory is freed once nobody uses them. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#buffers.keys()) if (!names.has(name)) this.#buffers.delete(name);
  }
}

/** A message to the other workers of the process. `topic` says who reads it. */
export interface WorkerBus {
  /** Sends plain data to all other workers. */
  publish(topic: string, value: unknown): void;
  /** Receives the messages of all other workers. Returns a function that ends the subscription. */
  subscribe(topic: string, listener: (value: unknown) => void): () => void;
}

/** The most workers of a process. */
export const MAX_WORKERS = 64;

/** The place of a worker among all workers of its process. */
export interface WorkerPlace {
  /** From 0. Worker 0 runs in the main thread. */
  readonly index: number;
  /** The number of workers, which never changes; at most `MAX_WORKERS`. */
  readonly count: number;
}

/** The only worker of a process. */
export const SINGLE_WORKER: WorkerPlace = { index: 0, count: 1 };

/** The place of a gateway among the workers of its process, and what it shares with them. */
export interface WorkerContext extends WorkerPlace {
  readonly memory: SharedMemory;
  readonly bus: WorkerBus;
}

/** Returns the context of a gateway without other workers. */
export function createSingleWorker(): WorkerContext {
  const bus = { publish: () => undefined, subscribe: () => () => undefined };
  return { ...SINGLE_WORKER, memory: new SharedMemory(), bus };
}

/** The first use of a clock takes milliseconds, and any sample may contain a pause. All together take less than a millisecond. */
const SAMPLES = 100;

/**
 * The difference of `sharedNow()` and `performance.now()`, which begins at another time in each thread. A sample is too low by the time
 * between its clocks, so the highest is best.
 */
export const CLOCK_OFFSET_MS = Math.max(
  ...Array.from({ length: SAMPLES }, () => Number(process.hrtime.bigint()) / 1e6 - performance.now()),
);

/** Returns the milliseconds of a clock that never goes back and is the same in all threads, to less than a microsecond. */
export function sharedNow(): number {
  return performance.now() + CLOCK_OFFSET_MS;
}
