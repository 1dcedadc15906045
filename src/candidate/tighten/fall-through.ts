import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import { foldLiteral } from '../../plan/routing/path-folding.ts';
import { type Pattern, parsePattern, patternKey } from '../../plan/routing/pattern.ts';
import { intersect } from '../../plan/routing/pattern-overlap.ts';
import { isStricter } from '../../plan/routing/router.ts';

/**
 * Returns a route that requests of this method would match if `route` did not accept them; `undefined` if they would be refused.
 * Such a route must not lose the method: the change would open more than it closes.
 */
export function routeInPlaceOf(route: Route, method: string, { routes }: Pick<Plan, 'routes'>): Route | undefined {
  const pattern = parsePattern(route.path);
  return routes.find((other) => other !== route && other.methods.includes(method) && receives(other, route, pattern));
}

/** True if another route would match paths of a pattern that it does not match now, as some server may read them. */
function receives(other: Route, route: Route, pattern: Pattern): boolean {
  const otherPattern = parsePattern(other.path);
  if (isWithin(otherPattern, pattern)) return false;
  if (intersect(otherPattern, pattern) !== undefined) return true;
  if (!isStricter(route, other)) return false;
  // The router refuses a second spelling of a path of the stricter route only while that route exists.
  const folded = pattern.map(foldLiteral);
  const otherFolded = otherPattern.map(foldLiteral);
  return intersect(otherFolded, folded) !== undefined || reachesWithSlash(otherFolded, folded);
}

/** True if both patterns match a path of which some server reads a part of one segment as a slash. */
function reachesWithSlash(one: Pattern, other: Pattern): boolean {
  for (const [index, segment] of one.entries()) {
    const opposite = other[index];
    if (opposite === undefined) return false;
    if (segment.kind !== 'literal' || opposite.kind === 'rest') return true;
    if (opposite.kind === 'literal' && opposite.text !== segment.text) return false;
  }
  return false;
}

/** True if a pattern matches only paths that the other one matches too. */
export function isWithin(pattern: Pattern, other: Pattern): boolean {
  const common = intersect(pattern, other);
  return common !== undefined && patternKey(common) === patternKey(pattern);
}

/** Returns true if a new pattern, which is part of a wildcard, would match requests that another route gets now. */
export function takesRequests(pattern: Pattern, methods: readonly string[], wildcard: Route, { routes }: Pick<Plan, 'routes'>): boolean {
  const whole = parsePattern(wildcard.path);
  return routes.some((other) => {
    if (other === wildcard || !other.methods.some((method) => methods.includes(method))) return false;
    const otherPattern = parsePattern(other.path);
    if (isWithin(otherPattern, pattern) || !isWithin(otherPattern, whole)) return false;
    return intersect(otherPattern, pattern) !== undefined;
  });
}
