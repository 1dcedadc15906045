import type { SharedMemory } from './shared-memory.ts';

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
