import type { ServerResponse } from 'node:http';
import { clientKey } from '../engine/gateway/fairness/client-key.ts';
import type { RequestEvent } from '../process/telemetry/request-event.ts';
import type { WorkerTelemetry } from '../process/workers/worker-telemetry.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { type RequestEventFilter, searchCost } from './request-event-filter.ts';
import { RequestEventStream } from './request-event-stream.ts';

/** How often pending events are written. */
const FLUSH_INTERVAL_MS = 250;
const MAX_STREAMS = 16;
const MAX_STREAMS_PER_CLIENT = 8;
/** The characters that the filters of all streams search between two writes: one or two milliseconds of work. */
const MAX_SEARCH_COST = 500_000;

/**
 * The open streams of decisions. The workers publish decisions only while a stream is open. The time for the filters of
 * all streams is limited, for any traffic: decisions beyond the limit are not searched and count as skipped.
 */
export class RequestEventStreams {
  readonly #workers: Pick<WorkerTelemetry, 'subscribe'>;
  readonly #metrics: AdminMetrics;
  /** The open streams, and their clients. */
  readonly #streams = new Map<RequestEventStream, string>();
  #searchedCharacters = 0;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe = () => {};

  constructor(workers: Pick<WorkerTelemetry, 'subscribe'>, metrics: AdminMetrics) {
    this.#workers = workers;
    this.#metrics = metrics;
  }

  hasCapacityFor(address: string): boolean {
    const client = clientKey(address);
    const ofClient = [...this.#streams.values()].filter((other) => other === client).length;
    return this.#streams.size < MAX_STREAMS && ofClient < MAX_STREAMS_PER_CLIENT;
  }

  /** Streams decisions until the client disconnects. */
  open(filter: RequestEventFilter, address: string, response: ServerResponse): void {
    const stream = new RequestEventStream(filter, response);
    if (this.#streams.size === 0) this.#start();
    this.#streams.set(stream, clientKey(address));
    response.on('close', () => {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#stop();
    });
  }

  #start(): void {
    this.#unsubscribe = this.#workers.subscribe({
      onEvent: (decision) => this.#publish(decision),
      onSkipped: (count) => {
        for (const stream of this.#streams.keys()) stream.countSkipped(count);
      },
    });
    this.#timer = setInterval(() => this.#write(), FLUSH_INTERVAL_MS);
  }

  #stop(): void {
    this.#unsubscribe();
    clearInterval(this.#timer);
  }

  #publish(decision: RequestEvent): void {
    for (const stream of this.#streams.keys()) {
      const cost = searchCost(stream.filter, decision);
      if (this.#searchedCharacters + cost > MAX_SEARCH_COST) stream.countSkipped();
      else stream.add(decision);
      this.#searchedCharacters += cost;
    }
  }

  #write(): void {
    this.#searchedCharacters = 0;
    for (const stream of this.#streams.keys()) this.#metrics.skippedEvents += stream.flush();
  }
}
