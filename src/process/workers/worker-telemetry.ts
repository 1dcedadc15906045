import type { Gateway } from '../../engine/gateway/gateway.ts';
import { type Log, writeForwardedBlock } from '../../engine/log/log.ts';
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

/** The log lines, metrics, figures and request events of all workers, in the main thread. */
export class WorkerTelemetry {
  readonly #gateway: Gateway;
  readonly #log: Log;
  readonly #channels = new Map<number, ThreadChannel<ServingRequests, MainRequests>>();
  /** The latest figures of each other worker. */
  readonly #figures = new Map<number, ThreadFigures>();
  /** The sums of the threads that have ended, by the index of the worker. */
  readonly #ended = new Map<number, ThreadFigures>();
  readonly #listeners = new Set<RequestEventListener>();

  /** @param gateway the gateway of worker 0 */
  constructor(gateway: Gateway, log: Log) {
    this.#gateway = gateway;
    this.#log = log;
  }

  /** The figures of each worker by its index. Those of other threads are at most a second old. */
  get figures(): ReadonlyMap<number, ThreadFigures> {
    const figures = new Map([[0, readFigures(this.#gateway)], ...this.#figures]);
    for (const [index, ended] of this.#ended) {
      const current = figures.get(index);
      figures.set(index, current === undefined ? ended : addFigures(ended, current));
    }
    return figures;
  }

  /** The sums over all workers. */
  get totals(): ThreadFigures {
    return [...this.figures.values()].reduce((sum, figures) => addFigures(sum, figures));
  }

  /** Receives the telemetry of another worker. */
  attach(index: number, channel: ThreadChannel<ServingRequests, MainRequests>): void {
    this.#channels.set(index, channel);
    channel.handle('log', (block) =>
      writeForwardedBlock(this.#log, block, () => channel.notify('logWritten', block.bytes.length)),
    );
    channel.handle('counters', (notice) => this.#gateway.metrics.receive(index, notice));
    channel.handle('figures', (figures) => void this.#figures.set(index, figures));
    channel.handle('events', (batch) => this.#publish(batch));
    if (this.#listeners.size > 0) channel.notify('sendEvents', true);
  }

  /** Keeps the counts of a worker that has ended. */
  forget(index: number): void {
    const figures = this.#figures.get(index);
    this.#channels.delete(index);
    this.#figures.delete(index);
    if (figures === undefined) return;
    const ended = this.#ended.get(index);
    const counters = countersOf(figures);
    this.#ended.set(index, ended === undefined ? counters : addFigures(ended, counters));
  }

  /** Calls the listener with each request of all workers that ends. Returns a function that ends the subscription. */
  subscribe(listener: RequestEventListener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#sendEvents(true);
    const unsubscribe = this.#gateway.subscribe((record) => listener.onEvent(requestEventOf(record)));
    return () => {
      unsubscribe();
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#sendEvents(false);
    };
  }

  #sendEvents(isListening: boolean): void {
    for (const channel of this.#channels.values()) channel.notify('sendEvents', isListening);
  }

  #publish({ events, skipped }: RequestEventBatch): void {
    for (const { onEvent, onSkipped } of this.#listeners) {
      for (const event of events) onEvent(event);
      if (skipped > 0) onSkipped(skipped);
    }
  }
}
