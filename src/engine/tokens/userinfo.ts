import type { ClaimRules } from './claims.ts';
import { IdentityClient, type VerificationContext } from './identity-client.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import { createRemoteVerifier, type IdentityResponseReader, readJsonObject } from './identity-response.ts';
import type { TokenVerifier } from './token-method.ts';

/** Creates a verifier that requests the user's claims with each token. The identity service rejects invalid tokens. */
export function createUserinfoVerifier(endpoint: IdentityEndpoint, rules: ClaimRules): TokenVerifier {
  const client = new IdentityClient(endpoint);
  const send = (token: string, context: VerificationContext) =>
    client.send({ Accept: 'application/json', Authorization: `Bearer ${token}` }, undefined, context);
  return createRemoteVerifier(send, readUserinfo, rules);
}

const readUserinfo: IdentityResponseReader = (response) => {
  if (response.status === 401 || response.status === 403) return { code: 'token_inactive' };
  return { claims: readJsonObject(response), bytes: response.body.length };
};
