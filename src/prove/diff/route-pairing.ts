import { sortMethods } from '../../engine/http1/http-methods.ts';
import { runToEnd, type SlicedWork } from '../../engine/plan/sliced-work.ts';
import type { BitSet } from '../../engine/routing/bit-set.ts';
import { respell } from '../../engine/routing/path-folding.ts';
import { intersect, type Pattern } from '../../engine/routing/pattern.ts';
import { RouteIndex, SamplePaths } from '../../engine/routing/route-index.ts';
import { routingKey } from '../../engine/routing/router.ts';
import { becameProtected, becamePublic, type PairedRoute, type PairingSide, type RoutePair } from './route-pairs.ts';

/**
 * Pairs all routes of two plans, however long that takes: an omitted pair could be a route that became public. Of old routes
 * of one kind, a new route is paired with the first ones.
 */
export function pairRoutes<R extends PairedRoute>(old: PairingSide<R>, next: PairingSide<R>): RoutePair<R>[] {
  return runToEnd(new RoutePairing(old, next, false).run());
}

/**
 * Finds every route that became public or protected, in slices, for a process that serves requests meanwhile. Omits pairs
 * with the same access, and further pairs of a route that it has found.
 */
export function pairRoutesSliced<R extends PairedRoute>(
  old: PairingSide<R>,
  next: PairingSide<R>,
): SlicedWork<RoutePair<R>[]> {
  return new RoutePairing(old, next, true).run();
}

/**
 * Pairs routes by the requests that they match. Both routers match the same sample paths, so every pair has a request
 * that proves it. Where two patterns overlap, one sample path of each length stands for all paths of the overlap.
 */
class RoutePairing<R extends PairedRoute> {
  readonly #old: PairingSide<R>;
  readonly #next: PairingSide<R>;
  readonly #isAccessOnly: boolean;
  readonly #pairs = new Map<string, RoutePair<R>>();

  /** @param isAccessOnly true to find only one pair for each route that became public or protected */
  constructor(old: PairingSide<R>, next: PairingSide<R>, isAccessOnly: boolean) {
    this.#old = old;
    this.#next = next;
    this.#isAccessOnly = isAccessOnly;
  }

  *run(): SlicedWork<RoutePair<R>[]> {
    const routes = [...this.#old.routes, ...this.#next.routes];
    const samplePaths = yield* SamplePaths.create(routes.map(({ pattern }) => pattern));
    for (const { pattern, route } of routes) yield* this.#addRequests(samplePaths.of(pattern), route.methods);
    yield* this.#addOverlaps(samplePaths);
    // A stricter route that changes may also allow or refuse other spellings of its path, which match wider routes.
    for (const { pattern, route } of routes)
      yield* this.#addRequests(samplePaths.of(pattern.map(respell)), route.methods);
    for (const from of this.#old.routes) {
      const to = this.#next.routeById.get(from.route.id);
      if (to !== undefined) this.#add({ from, to, request: undefined });
    }
    return [...this.#pairs.values()];
  }

  /** Adds the pairs of overlapping routes. Two routes that the router treats as before are no such pair: the same one wins. */
  *#addOverlaps(samplePaths: SamplePaths): SlicedWork<void> {
    const changedIds = yield* this.#changedIds();
    if (changedIds.size === 0) return;
    const oldIndex = yield* RouteIndex.create(this.#old.routes);
    const nextIndex = yield* RouteIndex.create(this.#next.routes);
    const changedRoutes = oldIndex.select(({ route }) => changedIds.has(route.id));
    const byAccess = {
      public: oldIndex.select(({ route }) => route.access === 'public'),
      protected: oldIndex.select(({ route }) => route.access === 'protected'),
    };
    for (const to of this.#next.routes) {
      yield;
      const { pattern, route } = to;
      const candidates = changedIds.has(route.id) ? oldIndex.patterns.all.copy() : changedRoutes.copy();
      if (this.#isAccessOnly) candidates.subtract(byAccess[route.access]);
      if (candidates.isEmpty()) continue;
      const overlapping = oldIndex.patterns.overlapping(pattern, candidates);
      const limit = new KindLimit<R>();
      const search = { to, overlapping, oldIndex, nextIndex, samplePaths, limit };
      for (const method of sortMethods(route.methods)) if (yield* this.#addPairsOf(search, method)) break;
    }
  }

  /** Returns the ids of the routes that are new or removed, or that the router treats in another way. */
  *#changedIds(): SlicedWork<ReadonlySet<string>> {
    const ids = new Set(this.#old.routes.map(({ route }) => route.id));
    for (const { route } of this.#next.routes) {
      const before = this.#old.routeById.get(route.id)?.route;
      if (before !== undefined && routingKey(before) === routingKey(route)) ids.delete(route.id);
      else ids.add(route.id);
      yield;
    }
    return ids;
  }

  /** Adds the pairs of one new route for one method. Returns true if no other pair of this route is needed. */
  *#addPairsOf(
    { to, overlapping, oldIndex, nextIndex, samplePaths, limit }: PairSearch<R>,
    method: string,
  ): SlicedWork<boolean> {
    const { pattern } = to;
    const candidates = overlapping.copy().intersect(oldIndex.withMethod(method));
    const contest = { pattern, method, candidates };
    for (const { length, members } of nextIndex.wonPaths(contest, samplePaths, oldIndex.patterns)) {
      yield;
      limit.removeComplete(members, oldIndex);
      for (const member of members) {
        const candidate = oldIndex.routes[member] as R;
        const overlap = intersect(pattern, candidate.pattern) ?? [];
        const pair = this.#addRequest(method, samplePaths.pathOf(overlap, length));
        if (this.#isAccessOnly && (becamePublic(pair) || becameProtected(pair)) && pair.to === to) return true;
        const others = pair.from === candidate && pair.to === to ? limit.count(candidate, members, oldIndex) : 0;
        if (others > 0) this.#pairs.set(keyOf(pair), { ...pair, others });
        if (pair.from !== undefined && pair.from !== candidate) removeLosers(members, pair.from, pattern, oldIndex);
        yield;
      }
    }
    return false;
  }

  *#addRequests(paths: Iterable<string>, methods: readonly string[]): SlicedWork<void> {
    for (const path of paths) {
      for (const method of sortMethods(methods)) this.#addRequest(method, path);
      yield;
    }
  }

  /** Adds the routes that a request matches before and after. */
  #addRequest(method: string, url: string): RoutePair<R> {
    const pair = { from: matchRoute(this.#old, method, url), to: matchRoute(this.#next, method, url) };
    return this.#add({ ...pair, request: { method, url } });
  }

  #add(pair: RoutePair<R>): RoutePair<R> {
    const { from, to } = pair;
    const key = keyOf(pair);
    if ((from ?? to) !== undefined && this.#pairs.get(key)?.request === undefined) this.#pairs.set(key, pair);
    return pair;
  }
}

interface PairSearch<R extends PairedRoute> {
  readonly to: R;
  /** The old routes that could be in a pair with it. */
  readonly overlapping: BitSet;
  readonly oldIndex: RouteIndex<R>;
  readonly nextIndex: RouteIndex<R>;
  readonly samplePaths: SamplePaths;
  readonly limit: KindLimit<R>;
}

/** The old routes of one kind with which a new route is paired. */
const MAX_OF_KIND = 20;

/** Limits the pairs of a new route with old routes of one kind. Routes without a kind have no limit. */
class KindLimit<R extends PairedRoute> {
  /** The routes with which the new one is paired, by kind. */
  readonly #paired = new Map<string, Set<R>>();

  /** Counts a pair with an old route. If the kind is complete, removes its routes from the set, and returns their number. */
  count(route: R, members: BitSet, index: RouteIndex<R>): number {
    const { kind } = route;
    if (kind === undefined) return 0;
    const paired = this.#paired.get(kind) ?? new Set<R>();
    this.#paired.set(kind, paired);
    if (paired.size >= MAX_OF_KIND) return 0;
    paired.add(route);
    return paired.size < MAX_OF_KIND ? 0 : this.#remove(members, index);
  }

  /** Removes the routes of complete kinds from a set, except those that are paired. Returns the number of removed routes. */
  removeComplete(members: BitSet, index: RouteIndex<R>): void {
    if ([...this.#paired.values()].some(({ size }) => size >= MAX_OF_KIND)) this.#remove(members, index);
  }

  #remove(members: BitSet, index: RouteIndex<R>): number {
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
  members: BitSet,
  winner: R,
  pattern: Pattern,
  { patterns }: RouteIndex<R>,
): void {
  const losers = patterns.following(winner.pattern, patterns.overlapping(winner.pattern, members));
  const others = losers.copy();
  patterns.removeCovered(others, pattern, winner.pattern);
  members.subtract(losers.subtract(others));
}

function matchRoute<R extends PairedRoute>(side: PairingSide<R>, method: string, path: string): R | undefined {
  const route = side.plan.router.match(method, path);
  return route && side.routeById.get(route.id);
}
