import { compileInvariants, type Exception, type Invariant } from '../../../engine/invariants/compile-invariants.ts';
import type { Requirement } from '../../../engine/manifest/manifest.generated.ts';
import { durationMs, sizeBytes } from '../../../engine/manifest/units.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import type { Pattern } from '../../../engine/routing/pattern.ts';
import { mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { matchedRoutes } from '../matched-routes.ts';

export const invariantComparison: Comparison = {
  rules: {
    'invariant-removed': ['error', 'An invariant was removed, and no other one demands as much.'],
    'invariant-weakened': [
      'error',
      'An invariant demands less: it is about fewer requests, excepts more routes, or requires less.',
    ],
    'invariant-changed': ['info', 'An invariant demands as much as before or more, or has another name or reason.'],
    'invariant-added': ['info', 'An invariant was added.'],
  },
  *find(sides) {
    const old = compileInvariants(sides.old.manifest, []);
    const next = compileInvariants(sides.next.manifest, []);
    const isSameRoute = isSameRouteIn(sides);
    for (const invariant of old) {
      const successor = next.find(({ id }) => id === invariant.id);
      // One of the new invariants demands at least as much.
      const isKept = next.some((candidate) => weakenedParts(invariant, candidate, isSameRoute).length === 0);
      if (successor === undefined && isKept) {
        const message = 'was removed, and another one demands as much';
        yield { ...findingAt('invariant-changed', invariant, message), side: 'old' };
      } else if (successor === undefined)
        yield { ...findingAt('invariant-removed', invariant, 'was removed'), side: 'old' };
      else if (!isKept)
        for (const { at, message } of weakenedParts(invariant, successor, isSameRoute))
          yield findingAt('invariant-weakened', successor, message, at);
      else if (!isEquivalent(invariant, successor, isSameRoute))
        yield findingAt('invariant-changed', successor, 'changed, and demands as much as before or more');
    }
    for (const invariant of next)
      if (!old.some(({ id }) => id === invariant.id)) yield findingAt('invariant-added', invariant, 'was added');
  },
};

/** True if a route of the new manifest, by its id, has the requests of an old one. */
type IsSameRoute = (oldId: string, nextId: string) => boolean;

/** True if two invariants demand the same for the same reasons, however they are written. The new one demands at least as much. */
function isEquivalent(old: Invariant, next: Invariant, isSameRoute: IsSameRoute): boolean {
  if (weakenedParts(next, old, (nextId, oldId) => isSameRoute(oldId, nextId)).length > 0) return false;
  const reasons = ({ why, except }: Invariant) => [why, ...except.map(({ reason }) => reason ?? '').sort()].join('\n');
  return reasons(old) === reasons(next);
}

/** An exception for a route also holds under its new id. */
function isSameRouteIn(sides: DiffContext): IsSameRoute {
  return (oldId, nextId) => {
    const pairs = [...matchedRoutes(sides)].filter(({ to }) => to.route.id === nextId);
    return pairs.length > 0 && pairs.every(({ from }) => from.route.id === oldId);
  };
}

function findingAt(rule: string, { id, path }: Invariant, message: string, at: Path = []): DiffFinding {
  return { rule, message: `the invariant "${id}" ${message}`, path: [...path, ...at] };
}

/** A part of an invariant that demands less than before. */
interface WeakenedPart {
  /** Its place in the invariant: `['when', 'path']`. */
  readonly at: readonly (string | number)[];
  /** Continues a sentence about the invariant: `excepts "login"`. */
  readonly message: string;
}

/** Returns the parts of an invariant that demand less than those of an older one, which the new one implies if there are none. */
export function weakenedParts(old: Invariant, next: Invariant, isSameRoute: IsSameRoute): WeakenedPart[] {
  return [
    ...narrowedConditions(old, next),
    ...addedExceptions(old.except, next.except, isSameRoute),
    ...loosenedRequirements(old.require, next.require),
  ];
}

function narrowedConditions({ when: old, require }: Invariant, { when: next }: Invariant): WeakenedPart[] {
  // Without the condition, the roles may be those of another issuer.
  const isOfIssuer = require.roles?.atLeast !== undefined && old.issuers !== undefined;
  const isNarrowed: Readonly<Record<string, boolean>> = {
    path: next.patterns !== undefined && !coversAll(next.patterns, old.patterns ?? [ANY_PATH]),
    method: !isSubset(old.methods, next.methods),
    upstream: !isSubset(old.upstreams, next.upstreams),
    access: next.access !== undefined && next.access !== old.access,
    issuer: !isSubset(old.issuers, next.issuers) || (isOfIssuer && next.issuers === undefined),
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
  isSameRoute: IsSameRoute,
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
  issuers: ({ issuers: old }, { issuers: next }) => isSubset(next?.only, old?.only),
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
