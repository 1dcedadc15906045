import { hasEncodedSlash } from '../gateway/path.ts';
import type { Plan, Route } from '../plan/plan.ts';
import { createRouter } from '../plan/router.ts';
import type { Steps } from '../plan/steps.ts';
import type { Loss } from './explanation.ts';

export interface Loser {
  readonly route: Route;
  readonly lost: Loss;
  readonly to: Route | undefined;
}

/**
 * The routes that know a path and did not get the request, with the reason. The router itself is asked what it would do
 * with fewer routes, or with one that is a little different: nothing is judged by another code than the one that serves.
 *
 * @param winner that got it; `undefined`: none did
 */
export function* losersOf(plan: Plan, method: string, path: string, winner: Route | undefined): Steps<Loser[]> {
  const losers: Loser[] = [];
  for (const route of plan.routes) {
    yield;
    if (route === winner) continue;
    const methods = createRouter([keeping(route)]).allowed(path);
    if (methods.length === 0) continue;
    if (!methods.includes(method)) losers.push({ route, lost: 'other-method', to: undefined });
    else if (hasEncodedSlash(path) && !route.keepsEncodedSlash)
      losers.push({ route, lost: 'encoded-slash', to: undefined });
    else losers.push({ route, ...(yield* lossOf(plan, method, path, route, winner)) });
  }
  return losers;
}

/** Why a route that would have had the request by itself did not get it. */
function* lossOf(
  plan: Plan,
  method: string,
  path: string,
  route: Route,
  winner: Route | undefined,
): Steps<Omit<Loser, 'route'>> {
  if (winner !== undefined) return { lost: 'less-specific', to: winner };
  const others = plan.routes.filter((other) => other !== route);
  const wider = yield* find(others, (other) => {
    const kept = keeping(other);
    return createRouter([route, kept]).match(method, path) === kept;
  });
  if (wider !== undefined) return { lost: 'less-specific', to: wider };
  const reading = yield* find(others, (other) => createRouter([route, other]).match(method, path) === undefined);
  return { lost: 'other-reading', to: reading };
}

function keeping(route: Route): Route {
  return { ...route, keepsEncodedSlash: true };
}

function* find(routes: readonly Route[], holds: (route: Route) => boolean): Steps<Route | undefined> {
  for (const route of routes) {
    yield;
    if (holds(route)) return route;
  }
  return undefined;
}
