import { GrowingBuffer } from '../../http1/growing-buffer.ts';
import { isHeader, type RawHeaders, withoutHeaders } from '../../http1/raw-headers.ts';
import type { ResponseHead } from '../../http1/upstream-request.ts';
import type { LoginRule } from '../../tokens/login.ts';
import type { Auth } from '../../tokens/verifier.ts';
import type { ForwardedExchange } from '../exchange.ts';
import type { LiveUpstream } from '../upstream/live-upstream.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { UpstreamExchange } from '../upstream/upstream-exchange.ts';
import { Refusal } from './refusal.ts';
import { fail } from './refuse.ts';
import { verifyLogin } from './verify-login.ts';

/** An exchange of a login route. It buffers the response, verifies it, and only then sends it to the client. */
export class LoginExchange extends UpstreamExchange {
  readonly #auth: Auth;
  readonly #login: LoginRule;
  readonly #body: GrowingBuffer;
  #status = 0;
  #reason = '';
  #headers: RawHeaders = [];

  constructor(exchange: ForwardedExchange, upstream: LiveUpstream, auth: Auth, login: LoginRule) {
    super(exchange, upstream);
    this.#auth = auth;
    this.#login = login;
    this.#body = new GrowingBuffer(login.limitBytes);
  }

  onHead(head: ResponseHead): void {
    this.recordHead(head.status);
    // An informational response could already contain a token.
    if (head.status < 200) return;
    this.#status = head.status;
    this.#reason = head.reason;
    this.#headers = withoutHeaders(forwardResponseHeaders(head, this.exchange), (name) => isHeader(name, 'trailer'));
  }

  onData(bytes: Buffer): void {
    this.exchange.reserve(bytes.length);
    if (!this.#body.add(bytes)) throw new Refusal('login_response_refused', { reason: 'login_response_too_long' });
  }

  onReadComplete(): void {}

  onEnd(): void {
    this.exchange.respondedAfterMs = this.exchange.elapsedMs();
    this.complete();
    void this.#verifyAndSend();
  }

  async #verifyAndSend(): Promise<void> {
    const { exchange } = this;
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
