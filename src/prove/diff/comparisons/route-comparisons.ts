import type { Comparison, DiffContext, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, matchedRoutes, requestWitness } from '../matched-routes.ts';
import { becameProtected, becamePublic, type RoutePair } from '../route-pairs.ts';
import type { DiffRoute } from '../side.ts';
import { withCaller } from '../witnesses/sample-witnesses.ts';

export const routeComparison: Comparison = {
  rules: {
    'route-public': ['error', 'Requests that required a token no longer require one.'],
    'route-protected': ['warning', 'Requests that required no token now require one.'],
    'route-shadowed': ['warning', 'Requests go to another route.'],
    'route-removed': ['warning', 'A route was removed, and no other route receives all of its requests.'],
    'route-narrowed': [
      'warning',
      'A route that still exists no longer receives some requests, and no other route does.',
    ],
    'route-added': [
      'info',
      'Requests that matched no route now go to a protected route, or a new route receives no requests.',
    ],
    'route-added-public': ['warning', 'Requests that matched no route now go to a public route.'],
  },
  *find(sides) {
    for (const pair of sides.pairs) {
      if (pair.from === undefined) yield* gainedRequests(pair, sides);
      if (pair.to === undefined) yield* lostRequests(pair, sides);
    }
    for (const pair of matchedRoutes(sides)) {
      yield* changedAccess(pair);
      if (pair.from.route.id !== pair.to.route.id) yield movedRequests(pair, sides);
    }
    for (const { route, path } of unreachedRoutes(sides, 'old')) {
      const message = `the route "${route.id}" was removed; it received no requests`;
      yield { rule: 'route-removed', message, path, side: 'old' };
    }
    for (const { route, path } of unreachedRoutes(sides, 'next'))
      yield { rule: 'route-added', message: `the route "${route.id}" is new and receives no requests`, path };
  },
};

function* gainedRequests(pair: RoutePair<DiffRoute>, { old }: DiffContext): Generator<DiffFinding> {
  const { to } = pair;
  if (to === undefined) return;
  const { access } = to.entry;
  const change = old.routeById.has(to.route.id) ? 'receives more requests' : 'is new';
  const message = `the ${access} route "${to.route.id}" ${change}`;
  const rule = access === 'public' ? 'route-added-public' : 'route-added';
  yield { rule, message, path: to.path, witness: requestWitness(pair) };
}

function* lostRequests(pair: RoutePair<DiffRoute>, { next }: DiffContext): Generator<DiffFinding> {
  const { from } = pair;
  if (from === undefined) return;
  const retained = next.routeById.get(from.route.id);
  const [subject, witness] = [`the route "${from.route.id}"`, requestWitness(pair)];
  if (retained === undefined)
    yield { rule: 'route-removed', message: `${subject} was removed`, path: from.path, side: 'old', witness };
  else yield { rule: 'route-narrowed', message: `${subject} receives fewer requests`, path: retained.path, witness };
}

/** The witness is a request without a token. */
function* changedAccess(pair: MatchedRoutePair): Generator<DiffFinding> {
  const finding = (rule: string, message: string) => ({
    ...findingAtKey(pair, rule, 'access', message, requestWitness(pair)),
    hasCaller: false,
  });
  if (becamePublic(pair)) yield finding('route-public', 'is now public: it no longer requires a token');
  if (becameProtected(pair)) yield finding('route-protected', 'is now protected: it requires a token');
}

function movedRequests(pair: MatchedRoutePair, { next }: DiffContext): DiffFinding {
  const { from, to, request, others = 0 } = pair;
  const message = next.routeById.has(from.route.id)
    ? `the route "${to.route.id}" now receives requests that went to "${from.route.id}"`
    : `the route "${to.route.id}" now receives requests of "${from.route.id}", which was removed`;
  // Without a token, two protected routes refuse the request alike.
  const hasCaller = [from, to].every(({ entry }) => entry.access === 'protected');
  const witness = request && { request: hasCaller ? withCaller(request, pair) : request };
  const rest = others === 0 ? '' : `, and requests of up to ${others} more routes like it`;
  return { rule: 'route-shadowed', message: `${message}${rest}`, path: [...to.path, 'path'], witness };
}

/** Returns the routes that only one side has, and that receive no requests. */
function unreachedRoutes({ pairs, old, next }: DiffContext, side: 'old' | 'next'): DiffRoute[] {
  const [own, other] = side === 'old' ? [old, next] : [next, old];
  const reached = new Set(pairs.map(({ from, to }) => (side === 'old' ? from : to)));
  return own.routes.filter((route) => !other.routeById.has(route.route.id) && !reached.has(route));
}
