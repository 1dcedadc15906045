import type { TokenVerifier } from './caching-verifier.ts';
import type { ClaimRules } from './claims.ts';
import { IdentityClient, type VerificationContext } from './identity-client.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import { createRemoteVerifier, type IdentityResponseReader, readJsonObject } from './identity-response.ts';

/** Tokens are judged by what the identity service answers to them: who the user is, or that it does not know. */
export function createUserinfoVerifier(endpoint: IdentityEndpoint, rules: ClaimRules): TokenVerifier {
  const client = new IdentityClient(endpoint);
  const put = (token: string, asking: VerificationContext) =>
    client.send({ Accept: 'application/json', Authorization: `Bearer ${token}` }, undefined, asking);
  return createRemoteVerifier(put, readUserinfo, rules);
}

const readUserinfo: IdentityResponseReader = (reply) => {
  if (reply.status === 401 || reply.status === 403) return { code: 'token_inactive' };
  return { claims: readJsonObject(reply), bytes: reply.body.length };
};
