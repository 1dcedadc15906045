import { BroadcastChannel } from 'node:worker_threads';
import type { WorkerBus } from '../../engine/shared-memory/worker-context.ts';

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
      const ofTopic = listeners.get(topic) ?? new Set();
      listeners.set(topic, ofTopic.add(listener));
      return () => void ofTopic.delete(listener);
    },
    close: () => channel.close(),
  };
}
