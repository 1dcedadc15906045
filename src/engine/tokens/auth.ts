import type { Auth as AuthEntry } from '../manifest/manifest.generated.ts';
import { compileTokens } from './compile-tokens.ts';
import { compileRole, type RoleRule } from './role.ts';
import type { TokensContext } from './tokens-context.ts';
import type { Verifier } from './verifier.ts';

export interface Auth {
  readonly verifier: Verifier;
  readonly role: RoleRule;
  /** The start of every challenge: the scheme and the realm (RFC 6750 section 3). */
  readonly challengePrefix: string;
}

/** The schema's default. */
const DEFAULT_REALM = 'signing-gateway';

/** @param previous the active verifier, which is reused if its definition did not change */
export function compileAuth(
  entry: AuthEntry,
  context: TokensContext,
  previous: Verifier | undefined,
): Auth | undefined {
  const verifier = compileTokens(entry.tokens, context, previous);
  if (verifier === undefined) return undefined;
  const { secrets } = context;
  // Clients never see a value from the environment.
  const realm = secrets.isSecret(['auth', 'realm']) ? DEFAULT_REALM : entry.realm;
  return Object.freeze({
    verifier,
    role: compileRole(entry.role, secrets),
    challengePrefix: `Bearer realm="${realm}"`,
  });
}
