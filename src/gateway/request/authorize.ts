import type { Auth } from '../../plan/tokens/auth.ts';
import type { Principal } from '../../plan/tokens/verification-result.ts';
import { Refusal } from '../response/refusal.ts';

/** Checks the role of the caller. @throws Refusal `role_not_allowed`, with the message of the manifest */
export function authorize(auth: Auth, principal: Principal): void {
  if (auth.role.allows(principal)) return;
  const challenge = `${auth.challengePrefix}, error="insufficient_scope"`;
  throw new Refusal('role_not_allowed', {
    ...(auth.role.message !== undefined && { detail: auth.role.message }),
    headers: { 'WWW-Authenticate': challenge },
  });
}
