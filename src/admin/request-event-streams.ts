import { clientKey } from '../engine/gateway/fairness/client-key.ts';
import { getOrCreate } from '../engine/get-or-create.ts';
import type { RequestEvent } from '../process/telemetry/request-event.ts';
import type { WorkerTelemetry } from '../process/workers/worker-telemetry.ts';
import type { HttpResponse } from './admin-listener.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { isMatch, type RequestEventFilter, searchCost } from './request-event-filter.ts';

/** How often pending events are written. */
const FLUSH_INTERVAL_MS = 250;
const MAX_STREAMS = 16;
const MAX_STREAMS_PER_CLIENT = 8;
/** The characters that the filters of all streams search between two writes: one or two milliseconds of work. */
const MAX_SEARCH_COST = 500_000;

export type RequestEventStreams = ReturnType<typeof createRequestEventStreams>;

/** The open streams of decisions. Decisions beyond a limit for the time of all filters are not searched and count as skipped. */
export function createRequestEventStreams(workers: Pick<WorkerTelemetry, 'subscribe'>, metrics: AdminMetrics) {
  /** The open streams, and their clients. */
  const streams = new Map<ReturnType<typeof createRequestEventStream>, string>();
  let searchedCharacters = 0;
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};
  return { hasCapacityFor, open };

  function hasCapacityFor(address: string): boolean {
    const client = clientKey(address);
    const ofClient = [...streams.values()].filter((other) => other === client).length;
    return streams.size < MAX_STREAMS && ofClient < MAX_STREAMS_PER_CLIENT;
  }

  /** Streams decisions until the client disconnects. */
  function open(filter: RequestEventFilter, address: string, response: HttpResponse): void {
    const stream = createRequestEventStream(filter, response);
    if (streams.size === 0) start();
    streams.set(stream, clientKey(address));
    response.owner = {
      onResponseOver: () => {
        streams.delete(stream);
        if (streams.size === 0) stop();
      },
    };
  }

  function start(): void {
    unsubscribe = workers.subscribe({
      onEvent: publish,
      onSkipped: (count) => {
        for (const stream of streams.keys()) stream.countSkipped(count);
      },
    });
    timer = setInterval(write, FLUSH_INTERVAL_MS);
  }

  function stop(): void {
    unsubscribe();
    clearInterval(timer);
  }

  function publish(decision: RequestEvent): void {
    for (const stream of streams.keys()) {
      const cost = searchCost(stream.filter, decision);
      if (searchedCharacters + cost > MAX_SEARCH_COST) stream.countSkipped();
      else stream.add(decision);
      searchedCharacters += cost;
    }
  }

  function write(): void {
    searchedCharacters = 0;
    for (const stream of streams.keys()) metrics.skippedEvents += stream.flush();
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

function createRequestEventStream(filter: RequestEventFilter, response: HttpResponse) {
  let pending: RequestEvent[] = [];
  let skipped = 0;
  let lastWriteMs = performance.now();
  send(': connected\n\n');
  return { filter, add, countSkipped, flush };

  /** Adds a decision to the next write if it matches the filter. */
  function add(decision: RequestEvent): void {
    if (!isMatch(filter, decision)) return;
    if (pending.length < (decision.refusal === null ? MAX_FORWARDED_EVENTS : MAX_REFUSED_EVENTS))
      pending.push(decision);
    else skipped += 1;
  }

  /** Counts decisions that were not searched because there were too many. */
  function countSkipped(count = 1): void {
    skipped += count;
  }

  /** Writes the pending decisions. @returns how many were skipped since the last write */
  function flush(): number {
    // Wait for a slow client, so that the gateway buffers at most one write for it.
    if (response.waitingBytes > 0) return 0;
    const count = writeEvents();
    if (performance.now() - lastWriteMs > KEEP_ALIVE_MS) send(': \n\n');
    return count;
  }

  function writeEvents(): number {
    let text = '';
    let count = skipped;
    for (const decision of pending) {
      if (text.length < MAX_WRITE_LENGTH) text += messageOf(decision);
      else count += 1;
    }
    if (count > 0) text += formatMessage({ name: 'skipped', data: { count } });
    pending = [];
    skipped = 0;
    if (text !== '') send(text);
    return count;
  }

  function send(text: string): void {
    response.write(Buffer.from(text));
    lastWriteMs = performance.now();
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
