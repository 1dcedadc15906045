import type { ServerResponse } from 'node:http';
import type { Decision } from '../gateway/decision.ts';
import { type DecisionFilter, isWanted } from './decision-filter.ts';

/** Proxies in between take a silent stream for dead. */
const KEEP_ALIVE_MS = 15_000;
/** Decisions of one write; the others are counted. */
const MAX_PASSED = 50;
/** Refused requests of one write: a crowd of others does not push them out. */
const MAX_REFUSED = 100;
/** Characters of one write. */
const MAX_WRITTEN = 65_536;
/** A reader that takes nothing for so long is disconnected. */
const STALLED_MS = 30_000;

/** One client's server-sent events. */
export class DecisionStream {
  readonly filter: DecisionFilter;
  readonly #response: ServerResponse;
  #held: Decision[] = [];
  #skipped = 0;
  #writtenAt = performance.now();

  constructor(filter: DecisionFilter, response: ServerResponse) {
    this.filter = filter;
    this.#response = response;
    response.write(': from now on\n\n');
  }

  /** Holds a decision for the next write if it is wanted. */
  add(decision: Decision): void {
    if (!isWanted(this.filter, decision)) return;
    if (this.#held.length < (decision.refusal === null ? MAX_PASSED : MAX_REFUSED)) this.#held.push(decision);
    else this.#skipped += 1;
  }

  /** Counts a decision that was not searched: there were too many. */
  skip(): void {
    this.#skipped += 1;
  }

  /** Writes the decisions held. @returns how many were skipped since the last write */
  write(): number {
    const idleMs = performance.now() - this.#writtenAt;
    // Nothing more is held for a slow reader than one write.
    if (this.#response.writableNeedDrain) {
      if (idleMs > STALLED_MS) this.#response.destroy();
      return 0;
    }
    const skipped = this.#writeEvents();
    if (performance.now() - this.#writtenAt > KEEP_ALIVE_MS) this.#send(': \n\n');
    return skipped;
  }

  #writeEvents(): number {
    let text = '';
    let skipped = this.#skipped;
    for (const decision of this.#held) {
      if (text.length < MAX_WRITTEN) text += eventOf(decision);
      else skipped += 1;
    }
    if (skipped > 0) text += written({ name: 'skipped', data: { count: skipped } });
    this.#held = [];
    this.#skipped = 0;
    if (text !== '') this.#send(text);
    return skipped;
  }

  #send(text: string): void {
    this.#response.write(text);
    this.#writtenAt = performance.now();
  }
}

/** Each is one server-sent event. */
export type DecisionEvent =
  | { readonly name: 'decision'; readonly data: Decision }
  | { readonly name: 'skipped'; readonly data: { readonly count: number } };

/** An event is the same for all streams. */
const EVENTS = new WeakMap<Decision, string>();

function eventOf(decision: Decision): string {
  let event = EVENTS.get(decision);
  if (event === undefined) {
    event = written({ name: 'decision', data: decision });
    EVENTS.set(decision, event);
  }
  return event;
}

function written({ name, data }: DecisionEvent): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
