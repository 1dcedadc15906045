import type { Log } from '../log.ts';
import { accessLine, refusedLine, shareOf } from './access-log.ts';
import { type Decision, decisionOf, decisionOnBytes } from './decision.ts';
import type { Exchange } from './exchange.ts';
import { Meters } from './meters.ts';
import type { Refusal } from './refusal.ts';

/** Records every request as it ends: in the log, the metrics and the trace, and for those who watch. */
export class Records {
  readonly meters = new Meters();
  readonly #watchers = new Set<(decision: Decision) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** @returns ends it */
  watch(hear: (decision: Decision) => void): () => void {
    this.#watchers.add(hear);
    return () => void this.#watchers.delete(hear);
  }

  /** @param sample2xx the share of requests with a 2xx response that have a line */
  ended(exchange: Exchange, sample2xx: number): void {
    const ms = exchange.elapsedMs();
    const share = shareOf(exchange, sample2xx);
    if (share === 1 || Math.random() < share) this.#log.line(accessLine(exchange, ms, share));
    this.meters.ended(exchange, ms);
    if (this.#watchers.size > 0) this.#publish(decisionOf(exchange, ms));
    exchange.trace?.end(exchange);
  }

  /** Records bytes that were no request. */
  refused(id: string, refusal: Refusal, peer: string | undefined): void {
    this.#log.line(refusedLine(id, refusal, peer));
    this.meters.refused(refusal.code);
    if (this.#watchers.size > 0) this.#publish(decisionOnBytes(id, refusal));
  }

  #publish(decision: Decision): void {
    for (const hear of this.#watchers) hear(decision);
  }
}
