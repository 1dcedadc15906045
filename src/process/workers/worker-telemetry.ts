import type { Gateway } from '../../engine/gateway/gateway.ts';
import type { Log } from '../../engine/log/log.ts';
import { writeForwardedBlock } from '../log/forwarded-log.ts';
import { type RequestEvent, requestEventOf } from '../telemetry/request-event.ts';
import type { MainRequests, ServingRequests } from './messages.ts';
import type { RequestEventBatch } from './request-event-batches.ts';
import type { ThreadChannel } from './thread-channel.ts';
import { addFigures, countersOf, readFigures, type ThreadFigures } from './thread-figures.ts';

interface RequestEventListener {
  readonly onEvent: (event: RequestEvent) => void;
  /** Called with the number of events that a worker did not send because there were too many. */
  readonly onSkipped: (count: number) => void;
}

export type WorkerTelemetry = ReturnType<typeof createWorkerTelemetry>;

/** The log lines, metrics, figures and request events of all workers, in the main thread. */
export function createWorkerTelemetry(gateway: Gateway, log: Log) {
  const channels = new Map<number, ThreadChannel<ServingRequests, MainRequests>>();
  /** The latest figures of each other worker, with those of its threads that have ended. */
  const latest = new Map<number, ThreadFigures>();
  /** The sums of the threads that have ended, by the index of the worker. */
  const endedThreads = new Map<number, ThreadFigures>();
  const listeners = new Set<RequestEventListener>();
  return {
    /** The figures of each worker by its index. Those of other threads are at most a second old. */
    get figures(): ReadonlyMap<number, ThreadFigures> {
      return new Map([[0, readFigures(gateway)], ...latest]);
    },
    /** The sums over all workers. */
    get totals(): ThreadFigures {
      return [...this.figures.values()].reduce((sum, figures) => addFigures(sum, figures));
    },
    attach,
    forget,
    subscribe,
  };

  /** Receives the telemetry of another worker. */
  function attach(index: number, channel: ThreadChannel<ServingRequests, MainRequests>): void {
    channels.set(index, channel);
    channel.handle('log', (block) =>
      writeForwardedBlock(log, block, () => channel.notify('logWritten', block.bytes.length)),
    );
    channel.handle('figures', (received) => {
      const ended = endedThreads.get(index);
      latest.set(index, ended === undefined ? received : addFigures(ended, received));
    });
    channel.handle('events', publish);
    if (listeners.size > 0) channel.notify('sendEvents', true);
  }

  /** Keeps the counts of a worker that has ended. */
  function forget(index: number): void {
    const last = latest.get(index);
    channels.delete(index);
    if (last === undefined) return;
    const counters = countersOf(last);
    endedThreads.set(index, counters);
    latest.set(index, counters);
  }

  /** Calls the listener with each request of all workers that ends. Returns a function that ends the subscription. */
  function subscribe(listener: RequestEventListener): () => void {
    listeners.add(listener);
    if (listeners.size === 1) sendEvents(true);
    const unsubscribe = gateway.subscribe((record) => listener.onEvent(requestEventOf(record)));
    return () => {
      unsubscribe();
      listeners.delete(listener);
      if (listeners.size === 0) sendEvents(false);
    };
  }

  function sendEvents(isListening: boolean): void {
    for (const channel of channels.values()) channel.notify('sendEvents', isListening);
  }

  function publish({ events, skipped }: RequestEventBatch): void {
    for (const { onEvent, onSkipped } of listeners) {
      for (const event of events) onEvent(event);
      if (skipped > 0) onSkipped(skipped);
    }
  }
}
