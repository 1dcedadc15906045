import { compilePointer } from '../../json-pointer.ts';
import type { Auth as AuthEntry, Role as RoleEntry, RouteEntry } from '../../manifest/manifest.generated.ts';
import { suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { Auth } from './auth.ts';
import type { Principal } from './verification-result.ts';

export interface RoleRule {
  /** Equal for rules that let the same callers in. */
  readonly key: string;
  readonly allows: (principal: Principal) => boolean;
  /** The roles of which one is required. */
  readonly required: readonly string[];
  /** The same as they may be printed. */
  readonly redactedRoles: readonly string[];
  /** The text of the 403, word for word; `undefined`: it came from the environment, and clients may not see it. */
  readonly message: string | undefined;
}

/**
 * @param entry the rule of `auth.role`
 * @param required those of `allow` that are enough, at their path
 */
export function compileRole(
  entry: RoleEntry,
  { isSecret, redactValue }: Secrets,
  required: readonly string[] = entry.allow,
  path: Path = ['auth', 'role', 'allow'],
): RoleRule {
  const roleAt = compilePointer(entry.claim);
  const names = new Set<unknown>(required);
  const isRequired = (role: unknown) => names.has(role);
  // One form or the other: a claim that could be read both ways is no role.
  const isHeld = entry.array
    ? (held: unknown) => Array.isArray(held) && held.some(isRequired)
    : (held: unknown) => isRequired(held);
  const allows = ({ claims }: Principal) => isHeld(roleAt(claims));
  const key = JSON.stringify([entry.claim, entry.array, required]);
  const message = isSecret(['auth', 'role', 'message']) ? undefined : entry.message;
  return Object.freeze({ key, allows, required, redactedRoles: redactValue(required, path), message });
}

export interface RouteAuthContext {
  /** `undefined` when there is none, or it cannot be used. */
  readonly auth: Auth | undefined;
  /** As the manifest has it; `undefined` when the schema has refused it. */
  readonly authEntry: AuthEntry | undefined;
  readonly secrets: Secrets;
}

/** How a route judges its callers: as `auth` says, by fewer roles where the route says so. */
export function compileRouteAuth(
  { access, login, roles }: RouteEntry,
  index: number,
  { auth, authEntry, secrets }: RouteAuthContext,
  findings: Finding[],
): Auth | undefined {
  const isGuarded = access === 'protected' || login !== undefined;
  if (roles !== undefined && !isGuarded) {
    const message = 'nobody is asked for a role on a public route; write access: protected, or remove "roles"';
    findings.push(errorAtKey(['routes', index, 'roles'], 'roles-public', message));
  }
  if (!isGuarded || authEntry === undefined) return undefined;
  const { allow } = authEntry.role;
  for (const [at, role] of (roles ?? []).entries()) {
    if (allow.includes(role)) continue;
    const message = `"${role}" is none of the roles that auth.role allows, and a route cannot widen them${suggestion(role, allow)}`;
    const related = { path: ['auth', 'role', 'allow'], message: 'these are allowed' };
    findings.push({ ...errorAt(['routes', index, 'roles', at], 'role-unknown', message), related });
  }
  if (auth === undefined || roles === undefined) return auth;
  return Object.freeze({ ...auth, role: compileRole(authEntry.role, secrets, roles, ['routes', index, 'roles']) });
}
