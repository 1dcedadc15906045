import { type Changes, changesBetween } from '../plan/changes.ts';
import type { Pattern } from '../plan/pattern.ts';
import { meet, PatternTree, type Steps } from '../plan/pattern-sets.ts';
import { createSamplePaths, inUsualOrder } from '../plan/sample-paths.ts';
import type { Request } from './difference.ts';
import type { Side, SideRoute } from './side.ts';

/** What has a request in the old manifest and what has it in the new one: at least one of the two. */
export interface Pair {
  readonly from: SideRoute | undefined;
  readonly to: SideRoute | undefined;
  /** A request that goes from the one to the other; `undefined`: they have the same id, and no request in common. */
  readonly request: Request | undefined;
}

/**
 * Pairs the routes of two manifests by the requests that they get. Paths are proposed, and both routers decide: what is said of
 * a request is what happens to it. Where two patterns meet, what is true of one sample path is true of all. Routes that are
 * written as they were keep what they had but for those that are not.
 */
export function pairsBetween(old: Side, next: Side): Pair[] {
  const pairs = new Map<string, Pair>();
  const add = (from: SideRoute | undefined, to: SideRoute | undefined, request: Request | undefined) => {
    const key = `${from?.route.id ?? ''} ${to?.route.id ?? ''}`;
    if ((from ?? to) !== undefined && pairs.get(key)?.request === undefined) pairs.set(key, { from, to, request });
  };
  const pathsOf = createSamplePaths([...old.routes, ...next.routes].map(({ pattern }) => pattern));
  const propose = (pattern: Pattern, methods: readonly string[]) => {
    for (const url of pathsOf(pattern))
      for (const method of methods) {
        const from = routeAt(old, method, url);
        const to = routeAt(next, method, url);
        add(from, to, { method, url });
      }
  };
  for (const { pattern, route } of [...old.routes, ...next.routes]) propose(pattern, inUsualOrder(route.methods));
  for (const [one, other] of meetings(old, next, changesBetween(old.plan, next.plan))) {
    const met = meet(one.pattern, other.pattern);
    const methods = one.route.methods.filter((method) => other.route.methods.includes(method));
    if (met !== undefined && methods.length > 0) propose(met, inUsualOrder(methods));
  }
  for (const from of old.routes) {
    const to = next.routeOf.get(from.route.id);
    if (to !== undefined) add(from, to, undefined);
  }
  return [...pairs.values()];
}

function routeAt(side: Side, method: string, path: string): SideRoute | undefined {
  const route = side.plan.router.match(method, path);
  return route && side.routeOf.get(route.id);
}

/** The pairs of an old and a new route whose paths meet, and of which one at least is written otherwise than before. */
function* meetings(old: Side, next: Side, { added, removed, changed }: Changes): Generator<[SideRoute, SideRoute]> {
  const isOther = new Set([...added, ...removed, ...changed]);
  const [oldTree, nextTree] = [treeOf(old.routes), treeOf(next.routes)];
  for (const one of old.routes)
    if (isOther.has(one.route.id)) for (const other of nextTree.meeting(one.pattern, endless())) yield [one, other];
  for (const other of next.routes)
    if (isOther.has(other.route.id)) for (const one of oldTree.meeting(other.pattern, endless())) yield [one, other];
}

/** What was left out here could be a route that became public. */
function endless(): Steps {
  return { left: Number.POSITIVE_INFINITY };
}

function treeOf(routes: readonly SideRoute[]): PatternTree<SideRoute> {
  const tree = new PatternTree<SideRoute>();
  for (const route of routes) tree.add(route.pattern, route);
  return tree;
}
