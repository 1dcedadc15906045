import { hash } from 'node:crypto';
import type { Auth, Introspection, Userinfo } from '../../manifest/manifest.generated.ts';
import { durationMs } from '../../manifest/units.ts';
import { createCachingVerifier, type TokenMethod, type TokenVerifier } from './caching-verifier.ts';
import { claimRules } from './claims.ts';
import { compileIdentityEndpoint, type IdentityEndpoint } from './identity-endpoint.ts';
import { createIntrospectionVerifier } from './introspection.ts';
import { compileJwt } from './jwt.ts';
import { requireSecretFromEnvironment, type TokensContext } from './tokens-context.ts';
import { createUserinfoVerifier } from './userinfo.ts';
import type { Verifier } from './verifier.ts';

/**
 * The verifier of a manifest's tokens; `undefined` once something stands against it.
 *
 * @param previous the verifier in force, kept with all that it knows when its definition did not change
 */
export function compileTokens(
  tokens: Auth['tokens'],
  context: TokensContext,
  previous: Verifier | undefined,
): Verifier | undefined {
  const { jwt, introspection, userinfo } = tokens;
  const entry = jwt ?? introspection ?? userinfo;
  const way =
    (jwt && compileJwt(jwt, context)) ??
    (introspection && compileIntrospection(introspection, context)) ??
    (userinfo && compileUserinfo(userinfo, context));
  if (entry === undefined || way === undefined) return undefined;
  const { cache, clockTolerance } = entry;
  // Of a hash, since a definition holds secrets.
  const key = hash('sha256', JSON.stringify([tokens, way.dependencies]));
  if (previous?.key === key) return previous;
  return createCachingVerifier(key, way.verifier, {
    cache,
    clockToleranceMs: durationMs(clockTolerance),
    staleIfErrorMs: way.staleIfErrorMs,
  });
}

function compileIntrospection(entry: Introspection, context: TokensContext): TokenMethod | undefined {
  const path = ['auth', 'tokens', 'introspection'];
  const isSafe = requireSecretFromEnvironment([...path, 'clientSecret'], context);
  const endpoint = compileIdentityEndpoint(entry, [...path, 'endpoint'], context);
  if (endpoint === undefined || !isSafe) return undefined;
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
  return { verifier, dependencies: [endpoints, timeoutMs, tls], staleIfErrorMs: durationMs(staleIfError) };
}
