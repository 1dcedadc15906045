import { compilePointer, nestValue } from '../../engine/json-pointer.ts';
import type { Role } from '../../engine/manifest/manifest.generated.ts';
import { ANY_ROLE, rolesIn } from '../../engine/tokens/auth.ts';
import type { CallerClaims } from './stub-verifier.ts';

/** Returns the claims of a caller who has this role and no other claim. With `role: any` no claim is a role. */
export function claimsOfRole(entry: 'any' | Pick<Role, 'claim' | 'array'>, role: string): CallerClaims {
  return entry === ANY_ROLE ? {} : (nestValue(entry.claim, entry.array ? [role] : role) as CallerClaims);
}

/** Returns the roles in the claims, read as the gateway reads them. */
export function rolesOf(entry: 'any' | Role, claims: CallerClaims): readonly string[] {
  if (entry === ANY_ROLE) return [];
  return rolesIn(compilePointer(entry.claim)(claims), entry).filter((role) => typeof role === 'string');
}
