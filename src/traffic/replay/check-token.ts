import type { Refusal } from '../../engine/gateway/response/refusal.ts';
import type { Auth } from '../../engine/tokens/verifier.ts';
import { createRefusal } from './logged-facts.ts';

/**
 * Returns what a plan does with the token of a logged request; `undefined` if the log does not determine it.
 *
 * @param result of the plan that wrote the log, whose rules are `loggedAuth`
 * @param issuer the method that accepted the token
 */
export function checkToken(auth: Auth, loggedAuth: Auth, result: 'passed' | Refusal, issuer: string | undefined) {
  if (loggedAuth.tokensKey === auth.tokensKey) return result;
  const { issuers: before, verifier } = loggedAuth;
  const { issuers: after } = auth;
  // Equal methods choose and verify alike. Only the accepted ones may differ.
  if (before === undefined || after === undefined || verifier.key !== auth.verifier.key) return undefined;
  if (result === 'passed') {
    if (issuer === undefined) return undefined;
    return after.has(issuer) ? result : createRefusal('token_invalid', undefined, { reason: 'issuer_wrong' });
  }
  // No method is added that could accept the token, and none removed that refused it.
  const isSame = result.reason === 'issuer_wrong' ? after.isSubsetOf(before) : before.isSubsetOf(after);
  return isSame ? result : undefined;
}
