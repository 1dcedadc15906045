import { compilePointer, nestValue } from '../../engine/json-pointer.ts';
import type { Auth, Manifest, Role } from '../../engine/manifest/manifest.generated.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { ANY_ROLE, claimHeadersOf, rolesIn, type TokenEntry, tokenEntries } from '../../engine/tokens/token-entries.ts';
import type { CallerClaims } from './stub-verifier.ts';

/** Returns the token method of a caller: the named one, or the first one that allows the role, or the first one. */
export function methodOf(auth: Auth | undefined, issuer?: string, role?: string): TokenEntry | undefined {
  const entries = tokenEntries(auth);
  const isMeant = (entry: TokenEntry) =>
    issuer === undefined ? role !== undefined && entry.allow.includes(role) : entry.name === issuer;
  return entries.find(isMeant) ?? entries[0];
}

/** Returns a caller with this role. Its claims are those of the role, and a text for each claim that a route must forward. */
export function callerOfRole({ auth, routes }: Pick<Manifest, 'auth' | 'routes'>, role: string, issuer?: string) {
  const method = methodOf(auth, issuer, role);
  let claims: unknown = method === undefined ? {} : claimsOfRole(method.role, role);
  for (const { claim, missing } of routes.flatMap((route) => claimHeadersOf(route, auth?.forward)))
    if (missing === 'refuse') claims = addMissing(claims, nestValue(claim, 'someone'));
  return { claims: claims as CallerClaims, issuer: method?.issuer };
}

/** Returns the claims of a caller who has this role and no other claim. With `role: any` no claim is a role. */
export function claimsOfRole(entry: 'any' | Pick<Role, 'claim' | 'array'>, role: string): CallerClaims {
  return entry === ANY_ROLE ? {} : (nestValue(entry.claim, entry.array ? [role] : role) as CallerClaims);
}

/** Adds the members of the second value that the first one lacks. */
function addMissing(value: unknown, other: unknown): unknown {
  if (!isMap(value) || !isMap(other)) return value ?? other;
  const names = [...new Set([...Object.keys(value), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, addMissing(value[name], other[name])]));
}

/** Returns the roles in the claims, read as the gateway reads them. */
export function rolesOf(entry: 'any' | Role, claims: CallerClaims): readonly string[] {
  if (entry === ANY_ROLE) return [];
  return rolesIn(compilePointer(entry.claim)(claims), entry).filter((role) => typeof role === 'string');
}
