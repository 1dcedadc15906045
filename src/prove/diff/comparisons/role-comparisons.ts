import type { Comparison, DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, matchedRoutes } from '../matched-routes.ts';
import type { DiffRoute, DiffSide } from '../side.ts';

export const roleComparison: Comparison = {
  rules: {
    'role-widened': ['error', 'A role is now allowed, on every route or on a route with its own list.'],
    'role-narrowed': ['warning', 'A role is no longer allowed, on every route or on a route with its own list.'],
  },
  *find(sides) {
    const widened = ['these roles are now allowed', 'now allows these roles'] as const;
    yield* missingRoles(sides, 'role-widened', 'old', 'next', widened);
    const narrowed = ['these roles are no longer allowed', 'no longer allows these roles'] as const;
    yield* missingRoles(sides, 'role-narrowed', 'next', 'old', narrowed);
  },
};

/** Yields the roles that only the side `more` allows: by default, and on the routes that list roles. */
function* missingRoles(
  sides: DiffContext,
  rule: string,
  less: 'old' | 'next',
  more: 'old' | 'next',
  [messageOfAll, messageOfRoute]: readonly [string, string],
): Generator<DiffFinding> {
  const hasAuth = sides.old.manifest.auth !== undefined && sides.next.manifest.auth !== undefined;
  const roles = hasAuth ? missingFrom(allowedRoles(sides[less]), allowedRoles(sides[more])) : [];
  if (roles.length > 0) yield { rule, message: `${messageOfAll}: ${printed(roles)}`, path: ALLOW };
  for (const pair of pairsWithRoles(sides)) {
    const routes = { old: pair.from, next: pair.to };
    const missing = missingFrom(requiredRoles(routes[less], sides[less]), requiredRoles(routes[more], sides[more]));
    if (missing.length > 0)
      yield findingAtKey(pair, rule, 'roles', `${messageOfRoute}: ${printed(missing)}`, callerWitness(pair, missing));
  }
}

const ALLOW = ['auth', 'role', 'allow'];

/** Yields the pairs whose routes list roles. A change of the default list is reported once, at that list. */
function* pairsWithRoles(sides: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of matchedRoutes(sides)) {
    const isProtected = pair.from.route.auth !== undefined && pair.to.route.auth !== undefined;
    if (isProtected && (pair.from.entry.roles ?? pair.to.entry.roles) !== undefined) yield pair;
  }
}

function printed(roles: readonly (readonly [role: string, text: string])[]): string {
  return roles.map(([, text]) => text).join(', ');
}

/** Returns a request of a caller with one of the roles. A public route checks them only in the responses of a login. */
function callerWitness(
  { request, from, to }: MatchedRoutePair,
  [role]: readonly (readonly [role: string, text: string])[],
): DiffWitness | undefined {
  const isProtected = from.route.access === 'protected' && to.route.access === 'protected';
  return request === undefined || role === undefined || !isProtected
    ? undefined
    : { request: { ...request, role: role[0] } };
}

/** The roles of a list, with the text that may be printed for each one. */
type RoleNames = ReadonlyMap<string, string>;

function allowedRoles({ manifest, redacted }: DiffSide): RoleNames {
  return namesOf(manifest.auth?.role.allow, redacted.auth?.role.allow);
}

function requiredRoles({ entry, redactedEntry }: DiffRoute, side: DiffSide): RoleNames {
  return entry.roles === undefined ? allowedRoles(side) : namesOf(entry.roles, redactedEntry.roles);
}

function namesOf(roles: readonly string[] = [], redacted: readonly string[] = []): RoleNames {
  return new Map(roles.map((role, index) => [role, redacted[index] ?? '']));
}

/** Returns the roles that the list lacks. */
function missingFrom(list: RoleNames, roles: RoleNames): readonly (readonly [role: string, printed: string])[] {
  return [...roles].filter(([role]) => !list.has(role));
}
