import { hasEncodedSlash } from '../../engine/gateway/request/request-head.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { runToEnd, type SlicedWork } from '../../engine/plan/sliced-work.ts';
import { editSteps, isNear } from '../../engine/problem/did-you-mean.ts';
import { foldLiteral } from '../../engine/routing/path-folding.ts';
import type { Pattern } from '../../engine/routing/pattern.ts';
import { createRouter } from '../../engine/routing/router.ts';

/**
 * The reason why a route that matches the path did not get the request:
 *
 * - `less-specific`: another route is more specific
 * - `other-method`: the route does not have the method
 * - `encoded-slash`: the route does not accept an encoded slash
 * - `other-reading`: some servers would read the path as a path of another, stricter route
 */
type SkipReason = 'less-specific' | 'other-method' | 'encoded-slash' | 'other-reading';

interface SkippedRoute {
  readonly route: Route;
  readonly reason: SkipReason;
  /** The route that takes precedence, if the reason is another route. */
  readonly otherRoute: Route | undefined;
}

/** Finds the routes that match a path but did not get the request, and why, by the router with fewer or changed routes. */
export function* findSkippedRoutes(plan: Plan, method: string, path: string, winner: Route | undefined) {
  const skipped: SkippedRoute[] = [];
  const segments = segmentsOf(path);
  for (const route of plan.routes) {
    yield;
    if (route === winner || !mayMatch(route.pattern, segments)) continue;
    const methods = runToEnd(createRouter([withEncodedSlash(route)])).allowedMethods(path);
    if (methods.length === 0) continue;
    if (!methods.includes(method)) skipped.push({ route, reason: 'other-method', otherRoute: undefined });
    else if (hasEncodedSlash(path) && !route.keepsEncodedSlash)
      skipped.push({ route, reason: 'encoded-slash', otherRoute: undefined });
    else skipped.push({ route, ...(yield* findReason(route)) });
  }
  return skipped;

  /** Returns the reason why a route that matches the request did not get it. */
  function* findReason(route: Route): SlicedWork<Omit<SkippedRoute, 'route'>> {
    if (winner !== undefined) return { reason: 'less-specific', otherRoute: winner };
    const others = plan.routes.filter((other) => other !== route);
    const moreSpecific = yield* findRoute(others, (other) => {
      if (!mayMatch(other.pattern, segments)) return false;
      const relaxed = withEncodedSlash(other);
      return runToEnd(createRouter([route, relaxed])).match(method, path) === relaxed;
    });
    if (moreSpecific !== undefined) return { reason: 'less-specific', otherRoute: moreSpecific };
    const readings = [path, path.replaceAll(/%2f/gi, '/')]
      .flatMap((one) => plan.router.readings(one) ?? [])
      .map(({ path: read, form }) => ({ segments: segmentsOf(read), form }));
    const stricter = yield* findRoute(others, (other) => {
      const folded = other.pattern.map(foldLiteral);
      const isPossible =
        mayMatch(other.pattern, segments) ||
        readings.some((one) => mayMatch(one.form === 'folded' ? folded : other.pattern, one.segments));
      return isPossible && runToEnd(createRouter([route, other])).match(method, path) === undefined;
    });
    return { reason: 'other-reading', otherRoute: stricter };
  }
}

/**
 * False if a literal of the pattern differs from the requested path, which then cannot match. Only the router decides
 * that a route matches, and to create a router for each of thousands of routes would take longer than to load them.
 */
function mayMatch(pattern: Pattern, segments: readonly string[]): boolean {
  return pattern.every((segment, index) => segment.kind !== 'literal' || segment.text === segments[index]);
}

function segmentsOf(path: string): string[] {
  return path.split('/').slice(1);
}

function withEncodedSlash(route: Route): Route {
  return { ...route, keepsEncodedSlash: true };
}

function* findRoute(routes: readonly Route[], isMatch: (route: Route) => boolean): SlicedWork<Route | undefined> {
  for (const route of routes) {
    yield;
    if (isMatch(route)) return route;
  }
  return undefined;
}

const MAX_ROUTES = 3;
/** The time of a comparison grows with the square of the length. */
const MAX_LENGTH = 200;

/** Finds the routes whose paths resemble a path: a misspelt segment, or segments missing at an end. The nearest comes first. */
export function* findNearRoutes(routes: readonly Route[], path: string): SlicedWork<readonly Route[]> {
  const written = path.slice(0, MAX_LENGTH);
  if (written === '/' || written === '') return [];
  const segments = segmentsOf(written);
  const near: { route: Route; steps: number }[] = [];
  for (const route of routes) {
    yield;
    const example = examplePath(route.pattern, segments);
    if (isNear(written, example) || isPart(written, example)) near.push({ route, steps: editSteps(written, example) });
  }
  return near
    .toSorted((a, b) => a.steps - b.steps)
    .slice(0, MAX_ROUTES)
    .map(({ route }) => route);
}

function isPart(path: string, example: string): boolean {
  return example.endsWith(path) || example.startsWith(`${path}/`) || path.startsWith(`${example}/`);
}

/** Returns a path of the route that has the requested segments in place of its parameters. */
function examplePath(pattern: Pattern, segments: readonly string[]): string {
  const parts = pattern.flatMap((segment, index) => {
    if (segment.kind === 'literal') return [segment.text];
    if (segment.kind === 'parameter') return [segments[index] ?? `{${segment.name}}`];
    return segments.slice(index);
  });
  return `/${parts.join('/')}`.slice(0, MAX_LENGTH);
}
