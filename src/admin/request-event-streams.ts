import type { ServerResponse } from 'node:http';
import { clientKey } from '../fairness/client-key.ts';
import { UsageByKey } from '../fairness/usage-by-key.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type RequestEvent, requestEventOf } from '../gateway/telemetry/request-event.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { type RequestEventFilter, searchCost } from './request-event-filter.ts';
import { RequestEventStream } from './request-event-stream.ts';

/** Events are written in one piece every so often. */
const FLUSH_INTERVAL_MS = 250;
const MAX_STREAMS = 16;
const MAX_STREAMS_PER_CLIENT = 8;
/** Characters of decisions that filters search between two writes, for all streams: one or two milliseconds of work. */
const MAX_SEARCH_COST = 500_000;

/**
 * The streams of decisions that are open. While there is one, every request costs a little; the filters of all streams
 * together cost no more than a bounded time, whatever the traffic: decisions beyond it are counted and not searched.
 */
export class RequestEventStreams {
  readonly #gateway: Pick<Gateway, 'subscribe'>;
  readonly #counts: AdminMetrics;
  readonly #all = new Set<RequestEventStream>();
  readonly #clients = new UsageByKey<string>();
  #searched = 0;
  #timer: NodeJS.Timeout | undefined;
  #stop = () => {};

  constructor(gateway: Pick<Gateway, 'subscribe'>, counts: AdminMetrics) {
    this.#gateway = gateway;
    this.#counts = counts;
  }

  hasCapacityFor(address: string): boolean {
    return this.#all.size < MAX_STREAMS && this.#clients.of(clientKey(address)) < MAX_STREAMS_PER_CLIENT;
  }

  /** Streams decisions until the client leaves. */
  open(filter: RequestEventFilter, address: string, response: ServerResponse): void {
    const stream = new RequestEventStream(filter, response);
    if (this.#all.size === 0) this.#begin();
    const client = clientKey(address);
    this.#all.add(stream);
    this.#clients.add(client, 1);
    response.on('close', () => {
      this.#all.delete(stream);
      this.#clients.add(client, -1);
      if (this.#all.size === 0) this.#end();
    });
  }

  #begin(): void {
    this.#stop = this.#gateway.subscribe((record) => this.#publish(requestEventOf(record)));
    this.#timer = setInterval(() => this.#write(), FLUSH_INTERVAL_MS);
  }

  #end(): void {
    this.#stop();
    clearInterval(this.#timer);
  }

  #publish(decision: RequestEvent): void {
    for (const stream of this.#all) {
      const cost = searchCost(stream.filter, decision);
      if (this.#searched + cost > MAX_SEARCH_COST) stream.countSkipped();
      else stream.add(decision);
      this.#searched += cost;
    }
  }

  #write(): void {
    this.#searched = 0;
    for (const stream of this.#all) this.#counts.skippedEvents += stream.flush();
  }
}
