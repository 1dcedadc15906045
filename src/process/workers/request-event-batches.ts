import type { Gateway } from '../../engine/gateway/gateway.ts';
import { type RequestEvent, requestEventOf } from '../telemetry/request-event.ts';

/** The events of one worker in a short time. */
export interface RequestEventBatch {
  readonly events: readonly RequestEvent[];
  /** Further events, which were not sent because there were too many. */
  readonly skipped: number;
}

const INTERVAL_MS = 50;
/** The most events in a batch: more than the filters of the admin API search in that time. */
const MAX_EVENTS = 500;

/** Sends the events of a worker in batches while somebody listens. At other times it costs nothing. */
export class RequestEventBatches {
  readonly #gateway: Pick<Gateway, 'subscribe'>;
  readonly #send: (batch: RequestEventBatch) => void;
  #events: RequestEvent[] = [];
  #skipped = 0;
  #stop: (() => void) | undefined;

  constructor(gateway: Pick<Gateway, 'subscribe'>, send: (batch: RequestEventBatch) => void) {
    this.#gateway = gateway;
    this.#send = send;
  }

  start(): void {
    if (this.#stop !== undefined) return;
    const unsubscribe = this.#gateway.subscribe((record) => {
      if (this.#events.length < MAX_EVENTS) this.#events.push(requestEventOf(record));
      else this.#skipped += 1;
    });
    const timer = setInterval(() => this.flush(), INTERVAL_MS).unref();
    this.#stop = () => {
      unsubscribe();
      clearInterval(timer);
    };
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.flush();
  }

  flush(): void {
    const batch = { events: this.#events, skipped: this.#skipped };
    if (batch.events.length === 0) return;
    this.#events = [];
    this.#skipped = 0;
    this.#send(batch);
  }
}
