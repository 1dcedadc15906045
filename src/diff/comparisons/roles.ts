import type { Comparison, DiffContext } from '../difference.ts';
import type { DiffRoute, DiffSide } from '../side.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const roleWidened: Comparison = {
  id: 'role-widened',
  severity: 'error',
  description: 'A role is now allowed, on every route or on a route with its own list.',
  *find(sides) {
    const roles = hasAuth(sides) ? missingFrom(allowedRoles(sides.old), allowedRoles(sides.next)) : [];
    if (roles.length > 0) yield { message: `these roles are now allowed: ${roles.join(', ')}`, path: ALLOW };
    for (const pair of pairsWithRoles(sides)) {
      const more = missingFrom(requiredRoles(pair.from, sides.old), requiredRoles(pair.to, sides.next));
      if (more.length > 0) yield findingAtKey(pair, 'roles', `now allows these roles: ${more.join(', ')}`);
    }
  },
};

export const roleNarrowed: Comparison = {
  id: 'role-narrowed',
  severity: 'warning',
  description: 'A role is no longer allowed, on every route or on a route with its own list.',
  *find(sides) {
    const roles = hasAuth(sides) ? missingFrom(allowedRoles(sides.next), allowedRoles(sides.old)) : [];
    if (roles.length > 0) yield { message: `these roles are no longer allowed: ${roles.join(', ')}`, path: ALLOW };
    for (const pair of pairsWithRoles(sides)) {
      const less = missingFrom(requiredRoles(pair.to, sides.next), requiredRoles(pair.from, sides.old));
      if (less.length > 0) yield findingAtKey(pair, 'roles', `no longer allows these roles: ${less.join(', ')}`);
    }
  },
};

const ALLOW = ['auth', 'role', 'allow'];

/** Yields the pairs whose routes list roles. A change of the default list is reported once, at that list. */
function* pairsWithRoles(sides: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of matchedRoutes(sides)) {
    const isProtected = pair.from.route.auth !== undefined && pair.to.route.auth !== undefined;
    if (isProtected && (pair.from.entry.roles ?? pair.to.entry.roles) !== undefined) yield pair;
  }
}

function hasAuth({ old, next }: DiffContext): boolean {
  return old.manifest.auth !== undefined && next.manifest.auth !== undefined;
}

function allowedRoles({ redacted }: DiffSide): readonly string[] {
  return redacted.auth?.role.allow ?? [];
}

function requiredRoles({ redactedEntry }: DiffRoute, side: DiffSide): readonly string[] {
  return redactedEntry.roles ?? allowedRoles(side);
}

/** Returns the roles that the list lacks. */
function missingFrom(list: readonly string[], roles: readonly string[]): readonly string[] {
  return roles.filter((role) => !list.includes(role));
}
