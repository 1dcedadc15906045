import { compileInvariants, type Invariant } from '../engine/invariants/compile-invariants.ts';
import { meets } from '../engine/invariants/prove.ts';
import { createRequestSearch } from '../engine/invariants/request-search.ts';
import type { PlannedManifest } from '../engine/load.ts';
import type { Route } from '../engine/plan/route-definition.ts';

/** The requests of a route that the same checks apply to. */
export interface AccessRow {
  readonly route: string;
  readonly methods: readonly string[];
  readonly path: string;
  readonly access: Route['access'];
  /** The roles of the callers of a protected route, and of the users that a login lets in. A role from the environment is redacted. */
  readonly roles: readonly string[];
  /** The token methods of the callers of a protected route; empty if there is only one. */
  readonly issuers: readonly string[];
  /** True if a valid token is enough. */
  readonly isAnyRole: boolean;
  readonly isLogin: boolean;
  readonly rateLimits: readonly string[];
  /** The invariants that are about some of these requests. */
  readonly invariants: readonly { readonly id: string; readonly isExcepted: boolean }[];
  /** The name, or the status of a response of the gateway itself in parentheses. */
  readonly upstream: string;
}

/** Returns who may send which requests, in the order of the routes. Methods of a route with different invariants have rows of their own. */
export function accessMatrix({ manifest, plan }: Pick<PlannedManifest, 'manifest' | 'plan'>): AccessRow[] {
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
      invariants: invariants
        .filter((invariant) => isAbout(invariant, methods[0] ?? ''))
        .map(({ id, except }) => ({ id, isExcepted: except.some((exception) => exception.route === route.id) })),
    }));
  });
}

function describeRoute({ id, path, access, auth, login, rateLimits, upstream, ownResponse }: Route) {
  const limits = rateLimits === undefined ? [] : Object.values(rateLimits).flat();
  return {
    route: id,
    path,
    access,
    roles: auth?.role.redactedRoles ?? [],
    issuers: [...(auth?.issuers ?? [])].map(String),
    isAnyRole: auth?.role.isAny === true,
    isLogin: login !== undefined,
    rateLimits: limits.map((limit) => limit.id),
    upstream: upstream?.id ?? `(${ownResponse?.status})`,
  };
}

/** Returns who may send the requests of a row: `public, then admin or user`. */
export function callersOf({ access, isLogin, isAnyRole, issuers, roles }: AccessRow): string {
  const choice = new Intl.ListFormat('en', { type: 'disjunction' });
  const allowed = isAnyRole ? 'any role' : choice.format(roles);
  if (access === 'protected') return issuers.length === 0 ? allowed : `${allowed}, from ${choice.format(issuers)}`;
  return isLogin ? `public, then ${allowed}` : 'public';
}
