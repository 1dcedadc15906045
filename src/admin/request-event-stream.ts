import type { ServerResponse } from 'node:http';
import type { RequestEvent } from '../gateway/telemetry/request-event.ts';
import { isMatch, type RequestEventFilter } from './request-event-filter.ts';

/** Proxies in between take a silent stream for dead. */
const KEEP_ALIVE_MS = 15_000;
/** Decisions of one write; the others are counted. */
const MAX_FORWARDED_EVENTS = 50;
/** Refused requests of one write: a crowd of others does not push them out. */
const MAX_REFUSED_EVENTS = 100;
/** Characters of one write. */
const MAX_WRITE_LENGTH = 65_536;
/** A reader that takes nothing for so long is disconnected. */
const STALLED_MS = 30_000;

/** One client's server-sent events. */
export class RequestEventStream {
  readonly filter: RequestEventFilter;
  readonly #response: ServerResponse;
  #held: RequestEvent[] = [];
  #skipped = 0;
  #writtenAt = performance.now();

  constructor(filter: RequestEventFilter, response: ServerResponse) {
    this.filter = filter;
    this.#response = response;
    response.write(': from now on\n\n');
  }

  /** Holds a decision for the next write if it is wanted. */
  add(decision: RequestEvent): void {
    if (!isMatch(this.filter, decision)) return;
    if (this.#held.length < (decision.refusal === null ? MAX_FORWARDED_EVENTS : MAX_REFUSED_EVENTS))
      this.#held.push(decision);
    else this.#skipped += 1;
  }

  /** Counts a decision that was not searched: there were too many. */
  countSkipped(): void {
    this.#skipped += 1;
  }

  /** Writes the decisions held. @returns how many were skipped since the last write */
  flush(): number {
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
      if (text.length < MAX_WRITE_LENGTH) text += messageOf(decision);
      else skipped += 1;
    }
    if (skipped > 0) text += formatMessage({ name: 'skipped', data: { count: skipped } });
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
export type RequestEventMessage =
  | { readonly name: 'decision'; readonly data: RequestEvent }
  | { readonly name: 'skipped'; readonly data: { readonly count: number } };

/** An event is the same for all streams. */
const MESSAGE_CACHE = new WeakMap<RequestEvent, string>();

function messageOf(decision: RequestEvent): string {
  let event = MESSAGE_CACHE.get(decision);
  if (event === undefined) {
    event = formatMessage({ name: 'decision', data: decision });
    MESSAGE_CACHE.set(decision, event);
  }
  return event;
}

function formatMessage({ name, data }: RequestEventMessage): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
