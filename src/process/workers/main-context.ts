import { randomUUID } from 'node:crypto';
import { BroadcastChannel } from 'node:worker_threads';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { SharedMemory, type WorkerBus } from '../../engine/shared-memory/worker-context.ts';

export type MainContext = ReturnType<typeof createMainContext>;

/** Creates the context of worker 0, from which the other workers get theirs. @param count the number of workers */
export function createMainContext(count: number) {
  // The name by which the workers find each other. Unique, because tests run several groups in one process.
  const busName = `workers ${randomUUID()}`;
  return { index: 0, count, memory: new SharedMemory(), bus: createWorkerBus(busName), busName };
}

interface BusMessage {
  readonly topic: string;
  readonly value: unknown;
}

/** Connects the workers of a process. @param name the same in all of them */
export function createWorkerBus(name: string): WorkerBus & { close(): void } {
  const channel = new BroadcastChannel(name);
  const listeners = new Map<string, Set<(value: unknown) => void>>();
  channel.onmessage = (event) => {
    const { topic, value } = (event as { readonly data: BusMessage }).data;
    for (const listener of listeners.get(topic) ?? []) listener(value);
  };
  channel.unref();
  return {
    publish: (topic, value) => channel.postMessage({ topic, value } satisfies BusMessage),
    subscribe: (topic, listener) => {
      const ofTopic = getOrCreate(listeners, topic, () => new Set()).add(listener);
      return () => void ofTopic.delete(listener);
    },
    close: () => channel.close(),
  };
}
