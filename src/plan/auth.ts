import type { Auth as AuthEntry } from '../manifest/manifest.generated.ts';
import type { Auth, Verifier } from './plan.ts';
import { compileRole } from './role.ts';
import type { TokensContext } from './tokens/context.ts';
import { compileTokens } from './tokens/tokens.ts';

/** @param previous the verifier in force, kept when its definition did not change */
export function compileAuth(
  entry: AuthEntry,
  context: TokensContext,
  previous: Verifier | undefined,
): Auth | undefined {
  const verifier = compileTokens(entry.tokens, context, previous);
  return (
    verifier && Object.freeze({ verifier, role: compileRole(entry.role), challenge: `Bearer realm="${entry.realm}"` })
  );
}
