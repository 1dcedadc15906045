import { Upload } from '../../http1/upstream-request.ts';
import type { Violation } from '../../schema/value-validator.ts';
import type { StreamValidator } from '../../validation/request-rules.ts';
import type { ForwardedExchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';

/** The most bytes of a validated body that are held back. */
const MAX_HELD_BYTES = 1_024;

/**
 * Streams a request body to the upstream by the body rule of its route. Of a body that it validates it always holds the latest bytes back,
 * so the upstream never receives a complete body that is not valid: at a violation the gateway aborts the upstream request before the
 * body ends.
 */
export class RequestBody extends Upload {
  readonly #exchange: ForwardedExchange;
  readonly #limitBytes: number;
  #validator: StreamValidator | undefined;
  #heldBytes: Buffer | undefined;

  constructor(exchange: ForwardedExchange) {
    super(exchange.request);
    const { body: rule } = exchange.route;
    this.#exchange = exchange;
    this.#limitBytes = rule?.limitBytes ?? Number.POSITIVE_INFINITY;
    this.#validator = rule?.streamValidatorFor?.(exchange.head.contentType ?? '');
  }

  override onBodyData(chunk: Buffer): void {
    const exchange = this.#exchange;
    exchange.receivedBytes += chunk.length;
    if (exchange.receivedBytes > this.#limitBytes) this.fail(new Refusal('body_too_large'));
    else if (this.#check(this.#validator?.write(chunk))) this.#forward(chunk);
  }

  override onBodyEnd(): void {
    if (!this.#check(this.#validator?.end())) return;
    this.#forwardHeld();
    super.onBodyEnd();
  }

  override onBodyClose(): void {
    this.fail(new ClientDisconnected());
  }

  /** Returns false if the body may not be forwarded. */
  #check(violation: Violation | undefined): boolean {
    if (violation === undefined) return true;
    const refusal = new Refusal('body_invalid', { errors: [violation] });
    // Only the first violation is reported.
    this.#validator = undefined;
    if (this.#exchange.tryReport(refusal)) return true;
    this.fail(refusal);
    return false;
  }

  #forward(chunk: Buffer): void {
    this.#forwardHeld();
    const heldBytes = this.#validator === undefined ? 0 : Math.min(Math.ceil(chunk.length / 2), MAX_HELD_BYTES);
    const split = chunk.length - heldBytes;
    if (heldBytes > 0) this.#heldBytes = chunk.subarray(split);
    super.onBodyData(heldBytes > 0 ? chunk.subarray(0, split) : chunk);
  }

  #forwardHeld(): void {
    const held = this.#heldBytes;
    this.#heldBytes = undefined;
    if (held !== undefined) super.onBodyData(held);
  }
}
