import { randomUUID } from 'node:crypto';
import { SharedMemory, type WorkerBus, type WorkerContext } from '../../engine/shared-memory/worker-context.ts';
import { createWorkerBus } from './worker-bus.ts';

/** The context of worker 0, from which the other workers get theirs. */
export interface MainContext extends WorkerContext {
  /** The name by which the workers find each other. */
  readonly busName: string;
  readonly bus: WorkerBus & { close(): void };
}

/** Creates the context of the main thread. @param count the number of workers */
export function createMainContext(count: number): MainContext {
  // Unique, because tests run several groups in one process.
  const busName = `workers ${randomUUID()}`;
  return { index: 0, count, memory: new SharedMemory(), bus: createWorkerBus(busName), busName };
}
