import { hash } from 'node:crypto';
import type { Auth } from '../manifest/manifest.generated.ts';
import { durationMs } from '../manifest/units.ts';
import { CachingVerifier } from './caching-verifier.ts';
import { compileJwt } from './jwt.ts';
import { compileIntrospection, compileUserinfo } from './remote-tokens.ts';
import type { TokensContext } from './tokens-context.ts';
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
  return new CachingVerifier(key, verifier, {
    cache,
    clockToleranceMs: durationMs(clockTolerance),
    staleIfErrorMs: method.staleIfErrorMs,
  });
}
