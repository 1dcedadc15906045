import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import type { DiffRoute, DiffSide } from '../side.ts';
import { requestWitness } from './matched-routes.ts';

export const routeRemoved: Comparison = {
  id: 'route-removed',
  severity: 'warning',
  description: 'A route is no more, and no other one has all that it had.',
  *find(sides) {
    yield* lostRequests(sides, false);
    for (const { route, path } of unreachedRoutes(
      sides.old,
      sides.next,
      sides.pairs.map(({ from }) => from),
    ))
      yield { message: `the route "${route.id}" is no more; it had no requests`, path, side: 'old' };
  },
};

export const routeNarrowed: Comparison = {
  id: 'route-narrowed',
  severity: 'warning',
  description: 'Requests have no route any more, though the route that had them is still there.',
  find: (sides) => lostRequests(sides, true),
};

export const routeShadowed: Comparison = {
  id: 'route-shadowed',
  severity: 'warning',
  description: 'Requests go to another route than before.',
  *find({ pairs, next }) {
    for (const { from, to, request } of pairs) {
      if (from === undefined || to === undefined || from.route.id === to.route.id) continue;
      const isThere = next.routeById.has(from.route.id);
      const message = isThere
        ? `the route "${to.route.id}" has requests now that went to "${from.route.id}"`
        : `the route "${to.route.id}" has requests now of "${from.route.id}", which is no more`;
      yield { message, path: [...to.path, 'path'], witness: request && { request } };
    }
  },
};

export const routeAddedPublic: Comparison = {
  id: 'route-added-public',
  severity: 'warning',
  description: 'Requests that had no route have one, and need no token.',
  find: (sides) => gainedRequests(sides, 'public'),
};

export const routeAdded: Comparison = {
  id: 'route-added',
  severity: 'info',
  description: 'Requests that had no route have one, and need a token; or a new route has no requests at all.',
  *find(sides) {
    yield* gainedRequests(sides, 'protected');
    for (const { route, path } of unreachedRoutes(
      sides.next,
      sides.old,
      sides.pairs.map(({ to }) => to),
    ))
      yield { message: `the route "${route.id}" is new; it has no requests`, path };
  },
};

function* lostRequests({ pairs, next }: DiffContext, isThere: boolean): Generator<DiffFinding> {
  for (const pair of pairs) {
    const { from, to } = pair;
    if (from === undefined || to !== undefined) continue;
    const now = next.routeById.get(from.route.id);
    if ((now !== undefined) !== isThere) continue;
    const { id } = from.route;
    if (now === undefined)
      yield { message: `the route "${id}" is no more`, path: from.path, side: 'old', witness: requestWitness(pair) };
    else yield { message: `the route "${id}" has fewer requests`, path: now.path, witness: requestWitness(pair) };
  }
}

function* gainedRequests({ pairs, old }: DiffContext, access: 'public' | 'protected'): Generator<DiffFinding> {
  for (const pair of pairs) {
    const { from, to } = pair;
    if (from !== undefined || to?.entry.access !== access) continue;
    const what = old.routeById.has(to.route.id) ? 'has more requests' : 'is new';
    yield { message: `the ${access} route "${to.route.id}" ${what}`, path: to.path, witness: requestWitness(pair) };
  }
}

/** The routes of the one side alone that no request goes to. */
function unreachedRoutes(side: DiffSide, other: DiffSide, active: readonly (DiffRoute | undefined)[]): DiffRoute[] {
  const busy = new Set(active);
  return side.routes.filter((route) => !other.routeById.has(route.route.id) && !busy.has(route));
}
