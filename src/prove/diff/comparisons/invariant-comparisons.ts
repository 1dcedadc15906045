import { compileInvariants, type Invariant } from '../../../engine/invariants/compile-invariants.ts';
import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
import { matchedRoutes } from '../matched-routes.ts';
import { weakenedParts } from '../weakened-parts.ts';

export const invariantComparisons: Comparisons = {
  'invariant-removed': {
    severity: 'error',
    description: 'An invariant was removed, and no other one demands as much.',
    *find(sides) {
      const { old, next } = invariantsOf(sides);
      for (const invariant of old)
        if (!next.some(isCalled(invariant.id)) && !isKept(invariant, next, sides))
          yield { ...findingAt(invariant, 'was removed'), side: 'old' };
    },
  },
  'invariant-weakened': {
    severity: 'error',
    description: 'An invariant demands less: it is about fewer requests, excepts more routes, or requires less.',
    *find(sides) {
      const { old, next } = invariantsOf(sides);
      for (const invariant of old) {
        const successor = next.find(isCalled(invariant.id));
        if (successor === undefined || isKept(invariant, next, sides)) continue;
        for (const { at, message } of weakenedParts(invariant, successor, isSameRouteIn(sides)))
          yield findingAt(successor, message, at);
      }
    },
  },
  'invariant-changed': {
    severity: 'info',
    description: 'An invariant demands as much as before or more, or has another name or reason.',
    *find(sides) {
      const { old, next } = invariantsOf(sides);
      for (const invariant of old) {
        if (!isKept(invariant, next, sides)) continue;
        const successor = next.find(isCalled(invariant.id));
        if (successor === undefined)
          yield { ...findingAt(invariant, 'was removed, and another one demands as much'), side: 'old' };
        else if (!isEquivalent(invariant, successor, sides))
          yield findingAt(successor, 'changed, and demands as much as before or more');
      }
    },
  },
  'invariant-added': {
    severity: 'info',
    description: 'An invariant was added.',
    *find(sides) {
      const { old, next } = invariantsOf(sides);
      for (const invariant of next) if (!old.some(isCalled(invariant.id))) yield findingAt(invariant, 'was added');
    },
  },
};

function invariantsOf({ old, next }: DiffContext): Readonly<Record<'old' | 'next', readonly Invariant[]>> {
  return { old: compileInvariants(old.manifest, []), next: compileInvariants(next.manifest, []) };
}

function isCalled(id: string): (invariant: Invariant) => boolean {
  return (invariant) => invariant.id === id;
}

/** True if one of the new invariants demands at least as much as an old one. */
function isKept(invariant: Invariant, next: readonly Invariant[], sides: DiffContext): boolean {
  const isSameRoute = isSameRouteIn(sides);
  return next.some((candidate) => weakenedParts(invariant, candidate, isSameRoute).length === 0);
}

/** True if two invariants demand the same for the same reasons, however they are written. The new one demands at least as much. */
function isEquivalent(old: Invariant, next: Invariant, sides: DiffContext): boolean {
  const isSameRoute = isSameRouteIn(sides);
  if (weakenedParts(next, old, (nextId, oldId) => isSameRoute(oldId, nextId)).length > 0) return false;
  const reasons = ({ why, except }: Invariant) => [why, ...except.map(({ reason }) => reason ?? '').sort()].join('\n');
  return reasons(old) === reasons(next);
}

/** An exception for a route also holds under its new id. */
function isSameRouteIn(sides: DiffContext): (oldId: string, nextId: string) => boolean {
  return (oldId, nextId) => {
    const pairs = [...matchedRoutes(sides)].filter(({ to }) => to.route.id === nextId);
    return pairs.length > 0 && pairs.every(({ from }) => from.route.id === oldId);
  };
}

function findingAt({ id, path }: Invariant, message: string, at: DiffFinding['path'] = []): DiffFinding {
  return { message: `the invariant "${id}" ${message}`, path: [...path, ...at] };
}
