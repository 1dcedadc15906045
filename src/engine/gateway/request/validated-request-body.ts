import type { StreamValidator } from '../../validation/body-rule.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { UpstreamError } from '../upstream/upstream-error.ts';
import { RequestBody } from './request-body.ts';

/** The most bytes that are held back. */
const MAX_HELD_BYTES = 1_024;

/**
 * Validates a request body while it streams it. It always holds the latest bytes back, so the upstream never receives a complete
 * body that is not valid: at a violation the gateway aborts the upstream request before the body ends.
 */
export class ValidatedRequestBody extends RequestBody {
  readonly #exchange: Exchange;
  #validator: StreamValidator | undefined;
  #heldBytes: Buffer | undefined;

  constructor(exchange: Exchange, limitBytes: number, validator: StreamValidator) {
    super(exchange, limitBytes);
    this.#exchange = exchange;
    this.#validator = validator;
  }

  protected override pushChunk(chunk: Buffer | null): boolean {
    const violation = chunk === null ? this.#validator?.end() : this.#validator?.write(chunk);
    if (violation !== undefined) {
      const refusal = new Refusal('body_invalid', { errors: [violation] });
      if (!this.#exchange.tryReport(refusal)) {
        this.destroy(new UpstreamError(refusal));
        return false;
      }
      // Only the first violation is reported.
      this.#validator = undefined;
    }
    const heldBytes = this.#heldBytes;
    this.#heldBytes = undefined;
    let hasRoom = heldBytes === undefined || this.push(heldBytes);
    if (chunk === null) return this.push(null);
    const split = chunk.length - Math.min(Math.ceil(chunk.length / 2), MAX_HELD_BYTES);
    this.#heldBytes = chunk.subarray(split);
    if (split > 0) hasRoom = this.push(chunk.subarray(0, split));
    return hasRoom;
  }
}
