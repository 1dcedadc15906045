import { sortMethods } from '../http-methods.ts';
import type { Plan } from './plan.ts';
import type { Route } from './route-definition.ts';
import type { Pattern } from './routing/pattern.ts';
import { intersect, type OverlapSearchBudget, overlapSearchBudget, PatternTree } from './routing/pattern-overlap.ts';
import { createSamplePathsSliced } from './routing/sample-paths.ts';
import { runToEnd, type SlicedWork } from './sliced-work.ts';

/** A route and the pattern of its path. */
export interface PatternRoute {
  readonly route: Route;
  readonly pattern: Pattern;
}

/** One of the two plans whose routes are paired. */
export interface PairingSide<R extends PatternRoute> {
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
}

/** The ids of routes that differ between two plans. */
export interface RouteChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Present in both, with different definitions. */
  readonly changed: readonly string[];
}

/** True if requests need no token now that needed one, or had no route, before. */
export function becamePublic({ from, to }: RoutePair): boolean {
  return to?.route.access === 'public' && from?.route.access !== 'public';
}

/** True if requests need a token now that needed none before. */
export function becameProtected({ from, to }: RoutePair): boolean {
  return to?.route.access === 'protected' && from?.route.access === 'public';
}

export function compareRoutes(old: readonly Route[], next: readonly Route[]): RouteChanges {
  const before = new Map(old.map((route) => [route.id, route]));
  const after = new Set(next.map(({ id }) => id));
  return {
    added: idsOf(next.filter(({ id }) => !before.has(id))),
    removed: idsOf(old.filter(({ id }) => !after.has(id))),
    changed: idsOf(next.filter(({ id, key }) => before.has(id) && before.get(id)?.key !== key)),
  };
}

/** Pairs all routes of two plans, however long that takes: an omitted pair could be a route that became public. */
export function pairRoutes<R extends PatternRoute>(old: PairingSide<R>, next: PairingSide<R>): RoutePair<R>[] {
  const changed = changedIds(old, next);
  const budget = { remaining: Number.POSITIVE_INFINITY };
  return runToEnd(pairSelectedRoutes(old, next, { changed, budget, isAccessOnly: false }));
}

/**
 * Pairs routes as far as `becamePublic` and `becameProtected` need it, in slices, for a process that serves requests
 * meanwhile. The work is limited: where thousands of paths cross each other, some pairs are omitted.
 */
export function pairRoutesSliced<R extends PatternRoute>(
  old: PairingSide<R>,
  next: PairingSide<R>,
): SlicedWork<RoutePair<R>[]> {
  const changed = changedIds(old, next);
  const budget = overlapSearchBudget([...old.routes, ...next.routes]);
  return pairSelectedRoutes(old, next, { changed, budget, isAccessOnly: true });
}

interface PairingScope {
  /** The ids of the routes whose overlaps with other routes are searched. */
  readonly changed: ReadonlySet<string>;
  readonly budget: OverlapSearchBudget;
  /** True to search only overlaps of a public and a protected route. */
  readonly isAccessOnly: boolean;
}

/** The cost of one overlap, in steps of the overlap search: routing its sample paths takes about as long as ten steps. */
const OVERLAP_COST = 10;

/**
 * Pairs routes by the requests that they match. Both routers match the same sample paths, so every pair has a request
 * that proves it. Where two patterns overlap, one sample path stands for all paths of the overlap.
 */
function* pairSelectedRoutes<R extends PatternRoute>(
  old: PairingSide<R>,
  next: PairingSide<R>,
  scope: PairingScope,
): SlicedWork<RoutePair<R>[]> {
  const pairs = new Map<string, RoutePair<R>>();
  const add = (from: R | undefined, to: R | undefined, request: SampleRequest | undefined) => {
    const key = `${from?.route.id ?? ''} ${to?.route.id ?? ''}`;
    if ((from ?? to) !== undefined && pairs.get(key)?.request === undefined) pairs.set(key, { from, to, request });
  };
  const routes = [...old.routes, ...next.routes];
  const pathsOf = yield* createSamplePathsSliced(routes.map(({ pattern }) => pattern));
  const propose = (pattern: Pattern, methods: readonly string[]) => {
    for (const url of pathsOf(pattern))
      for (const method of sortMethods(methods))
        add(matchRoute(old, method, url), matchRoute(next, method, url), { method, url });
  };
  for (const { pattern, route } of routes) {
    propose(pattern, route.methods);
    yield;
  }
  for (const [side, otherSide] of [
    [old, next],
    [next, old],
  ] as const)
    for (const [one, other] of overlappingPairs(side.routes, yield* patternTreeOf(otherSide.routes), scope)) {
      const overlap = intersect(one.pattern, other.pattern);
      const methods = one.route.methods.filter((method) => other.route.methods.includes(method));
      if (overlap !== undefined && methods.length > 0) propose(overlap, methods);
      yield;
    }
  for (const from of old.routes) {
    const to = next.routeById.get(from.route.id);
    if (to !== undefined) add(from, to, undefined);
  }
  return [...pairs.values()];
}

function matchRoute<R extends PatternRoute>(side: PairingSide<R>, method: string, path: string): R | undefined {
  const route = side.plan.router.match(method, path);
  return route && side.routeById.get(route.id);
}

/** Yields the changed routes, each with the routes whose paths overlap with its own, as far as the budget goes. */
function* overlappingPairs<R extends PatternRoute>(
  routes: readonly R[],
  others: PatternTree<R>,
  { changed, budget, isAccessOnly }: PairingScope,
): Generator<[R, R]> {
  for (const one of routes) {
    if (!changed.has(one.route.id)) continue;
    for (const other of others.overlapping(one.pattern, budget)) {
      if (isAccessOnly && other.route.access === one.route.access) continue;
      budget.remaining -= OVERLAP_COST;
      if (budget.remaining < 0) return;
      yield [one, other];
    }
  }
}

function changedIds({ plan: old }: PairingSide<PatternRoute>, { plan: next }: PairingSide<PatternRoute>): Set<string> {
  const { added, removed, changed } = compareRoutes(old.routes, next.routes);
  return new Set([...added, ...removed, ...changed]);
}

function* patternTreeOf<R extends PatternRoute>(routes: readonly R[]): SlicedWork<PatternTree<R>> {
  const tree = new PatternTree<R>();
  for (const route of routes) {
    tree.add(route.pattern, route);
    yield;
  }
  return tree;
}

function idsOf(routes: readonly Route[]): string[] {
  return routes.map(({ id }) => id);
}
