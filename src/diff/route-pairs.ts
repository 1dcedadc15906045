import { sortMethods } from '../http-methods.ts';
import { comparePlans, type PlanChanges } from '../plan/changes.ts';
import type { Pattern } from '../plan/routing/pattern.ts';
import { intersect, type OverlapSearchBudget, PatternTree } from '../plan/routing/pattern-overlap.ts';
import { createSamplePaths } from '../plan/routing/sample-paths.ts';
import type { DiffRequest } from './difference.ts';
import type { DiffRoute, DiffSide } from './side.ts';

/** What has a request in the old manifest and what has it in the new one: at least one of the two. */
export interface RoutePair {
  readonly from: DiffRoute | undefined;
  readonly to: DiffRoute | undefined;
  /** A request that goes from the one to the other; `undefined`: they have the same id, and no request in common. */
  readonly request: DiffRequest | undefined;
}

/**
 * Pairs the routes of two manifests by the requests that they get. Paths are proposed, and both routers decide: what is said of
 * a request is what happens to it. Where two patterns meet, what is true of one sample path is true of all. Routes that are
 * written as they were keep what they had but for those that are not.
 */
export function pairRoutes(old: DiffSide, next: DiffSide): RoutePair[] {
  const pairs = new Map<string, RoutePair>();
  const add = (from: DiffRoute | undefined, to: DiffRoute | undefined, request: DiffRequest | undefined) => {
    const key = `${from?.route.id ?? ''} ${to?.route.id ?? ''}`;
    if ((from ?? to) !== undefined && pairs.get(key)?.request === undefined) pairs.set(key, { from, to, request });
  };
  const pathsOf = createSamplePaths([...old.routes, ...next.routes].map(({ pattern }) => pattern));
  const propose = (pattern: Pattern, methods: readonly string[]) => {
    for (const url of pathsOf(pattern))
      for (const method of methods) {
        const from = matchRoute(old, method, url);
        const to = matchRoute(next, method, url);
        add(from, to, { method, url });
      }
  };
  for (const { pattern, route } of [...old.routes, ...next.routes]) propose(pattern, sortMethods(route.methods));
  for (const [one, other] of overlappingPairs(old, next, comparePlans(old.plan, next.plan))) {
    const met = intersect(one.pattern, other.pattern);
    const methods = one.route.methods.filter((method) => other.route.methods.includes(method));
    if (met !== undefined && methods.length > 0) propose(met, sortMethods(methods));
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

/** The pairs of an old and a new route whose paths meet, and of which one at least is written otherwise than before. */
function* overlappingPairs(
  old: DiffSide,
  next: DiffSide,
  { added, removed, changed }: PlanChanges,
): Generator<[DiffRoute, DiffRoute]> {
  const isOther = new Set([...added, ...removed, ...changed]);
  const [oldTree, nextTree] = [patternTreeOf(old.routes), patternTreeOf(next.routes)];
  for (const one of old.routes)
    if (isOther.has(one.route.id))
      for (const other of nextTree.overlapping(one.pattern, unlimitedSteps())) yield [one, other];
  for (const other of next.routes)
    if (isOther.has(other.route.id))
      for (const one of oldTree.overlapping(other.pattern, unlimitedSteps())) yield [one, other];
}

/** What was left out here could be a route that became public. */
function unlimitedSteps(): OverlapSearchBudget {
  return { remaining: Number.POSITIVE_INFINITY };
}

function patternTreeOf(routes: readonly DiffRoute[]): PatternTree<DiffRoute> {
  const tree = new PatternTree<DiffRoute>();
  for (const route of routes) tree.add(route.pattern, route);
  return tree;
}
