import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes, requestWitness } from '../matched-routes.ts';
import { becameProtected, becamePublic } from '../route-pairs.ts';
import type { DiffRoute } from '../side.ts';
import { withCaller } from '../witnesses/sample-witnesses.ts';

export const routeComparisons: Comparisons = {
  'route-public': {
    severity: 'error',
    description: 'Requests that required a token no longer require one.',
    find: (sides) => changedAccess(sides, becamePublic, 'is now public: it no longer requires a token'),
  },
  'route-protected': {
    severity: 'warning',
    description: 'Requests that required no token now require one.',
    find: (sides) => changedAccess(sides, becameProtected, 'is now protected: it requires a token'),
  },
  'route-shadowed': {
    severity: 'warning',
    description: 'Requests go to another route.',
    *find({ pairs, next }) {
      for (const { from, to, request, others = 0 } of pairs) {
        if (from === undefined || to === undefined || from.route.id === to.route.id) continue;
        const isRetained = next.routeById.has(from.route.id);
        const message = isRetained
          ? `the route "${to.route.id}" now receives requests that went to "${from.route.id}"`
          : `the route "${to.route.id}" now receives requests of "${from.route.id}", which was removed`;
        // Without a token, two protected routes refuse the request alike.
        const hasCaller = [from, to].every(({ entry }) => entry.access === 'protected');
        const witness = request && { request: hasCaller ? withCaller(request, { from, to, request }) : request };
        const rest = others === 0 ? '' : `, and requests of up to ${others} more routes like it`;
        yield { message: `${message}${rest}`, path: [...to.path, 'path'], witness };
      }
    },
  },
  'route-removed': {
    severity: 'warning',
    description: 'A route was removed, and no other route receives all of its requests.',
    *find(sides) {
      yield* lostRequests(sides, false);
      for (const { route, path } of unreachedRoutes(sides, 'old'))
        yield { message: `the route "${route.id}" was removed; it received no requests`, path, side: 'old' };
    },
  },
  'route-narrowed': {
    severity: 'warning',
    description: 'A route that still exists no longer receives some requests, and no other route does.',
    find: (sides) => lostRequests(sides, true),
  },
  'route-added': {
    severity: 'info',
    description: 'Requests that matched no route now go to a protected route, or a new route receives no requests.',
    *find(sides) {
      yield* gainedRequests(sides, 'protected');
      for (const { route, path } of unreachedRoutes(sides, 'next'))
        yield { message: `the route "${route.id}" is new and receives no requests`, path };
    },
  },
  'route-added-public': {
    severity: 'warning',
    description: 'Requests that matched no route now go to a public route.',
    find: (sides) => gainedRequests(sides, 'public'),
  },
};

/** The witness is a request without a token. */
function* changedAccess(sides: DiffContext, isChanged: typeof becamePublic, message: string): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides))
    if (isChanged(pair)) yield { ...findingAtKey(pair, 'access', message, requestWitness(pair)), hasCaller: false };
}

function* lostRequests({ pairs, next }: DiffContext, isRetained: boolean): Generator<DiffFinding> {
  for (const pair of pairs) {
    const { from, to } = pair;
    if (from === undefined || to !== undefined) continue;
    const retained = next.routeById.get(from.route.id);
    if ((retained !== undefined) !== isRetained) continue;
    const [subject, witness] = [`the route "${from.route.id}"`, requestWitness(pair)];
    if (retained === undefined) yield { message: `${subject} was removed`, path: from.path, side: 'old', witness };
    else yield { message: `${subject} receives fewer requests`, path: retained.path, witness };
  }
}

function* gainedRequests({ pairs, old }: DiffContext, access: 'public' | 'protected'): Generator<DiffFinding> {
  for (const pair of pairs) {
    const { from, to } = pair;
    if (from !== undefined || to?.entry.access !== access) continue;
    const change = old.routeById.has(to.route.id) ? 'receives more requests' : 'is new';
    yield { message: `the ${access} route "${to.route.id}" ${change}`, path: to.path, witness: requestWitness(pair) };
  }
}

/** Returns the routes that only one side has, and that receive no requests. */
function unreachedRoutes({ pairs, old, next }: DiffContext, side: 'old' | 'next'): DiffRoute[] {
  const [own, other] = side === 'old' ? [old, next] : [next, old];
  const reached = new Set(pairs.map(({ from, to }) => (side === 'old' ? from : to)));
  return own.routes.filter((route) => !other.routeById.has(route.route.id) && !reached.has(route));
}
