import { SharedMemory } from './shared-memory.ts';
import { SINGLE_WORKER, type WorkerContext } from './worker-context.ts';

/** Returns the context of a gateway without other workers. */
export function createSingleWorker(): WorkerContext {
  const bus = { publish: () => undefined, subscribe: () => () => undefined };
  return { ...SINGLE_WORKER, memory: new SharedMemory(), bus };
}
