import type { Auth, LoginFault, LoginRule, TokenFault, TokensFound, WaitingClient } from '../plan/plan.ts';
import { isAsciiText } from './ascii-charset.ts';
import { authorize } from './authorize.ts';
import { decodeBody, Undecodable } from './decoded-body.ts';
import type { Exchange } from './exchange.ts';
import type { Answer } from './held-answer.ts';
import { untilClientLeaves } from './other-thread.ts';
import { busy, Refusal } from './refusal.ts';

export interface Login {
  readonly auth: Auth;
  readonly login: LoginRule;
  readonly exchange: Exchange;
}

/**
 * The role gate at login, for every response of the route, whatever its status. It is let out when it carries no token (an MFA
 * challenge), or when each token at a stated place verifies and its role is allowed, and no JWT anywhere else is one that the
 * gateway would accept with a role that is not allowed. A response that cannot be read for sure is not let out.
 *
 * @throws Refusal `role_not_allowed`, `login_answer_refused`, `keys_unavailable` or `gateway_busy`; ClientGone
 */
export async function judgeLogin({ auth, login, exchange }: Login, answer: Answer): Promise<void> {
  if (answer.body.length > 0 && PARTIAL.has(answer.status)) throw unreadable('login_answer_partial');
  const found = await tokensOf(answer, login, exchange);
  if (typeof found === 'string') throw unreadable(found);
  const { stated, strays } = found;
  const client = exchange.waitingClient();
  for (const token of stated) {
    if (token === undefined) throw unreadable('login_token_not_a_string');
    await judge({ auth, exchange, client }, token, () => true);
  }
  for (const token of strays) await judge({ auth, exchange, client }, token, (fault) => !HARMLESS.has(fault));
}

async function tokensOf(answer: Answer, login: LoginRule, exchange: Exchange): Promise<TokensFound | LoginFault> {
  const encoded = login.readsBody ? answer.body : Buffer.alloc(0);
  const body = encoded.length === 0 ? encoded : await decode(answer, login.limitBytes);
  if (body !== encoded) exchange.buffer(body.length);
  const search = login.search({ ...answer, body, encoded }, exchange);
  if (!(search instanceof Promise)) return search;
  const { found, overload } = await untilClientLeaves(exchange, search);
  if (overload !== undefined) throw busy(overload);
  if (found === undefined) throw unreadable('login_answer_too_costly');
  return found;
}

interface Judging {
  readonly auth: Auth;
  readonly exchange: Exchange;
  readonly client: WaitingClient;
}

async function judge({ auth, exchange, client }: Judging, token: string, isRefused: (fault: TokenFault) => boolean) {
  const verdict = await auth.verifier.verify(token, client);
  if ('fault' in verdict) {
    if (isRefused(verdict.fault)) throw toRefusal(verdict.fault);
    return;
  }
  exchange.principal = verdict.principal;
  authorize(auth, verdict.principal);
}

/**
 * By these the gateway accepts a JWT neither now nor later, whoever signed it: an ID token for somebody else, say. A signature that
 * is wrong is not among them: other characters may stand behind a good one.
 */
const HARMLESS: ReadonlySet<TokenFault> = new Set([
  'algorithm_not_allowed',
  'type_wrong',
  'issuer_wrong',
  'audience_wrong',
  'claims_wrong',
  'token_expired',
]);

/** A client that asks for a range chooses what stands in the answer (RFC 9110 section 14, RFC 3229): that may be a token without its place. */
const PARTIAL = new Set([206, 226]);

function toRefusal(fault: TokenFault): Refusal {
  if (fault === 'keys_unavailable') return new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' } });
  return unreadable(`login_${fault}`);
}

async function decode({ headers, body }: Answer, limitBytes: number): Promise<Buffer> {
  if (!isAsciiText(headers)) throw unreadable('login_answer_charset');
  try {
    return await decodeBody(headers, body, limitBytes);
  } catch (error) {
    if (error instanceof Undecodable) throw unreadable(`login_answer_${error.message}`);
    throw error;
  }
}

function unreadable(reason: string): Refusal {
  return new Refusal('login_answer_refused', { reason });
}
