import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import { foldLiteral } from '../../plan/routing/path-folding.ts';
import { type Pattern, parsePattern, patternKey } from '../../plan/routing/pattern.ts';
import { intersect } from '../../plan/routing/pattern-overlap.ts';
import { isStricter } from '../../plan/routing/router.ts';

/** A route that would get requests of another route, or only other spellings of its paths. */
export interface FallThrough {
  readonly route: Route;
  readonly isSpelling: boolean;
}

/**
 * Returns a route that requests of this method would match if `route` did not accept them; `undefined` if they would be refused.
 * With such a route, the change would open more than it closes.
 */
export function fallThroughOf(route: Route, method: string, plan: Pick<Plan, 'routes'>): FallThrough | undefined {
  return fallThroughs(route, method, plan).next().value ?? undefined;
}

/** Returns all such routes. */
export function fallThroughsOf(route: Route, method: string, plan: Pick<Plan, 'routes'>): FallThrough[] {
  return [...fallThroughs(route, method, plan)];
}

function* fallThroughs(
  route: Route,
  method: string,
  { routes }: Pick<Plan, 'routes'>,
): Generator<FallThrough, undefined> {
  const pattern = parsePattern(route.path);
  for (const other of routes) {
    if (other === route || !other.methods.includes(method)) continue;
    const otherPattern = parsePattern(other.path);
    if (isWithin(otherPattern, pattern)) continue;
    if (intersect(otherPattern, pattern) !== undefined) yield { route: other, isSpelling: false };
    // The router refuses other spellings of the paths of a stricter route only while that route exists.
    else if (isStricter(route, other) && canSpell(otherPattern.map(foldLiteral), pattern.map(foldLiteral)))
      yield { route: other, isSpelling: true };
  }
}

/**
 * True if a path of the first pattern is a spelling of a path of the second one: a parameter may contain what some server reads as
 * slashes, or as the end of the path.
 */
function canSpell(one: Pattern, other: Pattern, from = 0, otherFrom = 0): boolean {
  const segment = one[from];
  const opposite = other[otherFrom];
  if (segment?.kind === 'rest' || opposite?.kind === 'rest') return true;
  if (segment === undefined || opposite === undefined) return segment === opposite;
  if (segment.kind === 'parameter')
    return (
      otherFrom === other.length - 1 ||
      canSpell(one, other, from + 1, otherFrom + 1) ||
      canSpell(one, other, from, otherFrom + 1)
    );
  return (
    (opposite.kind !== 'literal' || opposite.text === segment.text) && canSpell(one, other, from + 1, otherFrom + 1)
  );
}

/** True if a pattern matches only paths that the other one matches too. */
export function isWithin(pattern: Pattern, other: Pattern): boolean {
  const common = intersect(pattern, other);
  return common !== undefined && patternKey(common) === patternKey(pattern);
}

/** Returns true if a new pattern, which is part of a wildcard, would match requests that another route gets now. */
export function takesRequests(
  pattern: Pattern,
  methods: readonly string[],
  wildcard: Route,
  { routes }: Pick<Plan, 'routes'>,
): boolean {
  const whole = parsePattern(wildcard.path);
  return routes.some((other) => {
    if (other === wildcard || !other.methods.some((method) => methods.includes(method))) return false;
    const otherPattern = parsePattern(other.path);
    if (isWithin(otherPattern, pattern) || !isWithin(otherPattern, whole)) return false;
    return intersect(otherPattern, pattern) !== undefined;
  });
}
