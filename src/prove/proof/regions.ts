import { foremost, wonPaths } from '../../check/lint/won-paths.ts';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { HTTP_METHODS, sortMethods } from '../../engine/http1/http-methods.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import { foldLiteral, isAlreadyFolded } from '../../engine/routing/path-folding.ts';
import { intersect, literalPattern, type Pattern } from '../../engine/routing/pattern.ts';
import { type PatternRoute, RouteIndex, SamplePaths } from '../../engine/routing/route-index.ts';
import type { Router } from '../../engine/routing/router.ts';
import { findChangedIds } from '../diff/route-pairing.ts';
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

/** The literals with which servers compare a path: folded, or as they are written. */
export type PatternForm = Router['forms'][number];
type Form = 'sent' | PatternForm;

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
  const changed = runToEnd(findChangedIds(one, two));
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
  }

  /** Yields requests for the routes of a side: of each length, and common ones with the routes of the other side. */
  function* requestsOf(own: View, others: View) {
    // Two routes that the routers treat as before share no other requests: the same one wins.
    const changedOthers = others.index.select(({ route }) => changed.has(route.id));
    for (const [index, { pattern }] of own.index.routes.entries()) {
      const route = own.side.routes[index] as DiffRoute;
      const ownMethods = methods.filter((one) => route.route.methods.includes(one));
      for (const method of ownMethods) for (const path of samplePaths.of(pattern)) yield { method, path, route };
      const among = changed.has(route.route.id) ? others.index.patterns.all : changedOthers;
      const overlapping = others.index.patterns.overlapping(pattern, among);
      if (overlapping.isEmpty()) continue;
      for (const method of ownMethods) {
        const candidates = overlapping.copy().intersect(others.index.withMethod(method));
        const contest = { pattern, method, candidates };
        for (const { length, members } of wonPaths(own.index, contest, samplePaths, others.index.patterns))
          for (const member of members) {
            const within = intersect(pattern, others.index.routes[member]?.pattern ?? []) ?? [];
            yield { method, path: samplePaths.pathOf(within, length), route };
          }
      }
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

function sentView(side: DiffSide): View {
  const { router } = side.plan;
  const index = indexOf(side.routes);
  const firstOf = (method: string, path: string) => {
    const matching = index.patterns.overlapping(literalPattern(path), index.withMethod(method));
    const [first] = foremost(index.patterns, matching);
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

function readView({ side, index: sent }: View, form: PatternForm): View {
  const isFolded = form === 'written' || side.routes.every(({ pattern }) => pattern.every(isAlreadyFolded));
  const folded = () => indexOf(side.routes.map(({ route, pattern }) => ({ route, pattern: patternIn(form, pattern) })));
  const index = isFolded ? sent : folded();
  const matchOf = (method: string, path: string) => {
    const route = side.plan.router.matchReading(method, { path, form });
    return { route: route && side.routeById.get(route.id), isServed: true };
  };
  return { side, index, matchOf };
}

/** Returns the pattern with which servers compare a reading. */
export function patternIn(form: PatternForm, pattern: Pattern): Pattern {
  return form === 'written' ? pattern : pattern.map(foldLiteral);
}

function indexOf(routes: readonly PatternRoute[]): RouteIndex {
  return runToEnd(RouteIndex.create(routes));
}
