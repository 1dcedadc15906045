import type { Introspection } from '../manifest/manifest.generated.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import { type ClaimRules, claimsError, isJsonObject, type TokenClaims } from './claims.ts';
import { IdentityClient, type VerificationContext } from './identity-client.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import { IdentityError, type IdentityResponse } from './identity-request.ts';
import type { TokenVerifier, VerifiedToken } from './token-method.ts';
import { isBearerToken } from './token-syntax.ts';
import type { RejectedToken } from './verifier.ts';

const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json$/;

/** Reads a token's claims, or its rejection, from a response. Throws an `IdentityError` if the response has neither. */
export type IdentityResponseReader = (
  response: IdentityResponse,
) => { readonly claims: TokenClaims; readonly bytes: number } | RejectedToken;

/** Creates a verifier that sends a request for each token. A malformed token is rejected without a request. */
export function createRemoteVerifier(
  send: (token: string, context: VerificationContext) => Promise<IdentityResponse>,
  read: IdentityResponseReader,
  rules: ClaimRules,
): TokenVerifier {
  const verify = async (token: string, context: VerificationContext): Promise<VerifiedToken | RejectedToken> => {
    if (!isBearerToken(token)) return { code: 'token_malformed' };
    try {
      const result = read(await send(token, context));
      if ('code' in result) return result;
      const code = claimsError(result.claims, rules);
      return code === undefined ? result : { code };
    } catch (error) {
      return { code: 'keys_unavailable', cause: error instanceof IdentityError ? error.message : String(error) };
    }
  };
  return { verify, isRemote: true };
}

/** Reads a strict JSON object from a response with status 200. Throws an `IdentityError` for any other response. */
export function readJsonObject({ status, mediaType, body }: IdentityResponse): TokenClaims {
  if (status !== 200) throw new IdentityError(`status_${status}`);
  const parsed = JSON_TYPE.test(mediaType) ? parseStrictJson(body) : undefined;
  if (parsed === undefined || 'violation' in parsed || !isJsonObject(parsed.value))
    throw new IdentityError('response_not_json');
  return parsed.value;
}

/** Creates a verifier that sends each token to the issuer (RFC 7662). */
export function createIntrospectionVerifier(
  entry: Introspection,
  endpoint: IdentityEndpoint,
  rules: ClaimRules,
): TokenVerifier {
  const client = new IdentityClient(endpoint);
  const { headers, form } = clientAuthentication(entry);
  const send = (token: string, context: VerificationContext): Promise<IdentityResponse> => {
    const parameters = new URLSearchParams({ token, token_type_hint: 'access_token', ...form });
    return client.send(headers, parameters.toString(), context);
  };
  return createRemoteVerifier(send, readIntrospection, rules);
}

const readIntrospection: IdentityResponseReader = (response) => {
  const claims = readJsonObject(response);
  const { active, token_type: type } = claims;
  // Without a boolean the issuer has neither accepted nor rejected the token.
  if (typeof active !== 'boolean') throw new IdentityError('active_not_boolean');
  if (!active) return { code: 'token_inactive' };
  return isBearerType(type) ? { claims, bytes: response.body.length } : { code: 'type_wrong' };
};

/** Returns false for refresh tokens, and for tokens that are bound to a key, which a caller may use only with that key. */
function isBearerType(type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && /^(bearer|access_token)$/i.test(type));
}

/** Authenticates by RFC 6749 section 2.3.1, which form-encodes the id and the secret before `Basic` encodes them. */
function clientAuthentication({ clientId, clientSecret, clientAuthentication }: Introspection) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' };
  if (clientAuthentication === 'post') return { headers, form: { client_id: clientId, client_secret: clientSecret } };
  const credentials = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64');
  return { headers: { ...headers, Authorization: `Basic ${credentials}` }, form: {} };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
