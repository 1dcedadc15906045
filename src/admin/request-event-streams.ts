import type { ServerResponse } from 'node:http';
import { clientKey } from '../engine/gateway/fairness/client-key.ts';
import { getOrCreate } from '../engine/get-or-create.ts';
import type { RequestEvent } from '../process/telemetry/request-event.ts';
import type { WorkerTelemetry } from '../process/workers/worker-telemetry.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { isMatch, type RequestEventFilter, searchCost } from './request-event-filter.ts';

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

/** Proxies close streams that are silent for longer. */
const KEEP_ALIVE_MS = 15_000;
/** The most forwarded requests in one write. The stream counts the others as skipped. */
const MAX_FORWARDED_EVENTS = 50;
/** The most refused requests in one write. Their limit is separate, so that forwarded requests do not displace them. */
const MAX_REFUSED_EVENTS = 100;
/** The most characters in one write. */
const MAX_WRITE_LENGTH = 65_536;
/** A client that receives nothing for longer is disconnected. */
const STALLED_MS = 30_000;

/** The server-sent events of one client. */
class RequestEventStream {
  readonly filter: RequestEventFilter;
  readonly #response: ServerResponse;
  #pending: RequestEvent[] = [];
  #skipped = 0;
  #lastWriteMs = performance.now();

  constructor(filter: RequestEventFilter, response: ServerResponse) {
    this.filter = filter;
    this.#response = response;
    response.write(': connected\n\n');
  }

  /** Adds a decision to the next write if it matches the filter. */
  add(decision: RequestEvent): void {
    if (!isMatch(this.filter, decision)) return;
    if (this.#pending.length < (decision.refusal === null ? MAX_FORWARDED_EVENTS : MAX_REFUSED_EVENTS))
      this.#pending.push(decision);
    else this.#skipped += 1;
  }

  /** Counts decisions that were not searched because there were too many. */
  countSkipped(count = 1): void {
    this.#skipped += count;
  }

  /** Writes the pending decisions. @returns how many were skipped since the last write */
  flush(): number {
    const idleMs = performance.now() - this.#lastWriteMs;
    // Wait for a slow client, so that the gateway buffers at most one write for it.
    if (this.#response.writableNeedDrain) {
      if (idleMs > STALLED_MS) this.#response.destroy();
      return 0;
    }
    const skipped = this.#writeEvents();
    if (performance.now() - this.#lastWriteMs > KEEP_ALIVE_MS) this.#send(': \n\n');
    return skipped;
  }

  #writeEvents(): number {
    let text = '';
    let skipped = this.#skipped;
    for (const decision of this.#pending) {
      if (text.length < MAX_WRITE_LENGTH) text += messageOf(decision);
      else skipped += 1;
    }
    if (skipped > 0) text += formatMessage({ name: 'skipped', data: { count: skipped } });
    this.#pending = [];
    this.#skipped = 0;
    if (text !== '') this.#send(text);
    return skipped;
  }

  #send(text: string): void {
    this.#response.write(text);
    this.#lastWriteMs = performance.now();
  }
}

/** A server-sent event. */
export type RequestEventMessage =
  | { readonly name: 'decision'; readonly data: RequestEvent }
  | { readonly name: 'skipped'; readonly data: { readonly count: number } };

/** The text of an event, which all streams share. */
const MESSAGE_CACHE = new WeakMap<RequestEvent, string>();

function messageOf(decision: RequestEvent): string {
  return getOrCreate(MESSAGE_CACHE, decision, (data) => formatMessage({ name: 'decision', data }));
}

function formatMessage({ name, data }: RequestEventMessage): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
