import { GrowingBuffer } from '../../http1/growing-buffer.ts';
import type { ResponseHead } from '../../http1/message-head.ts';
import { isHeader, type RawHeaders, withoutHeaders } from '../../http1/raw-headers.ts';
import type { FlowControl } from '../../http1/upstream-request.ts';
import type { LoginRule } from '../../tokens/login.ts';
import type { Auth } from '../../tokens/verifier.ts';
import type { Exchange } from '../exchange.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { UpstreamError } from '../upstream/upstream-error.ts';
import type { ClientResponse } from '../upstream/upstream-exchange.ts';
import { Refusal } from './refusal.ts';
import { fail } from './refuse.ts';
import { verifyLogin } from './verify-login.ts';

/** Buffers the response of a login route, verifies it, and only then sends it to the client. */
export class VerifiedResponse implements ClientResponse {
  readonly #exchange: Exchange;
  readonly #auth: Auth;
  readonly #login: LoginRule;
  readonly #body: GrowingBuffer;
  #status = 0;
  #reason = '';
  #headers: RawHeaders = [];

  constructor(exchange: Exchange, auth: Auth, login: LoginRule) {
    this.#exchange = exchange;
    this.#auth = auth;
    this.#login = login;
    this.#body = new GrowingBuffer(login.limitBytes);
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

  onForwarded(): void {
    void this.#verifyAndSend();
  }

  onFailed(error: Error | Refusal): void {
    fail(this.#exchange, error);
  }

  async #verifyAndSend(): Promise<void> {
    const exchange = this.#exchange;
    const response = { status: this.#status, reason: this.#reason, headers: this.#headers, body: this.#body.bytes() };
    try {
      await verifyLogin({ auth: this.#auth, login: this.#login, exchange }, response);
      exchange.writeHead(response.status, response.reason, response.headers);
      exchange.sentBytes = response.body.length;
      exchange.response.end(response.body);
    } catch (error) {
      fail(exchange, error);
    }
  }
}

function responseTooLong(): UpstreamError {
  return new UpstreamError(new Refusal('login_response_refused', { reason: 'login_response_too_long' }));
}
