import type { ServerResponse } from 'node:http';
import type { Decision } from '../gateway/decision.ts';
import { type Answer, type Call, fault, type Operated } from './call.ts';

/** How often what was decided is written, in one piece. */
const WRITE_MS = 250;
/** So that who stands between does not take the stream for dead. */
const SIGN_OF_LIFE_MS = 15_000;
/** Each of them costs a little at every request, and takes a connection that a probe may want. */
const MOST_STREAMS = 16;
/** How many are written at once; what more there were is counted. */
const MOST = 50;
/** Of those that were refused: a crowd of others does not push them out. */
const MOST_REFUSED = 100;

/**
 * What becomes of requests, as it happens: server-sent events `decision`, and `skipped` with how many there were too
 * many to be written. `?filter=` has words that must all be found in a decision, `?only=refused` leaves out what passed.
 */
export function decisions({ query }: Call, { gateway }: Operated): Answer {
  const only = query.get('only');
  if (only !== null && only !== 'refused') return fault(400, 'write only=refused, or leave it out');
  const words = (query.get('filter') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const stream = new DecisionStream((decision) => {
    if (only === 'refused' && decision.refusal === null) return false;
    return words.length === 0 || hasAll(decision, words);
  });
  if (gateway.watchers >= MOST_STREAMS) return fault(503, 'too many look on already; close one of the others');
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream' },
    body: (response) =>
      stream.writeTo(
        response,
        gateway.watch((decision) => stream.hear(decision)),
      ),
  };
}

class DecisionStream {
  readonly #isWanted: (decision: Decision) => boolean;
  #held: Decision[] = [];
  #skipped = 0;

  constructor(isWanted: (decision: Decision) => boolean) {
    this.#isWanted = isWanted;
  }

  hear(decision: Decision): void {
    if (!this.#isWanted(decision)) return;
    if (this.#held.length < (decision.refusal === null ? MOST : MOST_REFUSED)) this.#held.push(decision);
    else this.#skipped += 1;
  }

  writeTo(response: ServerResponse, stop: () => void): void {
    const writing = setInterval(() => {
      // To a client that reads slowly nothing is kept but what may be written at once.
      if (!response.writableNeedDrain) this.#write(response);
    }, WRITE_MS);
    const living = setInterval(() => response.write(': \n\n'), SIGN_OF_LIFE_MS);
    response.on('close', () => {
      stop();
      clearInterval(writing);
      clearInterval(living);
    });
    response.write(': from now on\n\n');
  }

  #write(response: ServerResponse): void {
    const events = this.#held.map((decision) => written({ name: 'decision', data: decision }));
    if (this.#skipped > 0) events.push(written({ name: 'skipped', data: { count: this.#skipped } }));
    this.#held = [];
    this.#skipped = 0;
    if (events.length > 0) response.write(events.join(''));
  }
}

function hasAll(decision: Decision, words: readonly string[]): boolean {
  const { id, method, path, route, status, refusal, reason, subject } = decision;
  const text = [method, path, route, status, refusal, reason, subject].join(' ').toLowerCase();
  // A number is looked for as a status, and would be found in most ids.
  return words.every((word) => text.includes(word) || word === id);
}

/** What is written, each as one event. */
export type DecisionEvent =
  | { readonly name: 'decision'; readonly data: Decision }
  | { readonly name: 'skipped'; readonly data: { readonly count: number } };

function written({ name, data }: DecisionEvent): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
