import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
import type { DiffRoute, DiffSide } from '../side.ts';
import { withCaller } from '../witnesses/forwarded-request.ts';
import { requestWitness } from './matched-routes.ts';

export const routeComparisons: Comparisons = {
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
        const witness = request && {
          request: hasCaller(from, to) ? withCaller(request, { from, to, request }) : request,
        };
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
      for (const { route, path } of unreachedRoutes(
        sides.old,
        sides.next,
        sides.pairs.map(({ from }) => from),
      ))
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
      for (const { route, path } of unreachedRoutes(
        sides.next,
        sides.old,
        sides.pairs.map(({ to }) => to),
      ))
        yield { message: `the route "${route.id}" is new and receives no requests`, path };
    },
  },
  'route-added-public': {
    severity: 'warning',
    description: 'Requests that matched no route now go to a public route.',
    find: (sides) => gainedRequests(sides, 'public'),
  },
};

/** True if both routes require a token: without one they refuse the request alike. */
function hasCaller(from: DiffRoute, to: DiffRoute): boolean {
  return from.entry.access === 'protected' && to.entry.access === 'protected';
}

function* lostRequests({ pairs, next }: DiffContext, isRetained: boolean): Generator<DiffFinding> {
  for (const pair of pairs) {
    const { from, to } = pair;
    if (from === undefined || to !== undefined) continue;
    const retained = next.routeById.get(from.route.id);
    if ((retained !== undefined) !== isRetained) continue;
    const { id } = from.route;
    if (retained === undefined)
      yield { message: `the route "${id}" was removed`, path: from.path, side: 'old', witness: requestWitness(pair) };
    else
      yield {
        message: `the route "${id}" receives fewer requests`,
        path: retained.path,
        witness: requestWitness(pair),
      };
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

/** Returns the routes that only this side has, and that receive no requests. */
function unreachedRoutes(side: DiffSide, other: DiffSide, matched: readonly (DiffRoute | undefined)[]): DiffRoute[] {
  const reached = new Set(matched);
  return side.routes.filter((route) => !other.routeById.has(route.route.id) && !reached.has(route));
}
