import type { Auth } from '../../plan/tokens/auth.ts';
import type { LoginErrorCode, ResponseTokens } from '../../plan/tokens/find-tokens.ts';
import type { LoginRule } from '../../plan/tokens/login.ts';
import type { TokenErrorCode } from '../../plan/tokens/verification-result.ts';
import type { VerificationClient } from '../../plan/tokens/verifier.ts';
import type { Exchange } from '../exchange.ts';
import { authorize } from '../request/authorize.ts';
import { untilClientDisconnects } from '../request/await-validation.ts';
import { isAsciiText } from './ascii-charset.ts';
import type { CompleteResponse } from './buffered-response.ts';
import { ContentDecodingError, decodeBody } from './decode-body.ts';
import { gatewayBusy, Refusal } from './refusal.ts';

export interface LoginContext {
  readonly auth: Auth;
  readonly login: LoginRule;
  readonly exchange: Exchange;
}

/**
 * The role gate at login, for every response of the route, whatever its status. It is let out when it carries no token (an MFA
 * challenge), or when each token at a stated place verifies and its role is allowed, and no JWT anywhere else is one that the
 * gateway would accept with a role that is not allowed. A response that cannot be read for sure is not let out.
 *
 * @throws Refusal `role_not_allowed`, `login_response_refused`, `keys_unavailable` or `gateway_busy`; ClientGone
 */
export async function verifyLogin({ auth, login, exchange }: LoginContext, answer: CompleteResponse): Promise<void> {
  if (answer.body.length > 0 && PARTIAL.has(answer.status)) throw loginResponseRefused('login_response_partial');
  const found = await findTokens(answer, login, exchange);
  if (typeof found === 'string') throw loginResponseRefused(found);
  const { declared, undeclared } = found;
  const client = exchange.waitingClient();
  for (const token of declared) {
    if (token === undefined) throw loginResponseRefused('login_token_not_a_string');
    await verifyToken({ auth, exchange, client }, token, () => true);
  }
  for (const token of undeclared) await verifyToken({ auth, exchange, client }, token, (fault) => !HARMLESS.has(fault));
}

async function findTokens(
  answer: CompleteResponse,
  login: LoginRule,
  exchange: Exchange,
): Promise<ResponseTokens | LoginErrorCode> {
  const encodedBody = login.isBodySearched ? answer.body : Buffer.alloc(0);
  const body = encodedBody.length === 0 ? encodedBody : await decode(answer, login.limitBytes);
  if (body !== encodedBody) exchange.reserve(body.length);
  const search = login.findTokens({ ...answer, body, encodedBody }, exchange);
  if (!(search instanceof Promise)) return search;
  const { result, overload } = await untilClientDisconnects(exchange, search);
  if (overload !== undefined) throw gatewayBusy(overload);
  if (result === undefined) throw loginResponseRefused('login_response_too_costly');
  return result;
}

interface TokenContext {
  readonly auth: Auth;
  readonly exchange: Exchange;
  readonly client: VerificationClient;
}

async function verifyToken(
  { auth, exchange, client }: TokenContext,
  token: string,
  isRefused: (fault: TokenErrorCode) => boolean,
) {
  const verdict = await auth.verifier.verify(token, client);
  if ('code' in verdict) {
    if (isRefused(verdict.code)) throw toRefusal(verdict.code);
    return;
  }
  exchange.principal = verdict.principal;
  authorize(auth, verdict.principal);
}

/**
 * By these the gateway accepts a JWT neither now nor later, whoever signed it: an ID token for somebody else, say. A signature that
 * is wrong is not among them: other characters may stand behind a good one.
 */
const HARMLESS: ReadonlySet<TokenErrorCode> = new Set([
  'algorithm_not_allowed',
  'type_wrong',
  'issuer_wrong',
  'audience_wrong',
  'claims_wrong',
  'token_expired',
]);

/** A client that asks for a range chooses what stands in the answer (RFC 9110 section 14, RFC 3229): that may be a token without its place. */
const PARTIAL = new Set([206, 226]);

function toRefusal(fault: TokenErrorCode): Refusal {
  if (fault === 'keys_unavailable') return new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' } });
  return loginResponseRefused(`login_${fault}`);
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
