import type { Condition, Exception, Invariant } from '../../engine/invariants/compile-invariants.ts';
import { includesType } from '../../engine/invariants/requirements.ts';
import type { Requirement } from '../../engine/manifest/manifest.generated.ts';
import { durationMs, sizeBytes } from '../../engine/manifest/units.ts';
import type { Pattern } from '../../engine/routing/pattern.ts';

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
      next?.types?.every((type) => old.types?.some((range) => includesType(range, type))) === true),
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
