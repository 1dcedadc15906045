import type { Comparison, DiffContext } from '../difference.ts';
import type { DiffRoute, DiffSide } from '../side.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const roleWidened: Comparison = {
  id: 'role-widened',
  severity: 'error',
  description: 'A role passes that did not: on every route, or on one that says so itself.',
  *find(sides) {
    const roles = hasAuth(sides) ? missingFrom(allowedRoles(sides.old), allowedRoles(sides.next)) : [];
    if (roles.length > 0) yield { message: `these roles pass now: ${roles.join(', ')}`, path: ALLOW };
    for (const pair of pairsWithOwnRoles(sides)) {
      const more = missingFrom(requiredRoles(pair.from, sides.old), requiredRoles(pair.to, sides.next));
      if (more.length > 0) yield findingAtKey(pair, 'roles', `lets these roles pass now: ${more.join(', ')}`);
    }
  },
};

export const roleNarrowed: Comparison = {
  id: 'role-narrowed',
  severity: 'warning',
  description: 'A role does not pass any more: on every route, or on one that says so itself.',
  *find(sides) {
    const roles = hasAuth(sides) ? missingFrom(allowedRoles(sides.next), allowedRoles(sides.old)) : [];
    if (roles.length > 0) yield { message: `these roles pass no more: ${roles.join(', ')}`, path: ALLOW };
    for (const pair of pairsWithOwnRoles(sides)) {
      const less = missingFrom(requiredRoles(pair.to, sides.next), requiredRoles(pair.from, sides.old));
      if (less.length > 0) yield findingAtKey(pair, 'roles', `lets these roles pass no more: ${less.join(', ')}`);
    }
  },
};

const ALLOW = ['auth', 'role', 'allow'];

/** With neither of the two saying anything of roles, what changed is told where all of them are listed. */
function* pairsWithOwnRoles(sides: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of matchedRoutes(sides)) {
    const isGate = pair.from.route.auth !== undefined && pair.to.route.auth !== undefined;
    if (isGate && (pair.from.entry.roles ?? pair.to.entry.roles) !== undefined) yield pair;
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

function missingFrom(some: readonly string[], others: readonly string[]): readonly string[] {
  return others.filter((other) => !some.includes(other));
}
