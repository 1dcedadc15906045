import type { Auth, Principal, VerificationResult } from '../../tokens/verifier.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';
import type { RequestHead } from './request-head.ts';

const BEARER = /^bearer /i;

/**
 * Verifies the bearer token in the `Authorization` header (RFC 6750 section 2.1) and returns the caller. Ignores tokens in the
 * body or the query.
 *
 * @throws Refusal `token_missing`, `token_invalid` or `keys_unavailable`; ClientDisconnected
 */
export function authenticate(auth: Auth, head: RequestHead, exchange: Exchange): Principal | Promise<Principal> {
  const token = readBearerToken(auth, head);
  return auth.verifier.cached(token, auth.issuers) ?? verifyToken(auth, token, exchange);
}

/** @throws Refusal `token_missing` */
export function readBearerToken(auth: Auth, { authorization }: RequestHead): string {
  if (authorization === undefined || !isBearer(authorization)) {
    throw new Refusal('token_missing', { headers: { 'WWW-Authenticate': auth.challengePrefix } });
  }
  return authorization.slice('bearer '.length);
}

/** True if an `Authorization` header has a bearer token. */
export function isBearer(authorization: string): boolean {
  return BEARER.test(authorization);
}

async function verifyToken(auth: Auth, token: string, exchange: Exchange): Promise<Principal> {
  const client = exchange.waitingClient();
  const result = await auth.verifier.verify(token, client, auth.issuers);
  if (client.signal.aborted) throw new ClientDisconnected();
  return principalOf(auth, result);
}

/** Returns the caller of a verified token. @throws Refusal `token_invalid` or `keys_unavailable` */
export function principalOf(auth: Auth, result: VerificationResult): Principal {
  if ('principal' in result) return result.principal;
  if (result.code === 'keys_unavailable') {
    const reason = result.cause ?? result.code;
    throw new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' }, reason });
  }
  // RFC 6750 section 3.1. Only the log has the exact reason, because it would help an attacker who tries tokens.
  const challenge = `${auth.challengePrefix}, error="invalid_token", error_description="the bearer token is not valid"`;
  throw new Refusal('token_invalid', { headers: { 'WWW-Authenticate': challenge }, reason: result.code });
}
