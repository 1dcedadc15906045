import type { Introspection } from '../../manifest/manifest.generated.ts';
import type { TokenVerifier } from './caching-verifier.ts';
import type { ClaimRules } from './claims.ts';
import { IdentityClient, type VerificationContext } from './identity-client.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import { IdentityError, type IdentityResponse } from './identity-request.ts';
import { createRemoteVerifier, type IdentityResponseReader, readJsonObject } from './identity-response.ts';

/** Tokens are judged by what the issuer answers about each (RFC 7662). */
export function createIntrospectionVerifier(
  entry: Introspection,
  endpoint: IdentityEndpoint,
  rules: ClaimRules,
): TokenVerifier {
  const client = new IdentityClient(endpoint);
  const { headers, form } = clientAuthentication(entry);
  const put = (token: string, asking: VerificationContext): Promise<IdentityResponse> => {
    const parameters = new URLSearchParams({ token, token_type_hint: 'access_token', ...form });
    return client.send(headers, parameters.toString(), asking);
  };
  return createRemoteVerifier(put, readIntrospection, rules);
}

const readIntrospection: IdentityResponseReader = (reply) => {
  const answer = readJsonObject(reply);
  const { active, token_type: type } = answer;
  // Not true, and not false either: whoever answers so has not said what the token is.
  if (typeof active !== 'boolean') throw new IdentityError('active_not_boolean');
  if (!active) return { code: 'token_inactive' };
  return isBearerType(type) ? { claims: answer, bytes: reply.body.length } : { code: 'type_wrong' };
};

/** A refresh token is no access token, and one that is bound to a key is not its bearer's alone. */
function isBearerType(type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && /^(bearer|access_token)$/i.test(type));
}

/** RFC 6749 section 2.3.1; for `basic` both are form-encoded first. */
function clientAuthentication({ clientId, clientSecret, clientAuthentication }: Introspection) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' };
  if (clientAuthentication === 'post') return { headers, form: { client_id: clientId, client_secret: clientSecret } };
  const credentials = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64');
  return { headers: { ...headers, Authorization: `Basic ${credentials}` }, form: {} };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
