import { SharedMemory } from './shared-memory.ts';
import type { WorkerContext } from './worker-context.ts';

/** Returns the context of a gateway without other workers. */
export function createSingleWorker(): WorkerContext {
  const bus = { publish: () => undefined, subscribe: () => () => undefined };
  return { index: 0, count: 1, memory: new SharedMemory(), bus };
}
