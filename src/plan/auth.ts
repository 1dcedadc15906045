import type { Auth as AuthEntry } from '../manifest/manifest.generated.ts';
import type { Auth, Verifier } from './plan.ts';
import { compilePointer } from './pointer.ts';
import type { TokensContext } from './tokens/context.ts';
import { compileTokens } from './tokens/tokens.ts';

/** @param previous the verifier in force, kept when its definition did not change */
export function compileAuth(
  entry: AuthEntry,
  context: TokensContext,
  previous: Verifier | undefined,
): Auth | undefined {
  const roleAt = compilePointer(entry.role.claim);
  const allowed = new Set<unknown>(entry.role.allow);
  const role = {
    allows: ({ claims }: { claims: unknown }) => allowed.has(roleAt(claims)),
    message: entry.role.message,
  };
  const verifier = compileTokens(entry.tokens, context, previous);
  return verifier && Object.freeze({ verifier, role });
}
