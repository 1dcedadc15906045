import type { FetchResponse } from '../http1/fetch-response.ts';
import { getAllHeaders } from '../http1/raw-headers.ts';
import type { Introspection, Userinfo } from '../manifest/manifest.generated.ts';
import { durationMs } from '../manifest/units.ts';
import type { Path } from '../problem/finding.ts';
import { isMap } from '../schema/schema-walk.ts';
import { requireSecretFromEnvironment } from '../settings/compile-context.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import { claimRules, claimsError, type TokenClaims } from './claims.ts';
import { createDelegatedVerifier } from './delegated-verifier.ts';
import { IdentityClient, type TokenRequest } from './identity-client.ts';
import {
  compileIdentityEndpoint,
  type IdentityEndpoint,
  IdentityError,
  type TokensContext,
} from './identity-endpoint.ts';
import type { TokenMethod, TokenVerifier } from './token-method.ts';
import { isBearerToken } from './token-syntax.ts';
import type { RejectedToken } from './verifier.ts';

/** Compiles a verifier that sends each token to the issuer (RFC 7662). */
export function compileIntrospection(
  entry: Introspection,
  path: Path,
  context: TokensContext,
): TokenMethod | undefined {
  const isFromEnvironment = requireSecretFromEnvironment([...path, 'clientSecret'], context);
  const endpoint = compileIdentityEndpoint(entry, [...path, 'endpoint'], context);
  if (endpoint === undefined || !isFromEnvironment) return undefined;
  const { headers, form } = clientAuthentication(entry);
  return remoteTokenMethod(entry, endpoint, readIntrospection, (token) => {
    const parameters = new URLSearchParams({ token, token_type_hint: 'access_token', ...form });
    return { headers, form: parameters.toString() };
  });
}

/** Compiles a verifier that requests the user's claims with each token. The identity service rejects invalid tokens. */
export function compileUserinfo(entry: Userinfo, path: Path, context: TokensContext): TokenMethod | undefined {
  const endpoint = compileIdentityEndpoint(entry, [...path, 'endpoint'], context);
  return (
    endpoint &&
    remoteTokenMethod(entry, endpoint, readUserinfo, (token) => ({
      headers: { Accept: 'application/json', Authorization: `Bearer ${token}` },
    }))
  );
}

function remoteTokenMethod(
  entry: Introspection | Userinfo,
  endpoint: IdentityEndpoint,
  read: IdentityResponseReader,
  requestFor: (token: string) => TokenRequest,
): TokenMethod {
  const service = new IdentityClient(endpoint);
  const rules = claimRules(entry);
  const verify: TokenVerifier['verify'] = async (token, client) => {
    // A malformed token is rejected without a request.
    if (!isBearerToken(token)) return { code: 'token_malformed' };
    try {
      const result = read(await service.send(requestFor(token), client));
      if ('code' in result) return result;
      const code = claimsError(result.claims, rules);
      return code === undefined ? result : { code };
    } catch (error) {
      return { code: 'keys_unavailable', cause: error instanceof IdentityError ? error.message : String(error) };
    }
  };
  const verifier = { verify, isRemote: true };
  const { endpoints, timeoutMs, tls } = endpoint;
  return {
    verifier,
    delegateTo: (network) => createDelegatedVerifier(network, verifier),
    dependencies: [endpoints, timeoutMs, tls],
    staleIfErrorMs: durationMs(entry.staleIfError),
  };
}

const readUserinfo: IdentityResponseReader = (response) => {
  if (response.status === 401 || response.status === 403) return { code: 'token_inactive' };
  return { claims: readJsonObject(response), bytes: response.body.length };
};

const JSON_TYPE = /^\s*application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

/** Reads a token's claims, or its rejection, from a response. Throws an `IdentityError` if the response has neither. */
type IdentityResponseReader = (
  response: FetchResponse,
) => { readonly claims: TokenClaims; readonly bytes: number } | RejectedToken;

/** Reads a strict JSON object from a response with status 200. Throws an `IdentityError` for any other response. */
function readJsonObject({ status, headers, body }: FetchResponse): TokenClaims {
  if (status !== 200) throw new IdentityError(`status_${status}`);
  // Of two headers either could apply.
  const [type, other] = getAllHeaders(headers, 'content-type');
  const isJson = type !== undefined && other === undefined && JSON_TYPE.test(type);
  const parsed = isJson ? parseStrictJson(body) : undefined;
  if (parsed === undefined || 'violation' in parsed || !isMap(parsed.value))
    throw new IdentityError('response_not_json');
  return parsed.value;
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
