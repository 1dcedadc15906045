import { compileInvariants, type Invariant } from '../engine/invariants/compile-invariants.ts';
import { meets } from '../engine/invariants/prove.ts';
import { createRequestSearch } from '../engine/invariants/request-search.ts';
import type { PlannedManifest } from '../engine/load.ts';
import type { Route } from '../engine/plan/route-definition.ts';
import { ANY_ROLE } from '../engine/tokens/token-entries.ts';
import type { Permission, RoleRule } from '../engine/tokens/verifier.ts';

/** The requests of a route that the same checks apply to. */
export type AccessRow = ReturnType<typeof accessMatrix>[number];

/** Returns who may send which requests, in the order of the routes. Methods of a route with different invariants have rows of their own. */
export function accessMatrix({ manifest, plan }: Pick<PlannedManifest, 'manifest' | 'plan'>) {
  const invariants = compileInvariants(manifest, []);
  const search = createRequestSearch(plan);
  return search.routes.flatMap((target) => {
    const { route } = target;
    const isAbout = ({ when }: Invariant, method: string) =>
      meets(route, when) &&
      (when.methods?.includes(method) ?? true) &&
      (when.patterns === undefined || search.find(target, [method], when.patterns) !== undefined);
    const rows = Object.groupBy(route.methods, (method) =>
      invariants.map((invariant) => (isAbout(invariant, method) ? invariant.id : '')).join(' '),
    );
    return Object.values(rows).map((methods = []) => ({
      ...describeRoute(route),
      methods,
      // The invariants that are about some of these requests.
      invariants: invariants
        .filter((invariant) => isAbout(invariant, methods[0] ?? ''))
        .map(({ id, except }) => ({ id, isExcepted: except.some((exception) => exception.route === route.id) })),
    }));
  });
}

/** Returns the callers, rate limits and upstream of a route. */
export function describeRoute({ id, path, access, auth, login, rateLimits, upstream, ownResponse }: Route) {
  const limits = rateLimits === undefined ? [] : Object.values(rateLimits).flat();
  return {
    route: id,
    path,
    access,
    // Those of the callers of a protected route, and of the users that a login lets in. A role from the environment is redacted.
    roles: auth?.role.redactedRoles ?? [],
    // If there are several issuers: those whose tokens may pass, each with its roles.
    rolesByIssuer: auth?.issuers === undefined ? [] : [...auth.issuers].map((issuer) => rolesFrom(issuer, auth.role)),
    // True if a valid token is enough.
    isAnyRole: auth?.role.isAny === true,
    isLogin: login !== undefined,
    rateLimits: limits.map((limit) => limit.id),
    // The name, or the status of a response of the gateway itself.
    upstream: upstream?.id ?? `(${ownResponse?.status})`,
  };
}

/** The roles that the tokens of one issuer need. A role from the environment is redacted. */
function rolesFrom(issuer: Permission[0], { permissions, required, redactedRoles }: RoleRule) {
  const own = permissions.filter(([name]) => name === issuer);
  return { issuer: String(issuer), roles: own.map(([, role]) => redactedRoles[required.indexOf(role)] ?? '') };
}

type CallerRules = Pick<AccessRow, 'access' | 'isLogin' | 'rolesByIssuer' | 'roles'>;

/** Returns who may send the requests of a row: `public, then admin or user`; of several issuers `admin from staff; any role from partners`. */
export function callersOf({ access, isLogin, rolesByIssuer, roles }: CallerRules): string {
  const textOf = (names: readonly string[]) => (names.includes(ANY_ROLE) ? 'any role' : listOf(names));
  if (access === 'public') return isLogin ? `public, then ${textOf(roles)}` : 'public';
  if (rolesByIssuer.length === 0) return textOf(roles);
  return rolesByIssuer.map((rule) => `${textOf(rule.roles)} from ${rule.issuer}`).join('; ');
}

/** `Intl.ListFormat` would take 6 MB in each gateway. */
function listOf(names: readonly string[]): string {
  return names.length < 3 ? names.join(' or ') : `${names.slice(0, -1).join(', ')}, or ${names.at(-1)}`;
}
