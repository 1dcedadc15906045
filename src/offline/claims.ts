import { compilePointer, nestValue } from '../json-pointer.ts';
import type { Role } from '../manifest/manifest.generated.ts';
import type { CallerClaims } from './stub-verifier.ts';

/** The claims of a caller of this role, and of nothing else. */
export function claimsOfRole({ claim, array }: Role, role: string): CallerClaims {
  return nestValue(claim, array ? [role] : role) as CallerClaims;
}

/** The roles that claims say, as the gateway would read them. */
export function rolesOf({ claim, array }: Role, claims: CallerClaims): readonly string[] {
  const held = compilePointer(claim)(claims);
  if (array) return Array.isArray(held) ? held.filter((role) => typeof role === 'string') : [];
  return typeof held === 'string' ? [held] : [];
}
