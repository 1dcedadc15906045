import type { Auth } from '../../plan/tokens/auth.ts';
import type { Principal } from '../../plan/tokens/verification-result.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';
import type { RequestHead } from './request-head.ts';

const BEARER = /^bearer /i;

/**
 * The verified caller of a request (RFC 6750 section 2.1; no other place for a token is looked at).
 *
 * @throws Refusal `token_missing`, `token_invalid` or `keys_unavailable`; ClientGone
 */
export function authenticate(
  auth: Auth,
  { authorization }: RequestHead,
  exchange: Exchange,
): Principal | Promise<Principal> {
  if (authorization === undefined || !BEARER.test(authorization)) {
    throw new Refusal('token_missing', { headers: { 'WWW-Authenticate': auth.challengePrefix } });
  }
  const token = authorization.slice('bearer '.length);
  return auth.verifier.cached(token) ?? verifyToken(auth, token, exchange);
}

async function verifyToken(auth: Auth, token: string, exchange: Exchange): Promise<Principal> {
  const client = exchange.waitingClient();
  const verdict = await auth.verifier.verify(token, client);
  if (client.signal.aborted) throw new ClientDisconnected();
  if ('principal' in verdict) return verdict.principal;
  if (verdict.code === 'keys_unavailable') {
    const reason = verdict.cause ?? verdict.code;
    throw new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' }, reason });
  }
  // RFC 6750 section 3.1. What exactly was wrong would help who tries tokens: it stands in the log alone.
  const challenge = `${auth.challengePrefix}, error="invalid_token", error_description="the bearer token is not valid"`;
  throw new Refusal('token_invalid', { headers: { 'WWW-Authenticate': challenge }, reason: verdict.code });
}
