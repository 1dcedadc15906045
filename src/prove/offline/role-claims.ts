import { compilePointer, nestValue } from '../../engine/json-pointer.ts';
import type { Role } from '../../engine/manifest/manifest.generated.ts';
import { rolesIn } from '../../engine/tokens/auth.ts';
import type { CallerClaims } from './stub-verifier.ts';

/** Returns the claims of a caller who has this role and no other claim. */
export function claimsOfRole({ claim, array }: Pick<Role, 'claim' | 'array'>, role: string): CallerClaims {
  return nestValue(claim, array ? [role] : role) as CallerClaims;
}

/** Returns the roles in the claims, read as the gateway reads them. */
export function rolesOf(entry: Role, claims: CallerClaims): readonly string[] {
  return rolesIn(compilePointer(entry.claim)(claims), entry).filter((role) => typeof role === 'string');
}
