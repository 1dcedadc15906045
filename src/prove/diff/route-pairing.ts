import { removeCovered, wonPaths } from '../../check/lint/won-paths.ts';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { sortMethods } from '../../engine/http1/http-methods.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { runToEnd, type SlicedWork } from '../../engine/plan/sliced-work.ts';
import { respell } from '../../engine/routing/path-folding.ts';
import { intersect, type Pattern } from '../../engine/routing/pattern.ts';
import { type PatternRoute, RouteIndex, type RouteSet, SamplePaths } from '../../engine/routing/route-index.ts';
import { routingKey } from '../../engine/routing/router.ts';

/** Pairs all routes of two plans: an omitted pair could be a route that became public. Of old routes of one kind, the first ones. */
export function pairRoutes<R extends PairedRoute>(old: PairingSide<R>, next: PairingSide<R>): RoutePair<R>[] {
  return runToEnd(routePairing(old, next, false));
}

/** Finds every route that became public or protected, in slices. Omits pairs with the same access, and further pairs of a route. */
export function pairRoutesSliced<R extends PairedRoute>(
  old: PairingSide<R>,
  next: PairingSide<R>,
): SlicedWork<RoutePair<R>[]> {
  return routePairing(old, next, true);
}

/** Pairs routes that match the same sample path, one for all paths of their overlap, or with `isAccessOnly` one for each changed access. */
function* routePairing<R extends PairedRoute>(
  old: PairingSide<R>,
  next: PairingSide<R>,
  isAccessOnly: boolean,
): SlicedWork<RoutePair<R>[]> {
  const pairs = new Map<string, RoutePair<R>>();
  const routes = [...old.routes, ...next.routes];
  const samplePaths = yield* SamplePaths.create(routes.map(({ pattern }) => pattern));
  for (const { pattern, route } of routes) yield* addRequests(samplePaths.of(pattern), route.methods);
  const changedIds = yield* findChangedIds(old, next);
  if (changedIds.size > 0) yield* addOverlaps(changedIds);
  // A stricter route that changes may also allow or refuse other spellings of its path, which match wider routes.
  for (const { pattern, route } of routes) yield* addRequests(samplePaths.of(pattern.map(respell)), route.methods);
  for (const from of old.routes) {
    const to = next.routeById.get(from.route.id);
    if (to !== undefined) add({ from, to, request: undefined });
  }
  return [...pairs.values()];

  /** Adds the pairs of overlapping routes. Two routes that the router treats as before are no such pair: the same one wins. */
  function* addOverlaps(changedIds: ReadonlySet<string>): SlicedWork<void> {
    const oldIndex = yield* RouteIndex.create(old.routes);
    const nextIndex = yield* RouteIndex.create(next.routes);
    const changedRoutes = oldIndex.select(({ route }) => changedIds.has(route.id));
    const byAccess = {
      public: oldIndex.select(({ route }) => route.access === 'public'),
      protected: oldIndex.select(({ route }) => route.access === 'protected'),
    };
    for (const to of next.routes) {
      yield;
      const { pattern, route } = to;
      const candidates = changedIds.has(route.id) ? oldIndex.patterns.all.copy() : changedRoutes.copy();
      if (isAccessOnly) candidates.subtract(byAccess[route.access]);
      if (candidates.isEmpty()) continue;
      const overlapping = oldIndex.patterns.overlapping(pattern, candidates);
      const limit = new KindLimit<R>();
      for (const method of sortMethods(route.methods)) {
        const candidates = overlapping.copy().intersect(oldIndex.withMethod(method));
        const paths = wonPaths(nextIndex, { pattern, method, candidates }, samplePaths, oldIndex.patterns);
        if (yield* addPairsOf(to, method, paths, oldIndex, limit)) break;
      }
    }
  }

  /** Adds the pairs of one new route for one method. Returns true if no other pair of this route is needed. */
  function* addPairsOf(
    to: R,
    method: string,
    paths: ReturnType<typeof wonPaths>,
    oldIndex: RouteIndex<R>,
    limit: KindLimit<R>,
  ): SlicedWork<boolean> {
    for (const { length, members } of paths) {
      yield;
      limit.removeComplete(members, oldIndex);
      for (const member of members) {
        const candidate = oldIndex.routes[member] as R;
        const overlap = intersect(to.pattern, candidate.pattern) ?? [];
        const pair = addRequest(method, samplePaths.pathOf(overlap, length));
        if (isAccessOnly && (becamePublic(pair) || becameProtected(pair)) && pair.to === to) return true;
        const others = pair.from === candidate && pair.to === to ? limit.count(candidate, members, oldIndex) : 0;
        if (others > 0) pairs.set(keyOf(pair), { ...pair, others });
        if (pair.from !== undefined && pair.from !== candidate) removeLosers(members, pair.from, to.pattern, oldIndex);
        yield;
      }
    }
    return false;
  }

  function* addRequests(paths: Iterable<string>, methods: readonly string[]): SlicedWork<void> {
    for (const path of paths) {
      for (const method of sortMethods(methods)) addRequest(method, path);
      yield;
    }
  }

  /** Adds the routes that a request matches before and after. */
  function addRequest(method: string, url: string): RoutePair<R> {
    const pair = { from: matchRoute(old, method, url), to: matchRoute(next, method, url) };
    return add({ ...pair, request: { method, url } });
  }

  function add(pair: RoutePair<R>): RoutePair<R> {
    const { from, to } = pair;
    const key = keyOf(pair);
    if ((from ?? to) !== undefined && pairs.get(key)?.request === undefined) pairs.set(key, pair);
    return pair;
  }
}

/** Returns the ids of the routes that are new or removed, or that the router treats in another way. */
export function* findChangedIds(
  old: PairingSide<PairedRoute>,
  next: PairingSide<PairedRoute>,
): SlicedWork<Set<string>> {
  const ids = new Set(old.routes.map(({ route }) => route.id));
  for (const { route } of next.routes) {
    const before = old.routeById.get(route.id)?.route;
    if (before !== undefined && routingKey(before) === routingKey(route)) ids.delete(route.id);
    else ids.add(route.id);
    yield;
  }
  return ids;
}

/** The old routes of one kind with which a new route is paired. */
const MAX_OF_KIND = 20;

/** Limits the pairs of a new route with old routes of one kind. Routes without a kind have no limit. */
class KindLimit<R extends PairedRoute> {
  /** The routes with which the new one is paired, by kind. */
  readonly #paired = new Map<string, Set<R>>();

  /** Counts a pair with an old route. If the kind is complete, removes its routes from the set, and returns their number. */
  count(route: R, members: RouteSet, index: RouteIndex<R>): number {
    const { kind } = route;
    if (kind === undefined) return 0;
    const paired = getOrCreate(this.#paired, kind, () => new Set<R>());
    if (paired.size >= MAX_OF_KIND) return 0;
    paired.add(route);
    return paired.size < MAX_OF_KIND ? 0 : this.#remove(members, index);
  }

  /** Removes the routes of complete kinds from a set, except those that are paired. Returns the number of removed routes. */
  removeComplete(members: RouteSet, index: RouteIndex<R>): void {
    if ([...this.#paired.values()].some(({ size }) => size >= MAX_OF_KIND)) this.#remove(members, index);
  }

  #remove(members: RouteSet, index: RouteIndex<R>): number {
    let removed = 0;
    for (const member of members) {
      const route = index.routes[member] as R;
      const paired = this.#paired.get(route.kind ?? '');
      if (paired === undefined || paired.size < MAX_OF_KIND || paired.has(route)) continue;
      members.delete(member);
      removed += 1;
    }
    return removed;
  }
}

function keyOf({ from, to }: RoutePair): string {
  return `${from?.route.id ?? ''} ${to?.route.id ?? ''}`;
}

/** Removes the routes that lose all their common paths with the pattern to a route that precedes them. */
function removeLosers<R extends PairedRoute>(
  members: RouteSet,
  winner: R,
  pattern: Pattern,
  { patterns }: RouteIndex<R>,
): void {
  const losers = patterns.following(winner.pattern, patterns.overlapping(winner.pattern, members));
  const others = losers.copy();
  removeCovered(patterns, others, pattern, winner.pattern);
  members.subtract(losers.subtract(others));
}

function matchRoute<R extends PairedRoute>(side: PairingSide<R>, method: string, path: string): R | undefined {
  const route = side.plan.router.match(method, path);
  return route && side.routeById.get(route.id);
}

/** A route that is paired with routes of another plan. */
export interface PairedRoute extends PatternRoute {
  /**
   * A text that is equal for routes that differ only in their ids and in the literals of their paths. With it, a route is paired
   * with a limited number of routes of one kind: thousands of crossing routes would have millions of pairs.
   */
  readonly kind?: string;
}

/** One of the two plans whose routes are paired. */
export interface PairingSide<R extends PairedRoute> {
  readonly plan: Plan;
  readonly routes: readonly R[];
  readonly routeById: ReadonlyMap<string, R>;
}

export interface SampleRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

/** The routes that a request matches under the old and the new plan. At least one of them is present. */
export interface RoutePair<R extends PatternRoute = PatternRoute> {
  readonly from: R | undefined;
  readonly to: R | undefined;
  /** A request that matches `from` before and `to` after; `undefined` if the routes share their id but no request. */
  readonly request: SampleRequest | undefined;
  /** The number of old routes of the same kind as `from` that overlap with `to` too, but were not paired with it. */
  readonly others?: number;
}

/** True if requests that needed a token, or had no route, need no token now. A new path of the same route changes no access. */
export function becamePublic({ from, to, request }: RoutePair): boolean {
  return request !== undefined && to?.route.access === 'public' && from?.route.access !== 'public';
}

/** True if requests need a token now that needed none before. */
export function becameProtected({ from, to, request }: RoutePair): boolean {
  return request !== undefined && to?.route.access === 'protected' && from?.route.access === 'public';
}
