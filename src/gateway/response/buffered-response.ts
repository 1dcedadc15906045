import type { ResponseHead } from '../../http1/response-head.ts';
import type { Exchange } from '../exchange.ts';
import { GrowingBuffer } from '../request/growing-buffer.ts';
import { ClientDisconnected, UpstreamError } from '../upstream/upstream-error.ts';
import { type ClientResponse, clientResponseHeaders, type FlowControl, withoutHeader } from './client-response.ts';
import { Refusal } from './refusal.ts';
import { refuse } from './refuse.ts';

/** A whole answer that something must be learnt from before it goes on. */
export interface CompleteResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly string[];
  /** As the upstream sent it, content encoding included. */
  readonly body: Buffer;
}

/** An answer that is held back until `judge` has let it pass; `judge` throws a refusal otherwise. */
export class BufferedResponse implements ClientResponse {
  readonly #exchange: Exchange;
  readonly #judge: (answer: CompleteResponse) => Promise<void>;
  readonly #body: GrowingBuffer;
  #head: ResponseHead | undefined;
  #headers: readonly string[] = [];

  constructor(exchange: Exchange, limitBytes: number, judge: (answer: CompleteResponse) => Promise<void>) {
    this.#exchange = exchange;
    this.#body = new GrowingBuffer(limitBytes);
    this.#judge = judge;
  }

  onHead(_control: FlowControl, head: ResponseHead): void {
    // What the answer will be is not known yet to be let out.
    if (head.status < 200) return;
    this.#head = head;
    this.#headers = withoutHeader(clientResponseHeaders(head, this.#exchange), 'trailer');
  }

  onData(control: FlowControl, bytes: Buffer): void {
    try {
      this.#exchange.reserve(bytes.length);
      if (!this.#body.add(bytes)) control.abort(responseTooLong());
    } catch (error) {
      control.abort(error instanceof Refusal ? new UpstreamError(error) : (error as Error));
    }
  }

  onEnd(): void {
    void this.#finish();
  }

  async #finish(): Promise<void> {
    const exchange = this.#exchange;
    exchange.respondedAfterMs = exchange.elapsedMs();
    const answer = {
      status: this.#head?.status ?? 0,
      reason: this.#head?.reason ?? '',
      headers: this.#headers,
      body: this.#body.bytes(),
    };
    try {
      await this.#judge(answer);
      exchange.writeHead(answer.status, answer.reason, answer.headers);
      exchange.sentBytes = answer.body.length;
      exchange.response.end(answer.body);
    } catch (error) {
      // Nobody is there to read a response.
      if (error instanceof ClientDisconnected) return;
      refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
    }
  }
}

function responseTooLong(): UpstreamError {
  return new UpstreamError(new Refusal('login_response_refused', { reason: 'login_response_too_long' }));
}
