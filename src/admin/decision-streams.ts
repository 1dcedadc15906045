import type { ServerResponse } from 'node:http';
import { clientKey } from '../fairness/client-key.ts';
import { Holdings } from '../fairness/holdings.ts';
import type { Decision } from '../gateway/decision.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AdminCounts } from './admin-counts.ts';
import { type DecisionFilter, searchedCharacters } from './decision-filter.ts';
import { DecisionStream } from './decision-stream.ts';

/** Events are written in one piece every so often. */
const WRITE_MS = 250;
const MAX_STREAMS = 16;
const MAX_STREAMS_OF_CLIENT = 8;
/** Characters of decisions that filters search between two writes, for all streams: one or two milliseconds of work. */
const MAX_SEARCHED = 500_000;

/**
 * The streams of decisions that are open. While there is one, every request costs a little; the filters of all streams
 * together cost no more than a bounded time, whatever the traffic: decisions beyond it are counted and not searched.
 */
export class DecisionStreams {
  readonly #gateway: Pick<Gateway, 'watch'>;
  readonly #counts: AdminCounts;
  readonly #all = new Set<DecisionStream>();
  readonly #clients = new Holdings<string>();
  #searched = 0;
  #timer: NodeJS.Timeout | undefined;
  #stop = () => {};

  constructor(gateway: Pick<Gateway, 'watch'>, counts: AdminCounts) {
    this.#gateway = gateway;
    this.#counts = counts;
  }

  hasRoomFor(address: string): boolean {
    return this.#all.size < MAX_STREAMS && this.#clients.of(clientKey(address)) < MAX_STREAMS_OF_CLIENT;
  }

  /** Streams decisions until the client leaves. */
  open(filter: DecisionFilter, address: string, response: ServerResponse): void {
    const stream = new DecisionStream(filter, response);
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
    this.#stop = this.#gateway.watch((decision) => this.#publish(decision));
    this.#timer = setInterval(() => this.#write(), WRITE_MS);
  }

  #end(): void {
    this.#stop();
    clearInterval(this.#timer);
  }

  #publish(decision: Decision): void {
    for (const stream of this.#all) {
      const cost = searchedCharacters(stream.filter, decision);
      if (this.#searched + cost > MAX_SEARCHED) stream.skip();
      else stream.add(decision);
      this.#searched += cost;
    }
  }

  #write(): void {
    this.#searched = 0;
    for (const stream of this.#all) this.#counts.skippedDecisions += stream.write();
  }
}
