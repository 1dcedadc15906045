import type { Inspector } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import { Broken } from './failure.ts';
import { Refusal } from './refusal.ts';
import { RequestBody } from './request-body.ts';

/**
 * A body that is looked at while it goes by. One piece is always held back, so that the upstream never has the
 * whole of a body before it was found to fit: with a fault the exchange is broken off in mid-body.
 */
export class InspectedBody extends RequestBody {
  readonly #exchange: Exchange;
  #inspector: Inspector | undefined;
  #held: Buffer | undefined;

  constructor(exchange: Exchange, limitBytes: number, inspector: Inspector) {
    super(exchange, limitBytes);
    this.#exchange = exchange;
    this.#inspector = inspector;
  }

  protected override admit(chunk: Buffer | null): boolean {
    const fault = chunk === null ? this.#inspector?.end() : this.#inspector?.take(chunk);
    if (fault !== undefined) {
      const refusal = new Refusal('body_invalid', { errors: [fault] });
      if (!this.#exchange.reports(refusal)) {
        this.destroy(new Broken(refusal));
        return false;
      }
      // What is only reported is told once.
      this.#inspector = undefined;
    }
    const held = this.#held;
    this.#held = chunk ?? undefined;
    const wantsMore = held === undefined || this.push(held);
    return chunk === null ? this.push(null) : wantsMore;
  }
}
