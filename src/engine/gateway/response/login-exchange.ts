import { GrowingBuffer } from '../../http1/growing-buffer.ts';
import { getAllHeaders, isHeader, type RawHeaders, withoutHeaders } from '../../http1/raw-headers.ts';
import type { ResponseHead } from '../../http1/upstream-request.ts';
import type { LoginErrorCode, ResponseTokens } from '../../tokens/find-tokens.ts';
import type { LoginRule } from '../../tokens/login.ts';
import type { Auth, Issuers } from '../../tokens/verifier.ts';
import type { ForwardedExchange } from '../exchange.ts';
import { untilClientDisconnects } from '../request/await-validation.ts';
import type { LiveUpstream } from '../upstream/live-upstream.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { UpstreamExchange } from '../upstream/upstream-exchange.ts';
import { ContentDecodingError, decodeBody } from './decode-body.ts';
import type { TokenErrorCode } from './refusal.ts';
import { gatewayBusy, Refusal } from './refusal.ts';
import { fail } from './refuse.ts';

/** An exchange of a login route. It buffers the response, verifies it, and only then sends it to the client. */
export class LoginExchange extends UpstreamExchange {
  readonly #auth: Auth;
  readonly #login: LoginRule;
  /** As the upstream sent it, still in its content encoding. */
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
    if (!this.#body.add(bytes)) throw loginResponseRefused('login_response_too_long');
  }

  onReadComplete(): void {}

  onEnd(): void {
    this.respondedAt = performance.now();
    this.complete();
    void this.#verifyAndSend();
  }

  async #verifyAndSend(): Promise<void> {
    const { exchange } = this;
    const body = this.#body.bytes();
    try {
      await this.#verify(body);
      exchange.writeHead(this.#status, this.#reason, this.#headers);
      exchange.sentBytes = body.length;
      exchange.response.end(body);
    } catch (error) {
      fail(exchange, error);
    }
  }

  /**
   * Verifies the tokens in the response, for every status. Each token at a declared location must be valid and have an allowed role. Any
   * other JWT that the gateway would accept must have an allowed role too. A response without a token, such as an MFA challenge, passes. A
   * response that clients could read in another way than the gateway is refused.
   *
   * @throws Refusal `role_not_allowed`, `login_response_refused`, `keys_unavailable` or `gateway_busy`; ClientDisconnected
   */
  async #verify(encodedBody: Buffer): Promise<void> {
    if (encodedBody.length > 0 && PARTIAL.has(this.#status)) throw loginResponseRefused('login_response_partial');
    const tokens = await this.#findTokens(this.#login.isBodySearched ? encodedBody : Buffer.alloc(0));
    if (typeof tokens === 'string') throw loginResponseRefused(tokens);
    const client = this.exchange.waitingClient();
    const verify = async (token: string, issuers: Issuers, harmless: ReadonlySet<TokenErrorCode>) => {
      const result = await this.#auth.verifier.verify(token, client, issuers);
      if (!('code' in result)) this.exchange.authorize(this.#auth, result.principal);
      else if (!harmless.has(result.code)) throw toRefusal(result.code);
    };
    for (const token of tokens.declared) {
      if (token === undefined) throw loginResponseRefused('login_token_not_a_string');
      await verify(token, this.#login.issuers, NONE);
    }
    for (const token of tokens.undeclared) await verify(token, this.#login.otherIssuers, HARMLESS);
  }

  async #findTokens(encodedBody: Buffer): Promise<ResponseTokens | LoginErrorCode> {
    const { exchange } = this;
    const headers = this.#headers;
    const isEmpty = encodedBody.length === 0;
    const body = isEmpty ? encodedBody : await decode(headers, encodedBody, this.#login.limitBytes);
    if (body !== encodedBody) exchange.reserve(body.length);
    const response = { status: this.#status, reason: this.#reason, headers, body, encodedBody };
    const search = this.#login.findTokens(response, exchange);
    if (!(search instanceof Promise)) return search;
    const { searchResult, overload } = await untilClientDisconnects(exchange, search);
    if (overload !== undefined) throw gatewayBusy(overload);
    if (searchResult === undefined) throw loginResponseRefused('login_response_too_costly');
    return searchResult;
  }
}

const NONE: ReadonlySet<TokenErrorCode> = new Set();

/**
 * Errors of a JWT that the gateway would never accept, even with a valid signature, such as an ID token for another audience. A
 * wrong signature is not one of them, because the text that was found may be a valid JWT followed by other characters.
 */
const HARMLESS: ReadonlySet<TokenErrorCode> = new Set([
  'algorithm_not_allowed',
  'type_wrong',
  'issuer_wrong',
  'audience_wrong',
  'claims_wrong',
  'token_expired',
]);

/** Partial responses: a client can request a range that has a token but not the text around it (RFC 9110 section 14, RFC 3229). */
const PARTIAL = new Set([206, 226]);

function toRefusal(code: TokenErrorCode): Refusal {
  if (code === 'keys_unavailable') return new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' } });
  return loginResponseRefused(`login_${code}`);
}

async function decode(headers: RawHeaders, body: Buffer, limitBytes: number): Promise<Buffer> {
  if (!isAsciiText(headers)) throw loginResponseRefused('login_response_charset');
  try {
    return await decodeBody(headers, body, limitBytes);
  } catch (error) {
    if (error instanceof ContentDecodingError) throw loginResponseRefused(`login_response_${error.message}`);
    throw error;
  }
}

function loginResponseRefused(reason: string): Refusal {
  return new Refusal('login_response_refused', { reason });
}

/** Matches charsets in which an ASCII byte always is that character. UTF-16 and UTF-32 only add NUL bytes around it. */
const ASCII_CHARSET =
  /^(?:utf-?(?:8|16|32)(?:[lb]e)?|us-ascii|ascii|latin[1-9]|iso[-_]?8859[-_]\d{1,2}(?:-[ei])?|(?:windows|cp)-?(?:125[0-8]|874)|macintosh|tis-620|windows-31j|koi8-[ru]|euc-(?:jp|kr)|shift[_-]jis|gb2312|gbk|gb18030|big5(?:-hkscs)?)$/i;
const CHARSET = /;\s*charset\s*=\s*"?\s*([^";\s]*)/gi;

/** True unless `Content-Type` names a charset such as UTF-7, in which ASCII bytes can encode other characters. */
function isAsciiText(headers: RawHeaders): boolean {
  return getAllHeaders(headers, 'content-type').every((value) =>
    [...value.matchAll(CHARSET)].every(([, charset = '']) => charset === '' || ASCII_CHARSET.test(charset)),
  );
}
