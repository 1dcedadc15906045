import type { Comparison, Found, Sides } from '../difference.ts';
import type { Side, SideRoute } from '../side.ts';
import { requestOf } from './changed-routes.ts';

export const routeRemoved: Comparison = {
  id: 'route-removed',
  severity: 'warning',
  what: 'A route is no more, and no other one has all that it had.',
  *find(sides) {
    yield* lost(sides, false);
    for (const { route, path } of idle(
      sides.old,
      sides.next,
      sides.pairs.map(({ from }) => from),
    ))
      yield { message: `the route "${route.id}" is no more; it had no requests`, path, in: 'old' };
  },
};

export const routeNarrowed: Comparison = {
  id: 'route-narrowed',
  severity: 'warning',
  what: 'Requests have no route any more, though the route that had them is still there.',
  find: (sides) => lost(sides, true),
};

export const routeShadowed: Comparison = {
  id: 'route-shadowed',
  severity: 'warning',
  what: 'Requests go to another route than before.',
  *find({ pairs, next }) {
    for (const { from, to, request } of pairs) {
      if (from === undefined || to === undefined || from.route.id === to.route.id) continue;
      const isThere = next.routeOf.has(from.route.id);
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
  what: 'Requests that had no route have one, and need no token.',
  find: (sides) => gained(sides, 'public'),
};

export const routeAdded: Comparison = {
  id: 'route-added',
  severity: 'info',
  what: 'Requests that had no route have one, and need a token; or a new route has no requests at all.',
  *find(sides) {
    yield* gained(sides, 'protected');
    for (const { route, path } of idle(
      sides.next,
      sides.old,
      sides.pairs.map(({ to }) => to),
    ))
      yield { message: `the route "${route.id}" is new; it has no requests`, path };
  },
};

function* lost({ pairs, next }: Sides, isThere: boolean): Generator<Found> {
  for (const pair of pairs) {
    const { from, to } = pair;
    if (from === undefined || to !== undefined) continue;
    const now = next.routeOf.get(from.route.id);
    if ((now !== undefined) !== isThere) continue;
    const { id } = from.route;
    if (now === undefined)
      yield { message: `the route "${id}" is no more`, path: from.path, in: 'old', witness: requestOf(pair) };
    else yield { message: `the route "${id}" has fewer requests`, path: now.path, witness: requestOf(pair) };
  }
}

function* gained({ pairs, old }: Sides, access: 'public' | 'protected'): Generator<Found> {
  for (const pair of pairs) {
    const { from, to } = pair;
    if (from !== undefined || to?.entry.access !== access) continue;
    const what = old.routeOf.has(to.route.id) ? 'has more requests' : 'is new';
    yield { message: `the ${access} route "${to.route.id}" ${what}`, path: to.path, witness: requestOf(pair) };
  }
}

/** The routes of the one side alone that no request goes to. */
function idle(side: Side, other: Side, active: readonly (SideRoute | undefined)[]): SideRoute[] {
  const busy = new Set(active);
  return side.routes.filter((route) => !other.routeOf.has(route.route.id) && !busy.has(route));
}
