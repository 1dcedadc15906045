import { hash } from 'node:crypto';
import type { Auth, Introspection, Userinfo } from '../manifest/manifest.generated.ts';
import { durationMs } from '../manifest/units.ts';
import { createCachingVerifier } from './caching-verifier.ts';
import { type ClaimRules, claimRules } from './claims.ts';
import { createDelegatedVerifier } from './delegated-verifier.ts';
import { IdentityClient, type VerificationContext } from './identity-client.ts';
import { compileIdentityEndpoint, type IdentityEndpoint } from './identity-endpoint.ts';
import {
  createIntrospectionVerifier,
  createRemoteVerifier,
  type IdentityResponseReader,
  readJsonObject,
} from './introspection.ts';
import { compileJwt } from './jwt.ts';
import type { TokenMethod, TokenVerifier } from './token-method.ts';
import { requireSecretFromEnvironment, type TokensContext } from './tokens-context.ts';
import type { Verifier } from './verifier.ts';

/**
 * Compiles the verifier of a manifest's tokens; `undefined` after an error.
 *
 * @param previous the active verifier, which is reused with its cache if its definition did not change
 */
export function compileTokens(
  tokens: Auth['tokens'],
  context: TokensContext,
  previous: Verifier | undefined,
): Verifier | undefined {
  const { jwt, introspection, userinfo } = tokens;
  const entry = jwt ?? introspection ?? userinfo;
  const method =
    (jwt && compileJwt(jwt, context)) ??
    (introspection && compileIntrospection(introspection, context)) ??
    (userinfo && compileUserinfo(userinfo, context));
  if (entry === undefined || method === undefined) return undefined;
  const { cache, clockTolerance } = entry;
  // A hash, since the definition contains secrets.
  const key = hash('sha256', JSON.stringify([tokens, method.dependencies]));
  if (previous?.key === key) return previous;
  const { networkVerifier } = context;
  const verifier = (networkVerifier && method.delegateTo?.(networkVerifier(key))) ?? method.verifier;
  return createCachingVerifier(key, verifier, {
    cache,
    clockToleranceMs: durationMs(clockTolerance),
    staleIfErrorMs: method.staleIfErrorMs,
  });
}

function compileIntrospection(entry: Introspection, context: TokensContext): TokenMethod | undefined {
  const path = ['auth', 'tokens', 'introspection'];
  const isFromEnvironment = requireSecretFromEnvironment([...path, 'clientSecret'], context);
  const endpoint = compileIdentityEndpoint(entry, [...path, 'endpoint'], context);
  if (endpoint === undefined || !isFromEnvironment) return undefined;
  return remoteTokenMethod(createIntrospectionVerifier(entry, endpoint, claimRules(entry)), endpoint, entry);
}

function compileUserinfo(entry: Userinfo, context: TokensContext): TokenMethod | undefined {
  const endpoint = compileIdentityEndpoint(entry, ['auth', 'tokens', 'userinfo', 'endpoint'], context);
  return endpoint && remoteTokenMethod(createUserinfoVerifier(endpoint, claimRules(entry)), endpoint, entry);
}

function remoteTokenMethod(
  verifier: TokenVerifier,
  { endpoints, timeoutMs, tls }: IdentityEndpoint,
  { staleIfError }: Introspection | Userinfo,
): TokenMethod {
  return {
    verifier,
    delegateTo: (network) => createDelegatedVerifier(network, verifier),
    dependencies: [endpoints, timeoutMs, tls],
    staleIfErrorMs: durationMs(staleIfError),
  };
}

/** Creates a verifier that requests the user's claims with each token. The identity service rejects invalid tokens. */
function createUserinfoVerifier(endpoint: IdentityEndpoint, rules: ClaimRules): TokenVerifier {
  const client = new IdentityClient(endpoint);
  const send = (token: string, context: VerificationContext) =>
    client.send({ Accept: 'application/json', Authorization: `Bearer ${token}` }, undefined, context);
  return createRemoteVerifier(send, readUserinfo, rules);
}

const readUserinfo: IdentityResponseReader = (response) => {
  if (response.status === 401 || response.status === 403) return { code: 'token_inactive' };
  return { claims: readJsonObject(response), bytes: response.body.length };
};
