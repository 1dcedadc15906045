import { hasEncodedSlash } from '../gateway/request/request-target.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import { createRouter } from '../plan/routing/router.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import type { SkipReason } from './explanation.ts';

export interface SkippedRoute {
  readonly route: Route;
  readonly reason: SkipReason;
  readonly otherRoute: Route | undefined;
}

/**
 * The routes that know a path and did not get the request, with the reason. The router itself is asked what it would do
 * with fewer routes, or with one that is a little different: nothing is judged by another code than the one that serves.
 *
 * @param winner that got it; `undefined`: none did
 */
export function* findSkippedRoutes(
  plan: Plan,
  method: string,
  path: string,
  winner: Route | undefined,
): SlicedWork<SkippedRoute[]> {
  const losers: SkippedRoute[] = [];
  for (const route of plan.routes) {
    yield;
    if (route === winner) continue;
    const methods = createRouter([withEncodedSlash(route)]).allowedMethods(path);
    if (methods.length === 0) continue;
    if (!methods.includes(method)) losers.push({ route, reason: 'other-method', otherRoute: undefined });
    else if (hasEncodedSlash(path) && !route.keepsEncodedSlash)
      losers.push({ route, reason: 'encoded-slash', otherRoute: undefined });
    else losers.push({ route, ...(yield* findSkipReason(plan, method, path, route, winner)) });
  }
  return losers;
}

/** Why a route that would have had the request by itself did not get it. */
function* findSkipReason(
  plan: Plan,
  method: string,
  path: string,
  route: Route,
  otherRoute: Route | undefined,
): SlicedWork<Omit<SkippedRoute, 'route'>> {
  if (otherRoute !== undefined) return { reason: 'less-specific', otherRoute };
  const others = plan.routes.filter((other) => other !== route);
  const wider = yield* findRoute(others, (other) => {
    const kept = withEncodedSlash(other);
    return createRouter([route, kept]).match(method, path) === kept;
  });
  if (wider !== undefined) return { reason: 'less-specific', otherRoute: wider };
  const reading = yield* findRoute(others, (other) => createRouter([route, other]).match(method, path) === undefined);
  return { reason: 'other-reading', otherRoute: reading };
}

function withEncodedSlash(route: Route): Route {
  return { ...route, keepsEncodedSlash: true };
}

function* findRoute(routes: readonly Route[], holds: (route: Route) => boolean): SlicedWork<Route | undefined> {
  for (const route of routes) {
    yield;
    if (holds(route)) return route;
  }
  return undefined;
}
