import { sortMethods } from '../http-methods.ts';
import { comparePlans, type PlanChanges } from '../plan/changes.ts';
import type { Pattern } from '../plan/routing/pattern.ts';
import { intersect, type OverlapSearchBudget, PatternTree } from '../plan/routing/pattern-overlap.ts';
import { createSamplePaths } from '../plan/routing/sample-paths.ts';
import type { DiffRequest } from './difference.ts';
import type { DiffRoute, DiffSide } from './side.ts';

/** The routes that receive a request in the old and in the new manifest. At least one of them is set. */
export interface RoutePair {
  readonly from: DiffRoute | undefined;
  readonly to: DiffRoute | undefined;
  /** A request that goes to both routes. Undefined if they share only their id. */
  readonly request: DiffRequest | undefined;
}

/**
 * Pairs the routes of two manifests by the requests that they receive. Both routers match the same sample paths, so every
 * witness behaves in the running gateway as reported. The intersection of two patterns needs only its sample paths.
 * Unchanged routes are compared only with changed ones.
 */
export function pairRoutes(old: DiffSide, next: DiffSide): RoutePair[] {
  const pairs = new Map<string, RoutePair>();
  const add = (from: DiffRoute | undefined, to: DiffRoute | undefined, request: DiffRequest | undefined) => {
    const key = `${from?.route.id ?? ''} ${to?.route.id ?? ''}`;
    if ((from ?? to) !== undefined && pairs.get(key)?.request === undefined) pairs.set(key, { from, to, request });
  };
  const samplePaths = createSamplePaths([...old.routes, ...next.routes].map(({ pattern }) => pattern));
  const matchSamples = (pattern: Pattern, methods: readonly string[]) => {
    for (const url of samplePaths(pattern))
      for (const method of methods) {
        const from = matchRoute(old, method, url);
        const to = matchRoute(next, method, url);
        add(from, to, { method, url });
      }
  };
  for (const { pattern, route } of [...old.routes, ...next.routes]) matchSamples(pattern, sortMethods(route.methods));
  for (const [one, other] of overlappingPairs(old, next, comparePlans(old.plan, next.plan))) {
    const intersection = intersect(one.pattern, other.pattern);
    const methods = one.route.methods.filter((method) => other.route.methods.includes(method));
    if (intersection !== undefined && methods.length > 0) matchSamples(intersection, sortMethods(methods));
  }
  for (const from of old.routes) {
    const to = next.routeById.get(from.route.id);
    if (to !== undefined) add(from, to, undefined);
  }
  return [...pairs.values()];
}

function matchRoute(side: DiffSide, method: string, path: string): DiffRoute | undefined {
  const route = side.plan.router.match(method, path);
  return route && side.routeById.get(route.id);
}

/** Yields the pairs of an old and a new route that overlap and of which at least one changed. */
function* overlappingPairs(
  old: DiffSide,
  next: DiffSide,
  { added, removed, changed }: PlanChanges,
): Generator<[DiffRoute, DiffRoute]> {
  const changedIds = new Set([...added, ...removed, ...changed]);
  const [oldTree, nextTree] = [patternTreeOf(old.routes), patternTreeOf(next.routes)];
  for (const one of old.routes)
    if (changedIds.has(one.route.id))
      for (const other of nextTree.overlapping(one.pattern, unlimitedSteps())) yield [one, other];
  for (const other of next.routes)
    if (changedIds.has(other.route.id))
      for (const one of oldTree.overlapping(other.pattern, unlimitedSteps())) yield [one, other];
}

/** Returns a budget without a limit: a skipped pair could hide a route that became public. */
function unlimitedSteps(): OverlapSearchBudget {
  return { remaining: Number.POSITIVE_INFINITY };
}

function patternTreeOf(routes: readonly DiffRoute[]): PatternTree<DiffRoute> {
  const tree = new PatternTree<DiffRoute>();
  for (const route of routes) tree.add(route.pattern, route);
  return tree;
}
