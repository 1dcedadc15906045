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
export function createRequestEventBatches(
  gateway: Pick<Gateway, 'subscribe'>,
  send: (batch: RequestEventBatch) => void,
) {
  let events: RequestEvent[] = [];
  let skipped = 0;
  let stop: (() => void) | undefined;
  const flush = () => {
    const batch = { events, skipped };
    if (events.length === 0) return;
    events = [];
    skipped = 0;
    send(batch);
  };
  return {
    flush,
    start(): void {
      if (stop !== undefined) return;
      const unsubscribe = gateway.subscribe((record) => {
        if (events.length < MAX_EVENTS) events.push(requestEventOf(record));
        else skipped += 1;
      });
      const timer = setInterval(flush, INTERVAL_MS).unref();
      stop = () => {
        unsubscribe();
        clearInterval(timer);
      };
    },
    stop(): void {
      stop?.();
      stop = undefined;
      flush();
    },
  };
}
