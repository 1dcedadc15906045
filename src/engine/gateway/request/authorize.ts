import type { ForwardedClaims } from '../../tokens/forwarded-claims.ts';
import type { Auth, Principal } from '../../tokens/verifier.ts';
import { Refusal } from '../response/refusal.ts';

/** Refuses a caller without an allowed role, or with a claim that cannot be forwarded. @throws Refusal `role_not_allowed`, `claim_unusable` */
export function authorize(auth: Auth, principal: Principal, claims?: ForwardedClaims): void {
  if (auth.role.allows(principal)) {
    const lines = claims?.linesOf(principal);
    if (typeof lines === 'string') throw new Refusal('claim_unusable', { reason: lines });
    return;
  }
  const challenge = `${auth.challengePrefix}, error="insufficient_scope"`;
  const detail = auth.role.messageFor(principal.issuer);
  throw new Refusal('role_not_allowed', {
    ...(detail !== undefined && { detail }),
    headers: { 'WWW-Authenticate': challenge },
  });
}
