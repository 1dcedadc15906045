import type { SharedMemory } from './shared-memory.ts';

/** A message to the other workers of the process. `topic` says who reads it. */
export interface WorkerBus {
  /** Sends plain data to all other workers. */
  publish(topic: string, value: unknown): void;
  /** Receives the messages of all other workers. Returns a function that ends the subscription. */
  subscribe(topic: string, listener: (value: unknown) => void): () => void;
}

/** The place of a gateway among the workers of its process, and what it shares with them. */
export interface WorkerContext {
  /** From 0. Worker 0 runs in the main thread. */
  readonly index: number;
  /** The number of workers, which never changes. */
  readonly count: number;
  readonly memory: SharedMemory;
  readonly bus: WorkerBus;
}
