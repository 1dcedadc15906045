import { isHeader, type RawHeaders, withoutHeaders } from '../../http1/raw-headers.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { FlowControl } from '../../http1/response-sink.ts';
import type { Exchange } from '../exchange.ts';
import { GrowingBuffer } from '../request/growing-buffer.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { UpstreamError } from '../upstream/upstream-error.ts';
import type { ClientResponse } from '../upstream/upstream-exchange.ts';
import { Refusal } from './refusal.ts';

/** A complete response in memory. */
export interface CompleteResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
  /** As the upstream sent it, still in its content encoding. */
  readonly body: Buffer;
}

/** Buffers a response, so that the gateway can verify it before the client receives it. */
export class BufferedResponse implements ClientResponse {
  readonly #exchange: Exchange;
  readonly #body: GrowingBuffer;
  #status = 0;
  #reason = '';
  #headers: RawHeaders = [];

  constructor(exchange: Exchange, limitBytes: number) {
    this.#exchange = exchange;
    this.#body = new GrowingBuffer(limitBytes);
  }

  onHead(head: ResponseHead): void {
    // An informational response could already contain a token.
    if (head.status < 200) return;
    this.#status = head.status;
    this.#reason = head.reason;
    this.#headers = withoutHeaders(forwardResponseHeaders(head, this.#exchange), (name) => isHeader(name, 'trailer'));
  }

  onData(bytes: Buffer, connection: FlowControl): void {
    try {
      this.#exchange.reserve(bytes.length);
      if (!this.#body.add(bytes)) connection.abort(responseTooLong());
    } catch (error) {
      connection.abort(error instanceof Refusal ? new UpstreamError(error) : (error as Error));
    }
  }

  onReadComplete(): void {}

  onEnd(): void {
    this.#exchange.respondedAfterMs = this.#exchange.elapsedMs();
  }

  /** Never called, because a login route accepts no handshake. */
  onUpgrade(): void {
    throw new Error('a login route accepts no WebSocket handshake');
  }

  get complete(): CompleteResponse {
    return { status: this.#status, reason: this.#reason, headers: this.#headers, body: this.#body.bytes() };
  }

  /** Sends the complete response to the client. */
  send(): void {
    const exchange = this.#exchange;
    const body = this.#body.bytes();
    exchange.writeHead(this.#status, this.#reason, this.#headers);
    exchange.sentBytes = body.length;
    exchange.response.end(body);
  }
}

function responseTooLong(): UpstreamError {
  return new UpstreamError(new Refusal('login_response_refused', { reason: 'login_response_too_long' }));
}
