import type { Log } from '../../log/log.ts';
import type { LogSettings } from '../../log/log-settings.ts';
import type { Exchange } from '../exchange.ts';
import type { Refusal } from '../response/refusal.ts';
import { accessLogLine, sampleRateOf } from './access-log.ts';
import { createRequestRecord, createUnparsedRecord } from './create-request-record.ts';
import { RequestMetrics } from './request-metrics.ts';
import type { RequestRecord } from './request-record.ts';

export type RequestSubscriber = (record: RequestRecord) => void;

/** Records every finished request in the access log, the metrics and the trace, and publishes it to subscribers. */
export class RequestRecorder {
  readonly metrics = new RequestMetrics();
  readonly #subscribers = new Set<RequestSubscriber>();
  readonly #log: Log;
  readonly #worker: number | undefined;

  /** @param worker the index of this worker if the process has several */
  constructor(log: Log, worker?: number) {
    this.#log = log;
    this.#worker = worker;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** @returns a function that ends the subscription */
  subscribe(subscriber: RequestSubscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => void this.#subscribers.delete(subscriber);
  }

  record(exchange: Exchange, { sample2xx }: LogSettings): void {
    const record = createRequestRecord(exchange);
    const share = sample2xx === 1 ? 1 : sampleRateOf(record, sample2xx);
    if (share === 1 || Math.random() < share) this.#log.writeLine(accessLogLine(record, share, this.#worker));
    this.metrics.record(record);
    for (const subscriber of this.#subscribers) subscriber(record);
    exchange.trace?.end(record);
  }

  /** Records the refusal of bytes that the gateway could not parse as a request. */
  recordUnparsed(id: string, refusal: Refusal, peer: string | undefined): void {
    const record = createUnparsedRecord(id, refusal, peer);
    this.#log.writeLine(accessLogLine(record, 1, this.#worker));
    this.metrics.countRefusal(refusal.code);
    for (const subscriber of this.#subscribers) subscriber(record);
  }
}
