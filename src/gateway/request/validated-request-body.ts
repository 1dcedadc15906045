import type { StreamValidator } from '../../plan/body/stream-validation.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { UpstreamError } from '../upstream/upstream-error.ts';
import { RequestBody } from './request-body.ts';

/** The most that is held back. */
const MAX_HELD_BYTES = 1_024;

/**
 * A body that is validated while it is streamed. Its latest bytes are always held back, so that the upstream never has
 * all of a body before it was found valid: at a violation the exchange is broken off in the middle of the body.
 */
export class ValidatedRequestBody extends RequestBody {
  readonly #exchange: Exchange;
  #inspector: StreamValidator | undefined;
  #held: Buffer | undefined;

  constructor(exchange: Exchange, limitBytes: number, inspector: StreamValidator) {
    super(exchange, limitBytes);
    this.#exchange = exchange;
    this.#inspector = inspector;
  }

  protected override pushChunk(chunk: Buffer | null): boolean {
    const fault = chunk === null ? this.#inspector?.end() : this.#inspector?.write(chunk);
    if (fault !== undefined) {
      const refusal = new Refusal('body_invalid', { errors: [fault] });
      if (!this.#exchange.tryReport(refusal)) {
        this.destroy(new UpstreamError(refusal));
        return false;
      }
      // What is only reported is told once.
      this.#inspector = undefined;
    }
    const held = this.#held;
    this.#held = undefined;
    let wantsMore = held === undefined || this.push(held);
    if (chunk === null) return this.push(null);
    const split = chunk.length - Math.min(Math.ceil(chunk.length / 2), MAX_HELD_BYTES);
    this.#held = chunk.subarray(split);
    if (split > 0) wantsMore = this.push(chunk.subarray(0, split));
    return wantsMore;
  }
}
