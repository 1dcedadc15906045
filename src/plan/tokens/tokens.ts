import { hash } from 'node:crypto';
import type { Auth, Introspection, Userinfo } from '../../manifest/manifest.generated.ts';
import { durationMs } from '../../manifest/units.ts';
import type { Verifier } from '../plan.ts';
import { claimRules } from './claims.ts';
import { isSecretOutside, type TokensContext } from './context.ts';
import { compileEndpoint, type Endpoint } from './endpoint.ts';
import { introspectionJudge } from './introspection.ts';
import { compileJwt } from './jwt.ts';
import { userinfoJudge } from './userinfo.ts';
import { createVerifier, type Judge, type Way } from './verifier.ts';

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
  const key = hash('sha256', JSON.stringify([tokens, way.outside]));
  if (previous?.key === key) return previous;
  return createVerifier(key, way.judge, { cache, toleranceMs: durationMs(clockTolerance), staleMs: way.staleMs });
}

function compileIntrospection(entry: Introspection, context: TokensContext): Way | undefined {
  const path = ['auth', 'tokens', 'introspection'];
  const isSafe = isSecretOutside([...path, 'clientSecret'], context);
  const endpoint = compileEndpoint(entry, [...path, 'endpoint'], context);
  if (endpoint === undefined || !isSafe) return undefined;
  return askingWay(introspectionJudge(entry, endpoint, claimRules(entry)), endpoint, entry);
}

function compileUserinfo(entry: Userinfo, context: TokensContext): Way | undefined {
  const endpoint = compileEndpoint(entry, ['auth', 'tokens', 'userinfo', 'endpoint'], context);
  return endpoint && askingWay(userinfoJudge(endpoint, claimRules(entry)), endpoint, entry);
}

function askingWay(
  judge: Judge,
  { targets, timeoutMs, tls }: Endpoint,
  { staleIfError }: Introspection | Userinfo,
): Way {
  return { judge, outside: [targets, timeoutMs, tls], staleMs: durationMs(staleIfError) };
}
