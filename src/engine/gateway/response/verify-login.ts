import { getAllHeaders, type RawHeaders } from '../../http1/raw-headers.ts';
import type { TokenErrorCode } from '../../token-errors.ts';
import type { LoginErrorCode, ResponseTokens } from '../../tokens/find-tokens.ts';
import type { LoginRule } from '../../tokens/login.ts';
import type { Auth, Issuers } from '../../tokens/verifier.ts';
import type { Exchange } from '../exchange.ts';
import { untilClientDisconnects } from '../request/await-validation.ts';
import { ContentDecodingError, decodeBody } from './decode-body.ts';
import { gatewayBusy, Refusal } from './refusal.ts';

/** A complete response in memory. */
interface CompleteResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
  /** As the upstream sent it, still in its content encoding. */
  readonly body: Buffer;
}

interface LoginContext {
  readonly auth: Auth;
  readonly login: LoginRule;
  readonly exchange: Exchange;
}

/**
 * Verifies the tokens in the response of a login route, for every status. Each token at a declared location must be valid and have
 * an allowed role. Any other JWT that the gateway would accept must have an allowed role too. A response without a token, such as
 * an MFA challenge, passes. A response that clients could read in another way than the gateway is refused.
 *
 * @throws Refusal `role_not_allowed`, `login_response_refused`, `keys_unavailable` or `gateway_busy`; ClientDisconnected
 */
export async function verifyLogin({ auth, login, exchange }: LoginContext, response: CompleteResponse): Promise<void> {
  if (response.body.length > 0 && PARTIAL.has(response.status)) throw loginResponseRefused('login_response_partial');
  const tokens = await findTokens(response, login, exchange);
  if (typeof tokens === 'string') throw loginResponseRefused(tokens);
  const { declared, undeclared } = tokens;
  const client = exchange.waitingClient();
  const verify = async (token: string, issuers: Issuers, harmless: ReadonlySet<TokenErrorCode>) => {
    const result = await auth.verifier.verify(token, client, issuers);
    if (!('code' in result)) exchange.authorize(auth, result.principal);
    else if (!harmless.has(result.code)) throw toRefusal(result.code);
  };
  for (const token of declared) {
    if (token === undefined) throw loginResponseRefused('login_token_not_a_string');
    await verify(token, login.issuers, NONE);
  }
  for (const token of undeclared) await verify(token, login.otherIssuers, HARMLESS);
}

const NONE: ReadonlySet<TokenErrorCode> = new Set();

async function findTokens(
  response: CompleteResponse,
  login: LoginRule,
  exchange: Exchange,
): Promise<ResponseTokens | LoginErrorCode> {
  const encodedBody = login.isBodySearched ? response.body : Buffer.alloc(0);
  const body = encodedBody.length === 0 ? encodedBody : await decode(response, login.limitBytes);
  if (body !== encodedBody) exchange.reserve(body.length);
  const search = login.findTokens({ ...response, body, encodedBody }, exchange);
  if (!(search instanceof Promise)) return search;
  const { searchResult, overload } = await untilClientDisconnects(exchange, search);
  if (overload !== undefined) throw gatewayBusy(overload);
  if (searchResult === undefined) throw loginResponseRefused('login_response_too_costly');
  return searchResult;
}

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

async function decode({ headers, body }: CompleteResponse, limitBytes: number): Promise<Buffer> {
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
