import type { Role } from '../manifest/manifest.generated.ts';
import { compilePointer, valueBelow } from '../plan/pointer.ts';
import type { Claims } from './stated-tokens.ts';

/** The claims of a caller of this role, and of nothing else. */
export function claimsOfRole({ claim, array }: Role, role: string): Claims {
  return valueBelow(claim, array ? [role] : role) as Claims;
}

/** The roles that claims say, as the gateway would read them. */
export function rolesOf({ claim, array }: Role, claims: Claims): readonly string[] {
  const held = compilePointer(claim)(claims);
  if (array) return Array.isArray(held) ? held.filter((role) => typeof role === 'string') : [];
  return typeof held === 'string' ? [held] : [];
}
