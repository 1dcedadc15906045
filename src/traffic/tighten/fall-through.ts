import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { foldLiteral } from '../../engine/routing/path-folding.ts';
import { intersect, type Pattern, patternKey } from '../../engine/routing/pattern.ts';
import { isStricter } from '../../engine/routing/router.ts';

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
  return fallThroughsOf(route, method, plan)[0];
}

/** Returns all such routes. */
export function fallThroughsOf(route: Route, method: string, plan: Pick<Plan, 'routes'>): readonly FallThrough[] {
  return competitorsOf(route, plan).filter(({ route: other }) => {
    if (other.methods.includes(method)) return true;
    // A route with GET accepts HEAD, unless another route has HEAD for the same path.
    return method === 'HEAD' && other.methods.includes('GET') && hasEqualPath(other, route);
  });
}

/** The results for each plan: a proposal asks for every method, and each comparison of two patterns takes time. */
const competitors = new WeakMap<Plan['routes'], Map<Route, readonly FallThrough[]>>();

/** Returns the routes that would get requests of a route, whatever their methods. */
function competitorsOf(route: Route, { routes }: Pick<Plan, 'routes'>): readonly FallThrough[] {
  const known = competitors.get(routes) ?? new Map<Route, readonly FallThrough[]>();
  competitors.set(routes, known);
  const found =
    known.get(route) ?? routes.flatMap((other) => (other === route ? [] : (competitorOf(route, other) ?? [])));
  known.set(route, found);
  return found;
}

function competitorOf(route: Route, other: Route): FallThrough | undefined {
  const isOverlap = overlaps(other.pattern, route.pattern);
  const isPart = isOverlap && isWithin(other.pattern, route.pattern);
  if (isOverlap && (!isPart || hasEqualPath(other, route))) return { route: other, isSpelling: false };
  // The router refuses other spellings of the paths of a stricter route only while that route exists.
  return canSpell(foldedPatternOf(other), foldedPatternOf(route), isOverlap) && isStricter(route, other)
    ? { route: other, isSpelling: true }
    : undefined;
}

function hasEqualPath(one: Route, other: Route): boolean {
  return patternKey(one.pattern) === patternKey(other.pattern);
}

const foldedPatterns = new WeakMap<Route, Pattern>();

function foldedPatternOf(route: Route): Pattern {
  const folded = foldedPatterns.get(route) ?? route.pattern.map(foldLiteral);
  foldedPatterns.set(route, folded);
  return folded;
}

/** True if both patterns match a path. Unlike `intersect`, creates nothing: most patterns differ in an early segment. */
function overlaps(one: Pattern, other: Pattern): boolean {
  for (let index = 0; ; index += 1) {
    const a = one[index];
    const b = other[index];
    if (a?.kind === 'rest' || b?.kind === 'rest') return true;
    if (a === undefined || b === undefined) return a === b;
    if (a.kind === 'literal' && b.kind === 'literal' && a.text !== b.text) return false;
  }
}

/**
 * True if a path of the first pattern is a spelling of a path of the second one: a parameter may contain what some server reads as
 * slashes, or as the end of the path.
 *
 * @param isOther true if the spelling must differ from the path in more than its letters
 */
function canSpell(one: Pattern, other: Pattern, isOther: boolean): boolean {
  const [segment, ...rest] = one;
  const [opposite, ...otherRest] = other;
  if (segment?.kind === 'rest') return !isOther;
  if (opposite?.kind === 'rest') return !isOther || one.some(({ kind }) => kind === 'parameter');
  if (segment === undefined || opposite === undefined) return segment === opposite && !isOther;
  if (segment.kind === 'parameter')
    return otherRest.length === 0
      ? !isOther || rest.length > 0
      : canSpell(rest, otherRest, isOther) || canSpell(one, otherRest, false);
  return (opposite.kind !== 'literal' || opposite.text === segment.text) && canSpell(rest, otherRest, isOther);
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
  return routes.some((other) => {
    if (other === wildcard || !other.methods.some((method) => methods.includes(method))) return false;
    if (isWithin(other.pattern, pattern) || !isWithin(other.pattern, wildcard.pattern)) return false;
    return intersect(other.pattern, pattern) !== undefined;
  });
}
