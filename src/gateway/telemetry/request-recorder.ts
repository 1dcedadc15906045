import type { Log } from '../../log/log.ts';
import type { Exchange } from '../exchange.ts';
import type { Refusal } from '../response/refusal.ts';
import { accessLogLine, refusedConnectionLine, sampleRateOf } from './access-log.ts';
import { type RequestEvent, refusedConnectionEvent, requestEventOf } from './request-event.ts';
import { RequestMetrics } from './request-metrics.ts';

/** Records every request as it ends: in the log, the metrics and the trace, and for those who watch. */
export class RequestRecorder {
  readonly metrics = new RequestMetrics();
  readonly #watchers = new Set<(decision: RequestEvent) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get subscribers(): number {
    return this.#watchers.size;
  }

  /** @returns ends it */
  subscribe(hear: (decision: RequestEvent) => void): () => void {
    this.#watchers.add(hear);
    return () => void this.#watchers.delete(hear);
  }

  /** @param sample2xx the share of requests with a 2xx response that have a line */
  record(exchange: Exchange, sample2xx: number): void {
    const ms = exchange.elapsedMs();
    const share = sampleRateOf(exchange, sample2xx);
    if (share === 1 || Math.random() < share) this.#log.writeLine(accessLogLine(exchange, ms, share));
    this.metrics.record(exchange, ms);
    if (this.#watchers.size > 0) this.#publish(requestEventOf(exchange, ms));
    exchange.trace?.end(exchange);
  }

  /** Records bytes that were no request. */
  recordRefusal(id: string, refusal: Refusal, peer: string | undefined): void {
    this.#log.writeLine(refusedConnectionLine(id, refusal, peer));
    this.metrics.countRefusal(refusal.code);
    if (this.#watchers.size > 0) this.#publish(refusedConnectionEvent(id, refusal));
  }

  #publish(decision: RequestEvent): void {
    for (const hear of this.#watchers) hear(decision);
  }
}
