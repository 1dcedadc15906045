import {
  type Condition,
  compileInvariants,
  type Exception,
  type Invariant,
} from '../../../engine/invariants/compile-invariants.ts';
import type { Requirement } from '../../../engine/manifest/manifest.generated.ts';
import { durationMs, sizeBytes } from '../../../engine/manifest/units.ts';
import type { Pattern } from '../../../engine/routing/pattern.ts';
import { mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
import { matchedRoutes } from '../matched-routes.ts';

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

/** A part of an invariant that demands less than before. */
interface WeakenedPart {
  /** Its place in the invariant: `['when', 'path']`. */
  readonly at: readonly (string | number)[];
  /** Continues a sentence about the invariant: `excepts "login"`. */
  readonly message: string;
}

/**
 * Returns the parts of an invariant that demand less than those of an older one. If there are none, each manifest that fulfils the new
 * invariant also fulfils the old one.
 *
 * @param isSameRoute true if a route of the new manifest, by its id, has the requests of an old one
 */
export function weakenedParts(
  old: Invariant,
  next: Invariant,
  isSameRoute: (oldId: string, nextId: string) => boolean,
): WeakenedPart[] {
  return [
    ...narrowedConditions(old.when, next.when),
    ...addedExceptions(old.except, next.except, isSameRoute),
    ...loosenedRequirements(old.require, next.require),
  ];
}

function narrowedConditions(old: Condition, next: Condition): WeakenedPart[] {
  const isNarrowed: Readonly<Record<string, boolean>> = {
    path: next.patterns !== undefined && !coversAll(next.patterns, old.patterns ?? [ANY_PATH]),
    method: !isSubset(old.methods, next.methods),
    upstream: !isSubset(old.upstreams, next.upstreams),
    access: next.access !== undefined && next.access !== old.access,
  };
  return Object.entries(isNarrowed).flatMap(([key, narrowed]) =>
    narrowed ? [{ at: ['when', key], message: `is about fewer requests: "when.${key}" is narrower` }] : [],
  );
}

const ANY_PATH: Pattern = [{ kind: 'rest' }];

function coversAll(patterns: readonly Pattern[], others: readonly Pattern[]): boolean {
  return others.every((other) => patterns.some((pattern) => covers(pattern, other)));
}

/** True if a pattern matches each path of another one. */
function covers(pattern: Pattern, other: Pattern): boolean {
  for (const [index, segment] of pattern.entries()) {
    if (segment.kind === 'rest') return true;
    const covered = other[index];
    if (covered === undefined || covered.kind === 'rest') return false;
    if (segment.kind === 'literal' && (covered.kind !== 'literal' || covered.text !== segment.text)) return false;
  }
  return pattern.length === other.length;
}

function addedExceptions(
  old: readonly Exception[],
  next: readonly Exception[],
  isSameRoute: (oldId: string, nextId: string) => boolean,
): WeakenedPart[] {
  return next.flatMap(({ route, until = NEVER }, index) => {
    const before = old.find((exception) => exception.route === route || isSameRoute(exception.route, route));
    if (before === undefined) return [{ at: ['except', index], message: `excepts "${route}"` }];
    if (until <= (before.until ?? NEVER)) return [];
    return [{ at: ['except', index], message: `excepts "${route}" for longer` }];
  });
}

/** Sorts behind every date. */
const NEVER = '~';

function loosenedRequirements(old: Requirement, next: Requirement): WeakenedPart[] {
  // No route fulfils more than the one that is not there.
  if (next.served === false) return [];
  return (Object.keys(old) as (keyof Requirement)[]).flatMap((member) => {
    if (next[member] === undefined) return [{ at: ['require'], message: `no longer requires "${member}"` }];
    if (IS_KEPT[member](old, next)) return [];
    return [{ at: ['require', member], message: `requires less: "require.${member}" is looser` }];
  });
}

/** Tells for each member whether a route that fulfils the new requirement also fulfils the old one. Both have the member. */
const IS_KEPT: Readonly<Record<keyof Requirement, (old: Requirement, next: Requirement) => boolean>> = {
  served: () => true,
  access: (old, next) => old.access === next.access,
  roles: ({ roles: old }, { roles: next }) =>
    (old?.only === undefined || (next?.only !== undefined && isSubset(next.only, old.only))) &&
    isSubset(old?.atLeast ?? [], next?.atLeast ?? []),
  rateLimit: ({ rateLimit: old }, { rateLimit: next }) =>
    old === 'any' || (next !== 'any' && isSubset(old ?? [], next)),
  body: ({ body: old }, { body: next }) =>
    (old?.schema === undefined || next?.schema === true) &&
    isAtMost(next?.maxBytes, old?.maxBytes, sizeBytes) &&
    (old?.types === undefined ||
      next?.types?.map((type) => type.toLowerCase()).every(mediaTypeMatcher(old.types)) === true),
  parameters: () => true,
  validation: () => true,
  upstream: ({ upstream: old }, { upstream: next }) => isSubset(next?.only, old?.only),
  tls: () => true,
  timeout: (old, next) => isAtMost(next.timeout, old.timeout, durationMs),
  cors: ({ cors: old }, { cors: next }) => isSubset(next?.origins, old?.origins),
  websocket: (old, next) => old.websocket === next.websocket,
};

/** True if a list has only members of another one. `undefined` stands for all. */
function isSubset(list: readonly string[] | undefined, of: readonly string[] | undefined): boolean {
  return of === undefined || list?.every((item) => of.includes(item)) === true;
}

function isAtMost(text: string | undefined, limit: string | undefined, parse: (text: string) => number): boolean {
  return limit === undefined || (text !== undefined && parse(text) <= parse(limit));
}
