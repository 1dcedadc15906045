import type { Comparison, Sides } from '../difference.ts';
import type { Side, SideRoute } from '../side.ts';
import { atKey, type Succession, successions } from './changed-routes.ts';

export const roleWidened: Comparison = {
  id: 'role-widened',
  severity: 'error',
  what: 'A role passes that did not: on every route, or on one that says so itself.',
  *find(sides) {
    const roles = hasAuth(sides) ? missingFrom(allowedBy(sides.old), allowedBy(sides.next)) : [];
    if (roles.length > 0) yield { message: `these roles pass now: ${roles.join(', ')}`, path: ALLOW };
    for (const pair of ownRoles(sides)) {
      const more = missingFrom(requiredAt(pair.from, sides.old), requiredAt(pair.to, sides.next));
      if (more.length > 0) yield atKey(pair, 'roles', `lets these roles pass now: ${more.join(', ')}`);
    }
  },
};

export const roleNarrowed: Comparison = {
  id: 'role-narrowed',
  severity: 'warning',
  what: 'A role does not pass any more: on every route, or on one that says so itself.',
  *find(sides) {
    const roles = hasAuth(sides) ? missingFrom(allowedBy(sides.next), allowedBy(sides.old)) : [];
    if (roles.length > 0) yield { message: `these roles pass no more: ${roles.join(', ')}`, path: ALLOW };
    for (const pair of ownRoles(sides)) {
      const less = missingFrom(requiredAt(pair.to, sides.next), requiredAt(pair.from, sides.old));
      if (less.length > 0) yield atKey(pair, 'roles', `lets these roles pass no more: ${less.join(', ')}`);
    }
  },
};

const ALLOW = ['auth', 'role', 'allow'];

/** With neither of the two saying anything of roles, what changed is told where all of them are listed. */
function* ownRoles(sides: Sides): Generator<Succession> {
  for (const pair of successions(sides)) {
    const isGate = pair.from.route.auth !== undefined && pair.to.route.auth !== undefined;
    if (isGate && (pair.from.entry.roles ?? pair.to.entry.roles) !== undefined) yield pair;
  }
}

function hasAuth({ old, next }: Sides): boolean {
  return old.manifest.auth !== undefined && next.manifest.auth !== undefined;
}

function allowedBy({ shown }: Side): readonly string[] {
  return shown.auth?.role.allow ?? [];
}

function requiredAt({ shown }: SideRoute, side: Side): readonly string[] {
  return shown.roles ?? allowedBy(side);
}

function missingFrom(some: readonly string[], others: readonly string[]): readonly string[] {
  return others.filter((other) => !some.includes(other));
}
