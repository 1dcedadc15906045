import type { Auth, Principal } from '../../tokens/verifier.ts';
import { Refusal } from '../response/refusal.ts';

/** Refuses a caller without an allowed role. @throws Refusal `role_not_allowed`, with the message from the manifest */
export function authorize(auth: Auth, principal: Principal): void {
  if (auth.role.allows(principal)) return;
  const challenge = `${auth.challengePrefix}, error="insufficient_scope"`;
  throw new Refusal('role_not_allowed', {
    ...(auth.role.message !== undefined && { detail: auth.role.message }),
    headers: { 'WWW-Authenticate': challenge },
  });
}
