import { getOrCreate } from '../../engine/get-or-create.ts';
import { HTTP_METHODS, sortMethods } from '../../engine/http1/http-methods.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import { BitSet } from '../../engine/routing/bit-set.ts';
import { isAlreadyFolded } from '../../engine/routing/path-folding.ts';
import { type LiteralForm, patternIn } from '../../engine/routing/path-reader.ts';
import { intersect, literalPattern, type Pattern } from '../../engine/routing/pattern.ts';
import { type PatternRoute, RouteIndex, SamplePaths } from '../../engine/routing/route-index.ts';
import { routingKey } from '../../engine/routing/router.ts';
import type { DiffRoute, DiffSide } from '../diff/side.ts';

/**
 * Requests with one method whose paths go to one route, and with the other manifest to another route or to none. The path is one of
 * them, with unknown texts: other routes take the fewest of these.
 */
export interface Region {
  readonly method: string;
  readonly path: string;
  readonly route: DiffRoute;
  readonly other: DiffRoute | undefined;
  /** False if the router refuses the path, because some servers read it as one of a stricter route. */
  readonly isServed: boolean;
  readonly isServedByOther: boolean;
}

/** Requests of a region that the other manifest does not serve. */
export interface OpenedRegion {
  readonly region: Region;
  /** The stricter route of the other manifest because of which its router refuses the path: some servers read it as one of that route. */
  readonly reader?: DiffRoute;
  /** False if the path is no such request, and none was found, although the routes do not exclude one. */
  readonly isFound: boolean;
}

/** The routes of a manifest with the patterns that paths are compared with. */
interface View {
  readonly side: DiffSide;
  readonly index: RouteIndex;
  /** Returns the route that takes precedence, also if the router refuses the path. */
  readonly matchOf: (method: string, path: string) => Pick<Region, 'isServed'> & { readonly route: Region['other'] };
}

/** Further patterns and methods that divide requests, such as those of an allowance. */
export interface Divider {
  readonly patterns: readonly Pattern[];
  readonly methods: readonly string[];
}

type Form = 'sent' | LiteralForm;

/** More regions are not searched: thousands of routes that changed and cross each other have millions. */
const MAX_REGIONS = 1_000_000;

export class TooManyRegions extends Error {}

export type RegionSearch = ReturnType<typeof createRegionSearch>;

/** Divides the requests of two manifests into regions. The texts of a path stand for all texts that no route and no divider names. */
export function createRegionSearch(one: DiffSide, two: DiffSide, dividers: readonly Divider[]) {
  const routes = [...one.routes, ...two.routes];
  const lists = [...routes.map(({ route }) => route), ...dividers].map(({ methods }) => methods);
  const methods = distinctMethods(lists);
  const patterns = [...routes.map(({ pattern }) => pattern), ...dividers.flatMap((divider) => divider.patterns)];
  const samplePaths = runToEnd(SamplePaths.create(patterns));
  const changed = changedIds(one, two);
  const forms = new Set([one, two].flatMap(({ plan }) => plan.router.forms));
  const views = new Map<Form, Map<DiffSide, View>>();
  const viewsIn = (form: Form) => getOrCreate(views, form, () => new Map<DiffSide, View>());
  const viewOf = (side: DiffSide, form: Form): View =>
    getOrCreate(viewsIn(form), side, () => (form === 'sent' ? sentView(side) : readView(viewOf(side, 'sent'), form)));
  return { find, forms, methods, unknown: samplePaths.unknown, hasChanges: changed.size > 0 };

  /** Yields the regions of all routes of a side. @param form of the paths: as sent, or as servers read them */
  function* find(side: DiffSide, other: DiffSide, form: Form): Generator<Region> {
    const [own, others] = [viewOf(side, form), viewOf(other, form)];
    let count = 0;
    for (const { method, path, route } of requestsOf(own, others)) {
      const match = own.matchOf(method, path);
      if (match.route !== route) continue;
      count += 1;
      if (count > MAX_REGIONS) throw new TooManyRegions();
      const { route: twin, isServed: isServedByOther } = others.matchOf(method, path);
      yield { method, path, route, other: twin, isServed: match.isServed, isServedByOther };
    }
    for (const route of unaffectedRoutes(side, other)) yield* unaffectedRegion(route, own, other, form);
  }

  /** Yields requests for the routes of a side: of each length, and common ones with the routes of the other side. */
  function* requestsOf(own: View, others: View) {
    const unaffected = new Set(unaffectedRoutes(own.side, others.side));
    // Two routes that the routers treat as before share no other requests: the same one wins.
    const changedOthers = others.index.select(({ route }) => changed.has(route.id));
    for (const [index, { pattern }] of own.index.routes.entries()) {
      const route = own.side.routes[index] as DiffRoute;
      if (unaffected.has(route)) continue;
      const ownMethods = methods.filter((one) => route.route.methods.includes(one));
      for (const method of ownMethods) for (const path of samplePaths.of(pattern)) yield { method, path, route };
      const among = changed.has(route.route.id) ? others.index.patterns.all : changedOthers;
      const overlapping = others.index.patterns.overlapping(pattern, among);
      if (overlapping.isEmpty()) continue;
      for (const method of ownMethods) {
        const candidates = overlapping.copy().intersect(others.index.withMethod(method));
        const contest = { pattern, method, candidates };
        for (const { length, members } of own.index.wonPaths(contest, samplePaths, others.index.patterns))
          for (const member of members) {
            const within = intersect(pattern, others.index.routes[member]?.pattern ?? []) ?? [];
            yield { method, path: samplePaths.pathOf(within, length), route };
          }
      }
    }
  }

  /** Returns the routes that the routers treat as before, as all whose paths servers may read alike. Without dividers, one region is enough. */
  function unaffectedRoutes(own: DiffSide, other: DiffSide): readonly DiffRoute[] {
    if (dividers.length > 0) return [];
    const [{ index }, others] = [viewOf(own, 'folded'), viewOf(other, 'folded')];
    const { patterns } = indexOf(index.routes.map(({ route, pattern }) => ({ route, pattern: readPattern(pattern) })));
    const affected = BitSet.empty(own.routes.length);
    for (const { route, pattern } of [...index.routes, ...others.index.routes])
      if (changed.has(route.id)) affected.unite(patterns.overlapping(readPattern(pattern)));
    return own.routes.filter((_, position) => !affected.has(position));
  }

  function* unaffectedRegion(route: DiffRoute, own: View, other: DiffSide, form: Form): Generator<Region> {
    const twin = other.routeById.get(route.route.id);
    for (const method of methods.filter((one) => route.route.methods.includes(one)))
      for (const path of samplePaths.of(route.pattern)) {
        // As servers read them, only the routes matter and not the paths.
        const { route: first, isServed } = form === 'sent' ? own.matchOf(method, path) : { route, isServed: true };
        if (first !== route) continue;
        yield { method, path, route, other: twin, isServed, isServedByOther: isServed };
        if (isServed) return;
      }
  }
}

/** Returns one of the methods for each group that the same lists have, the most common first. */
function distinctMethods(lists: readonly (readonly string[])[]): readonly string[] {
  const distinct = [...new Map(lists.map((methods) => [methods.join(), methods])).values()];
  const useOf = (method: string) => distinct.map((methods) => Number(methods.includes(method))).join('');
  const byUse = new Map(
    [...sortMethods(HTTP_METHODS)].reverse().map((method): [string, string] => [useOf(method), method]),
  );
  return sortMethods([...byUse.values()]);
}

/** Returns the ids of the routes that one side lacks, or that the routers treat in different ways. */
function changedIds(one: DiffSide, two: DiffSide): ReadonlySet<string> {
  const ids = new Set(one.routes.map(({ route }) => route.id));
  for (const { route } of two.routes) {
    const before = one.routeById.get(route.id)?.route;
    if (before !== undefined && routingKey(before) === routingKey(route)) ids.delete(route.id);
    else ids.add(route.id);
  }
  return ids;
}

function sentView(side: DiffSide): View {
  const { router } = side.plan;
  const index = indexOf(side.routes);
  const firstOf = (method: string, path: string) => {
    const matching = index.patterns.overlapping(literalPattern(path), index.withMethod(method));
    const [first] = index.patterns.foremost(matching);
    return first === undefined ? undefined : side.routes[first];
  };
  return {
    side,
    index,
    matchOf: (method, path) => {
      const route = router.match(method, path);
      if (route === undefined) return { route: firstOf(method, path), isServed: false };
      return { route: side.routeById.get(route.id), isServed: true };
    },
  };
}

function readView({ side, index: sent }: View, form: LiteralForm): View {
  const isFolded = form === 'written' || side.routes.every(({ pattern }) => pattern.every(isAlreadyFolded));
  const folded = () => indexOf(side.routes.map(({ route, pattern }) => ({ route, pattern: patternIn(form, pattern) })));
  const index = isFolded ? sent : folded();
  const matchOf = (method: string, path: string) => {
    const route = side.plan.router.matchReading(method, { path, form });
    return { route: route && side.routeById.get(route.id), isServed: true };
  };
  return { side, index, matchOf };
}

/** Returns a pattern of all paths that servers may read the paths of a pattern as: a text can be read as several segments, or end the path. */
function readPattern(pattern: Pattern): Pattern {
  const free = pattern.findIndex(({ kind }) => kind !== 'literal');
  return free === -1 ? pattern : [...pattern.slice(0, free), { kind: 'rest' }];
}

function indexOf(routes: readonly PatternRoute[]): RouteIndex {
  return runToEnd(RouteIndex.create(routes));
}
