import { getOrCreate } from '../../../engine/get-or-create.ts';
import { sortMethods } from '../../../engine/http1/http-methods.ts';
import type { RouteWitness } from '../../../engine/problem/finding.ts';
import { foldLiteral } from '../../../engine/routing/path-folding.ts';
import { intersect, patternKey } from '../../../engine/routing/pattern.ts';
import type { RouteSet } from '../../../engine/routing/route-index.ts';
import { isStricter } from '../../../engine/routing/router.ts';
import type { LintContext, LintRoute } from '../lint-context.ts';
import { besideRoute, findingAt, rulesOf } from '../rule.ts';

export const OVERLAPPING_ROUTE_RULES = rulesOf('routes', {
  'route-ambiguous': {
    level: ['warning', 'recommended'],
    rationale:
      'Where two paths overlap, the one that has a literal segment first wins, which readers of the manifest may not expect.',
    *find(context) {
      const { routes, witnessSearch } = context;
      for (const [lintRoute, others] of crossingRoutes(context))
        for (const index of others) {
          const other = routes[index] as LintRoute;
          const methods = lintRoute.route.methods.filter((name) => other.route.methods.includes(name));
          const overlap = intersect(lintRoute.pattern, other.pattern) ?? [];
          const witness = witnessSearch.findAnyRequest(sortMethods(methods), overlap);
          if (witness === undefined && witnessSearch.spellings.isExhausted()) break;
          if (witness === undefined) continue;
          const { method, path, route } = witness;
          const message = `${method} ${path} matches this route and "${other.route.id}", and goes to "${route}"; narrow one of the two paths`;
          yield findingAt([...lintRoute.path, 'path'], message, besideRoute(other, 'the other route', witness));
          break;
        }
    },
  },
  'route-case-twin': {
    level: ['warning', 'minimal'],
    rationale:
      'Some servers ignore letter case, trailing dots and `;` parameters, so the gateway responds with 404 to a path that such a server would treat as the path of a stricter route.',
    *find(context) {
      const twins = spellingTwins(context);
      for (const lintRoute of context.routes) {
        const refused = twins.findRefusing(lintRoute);
        const earlier = refused?.isTwin ? undefined : twins.findEarlier(lintRoute);
        const other = earlier ?? refused?.refusing;
        if (other === undefined) continue;
        const { id } = other.route;
        const witness = twins.sampleWitness(lintRoute);
        const request = `${witness.method} ${witness.path}`;
        const message =
          earlier !== undefined
            ? `this path differs only in spelling from that of "${id}": ${request} ${outcomeOf(witness)}; use one spelling`
            : refused?.isTwin
              ? `${request} gets a 404 response: its path differs only in spelling from that of the stricter route "${id}"; give one of the two another path`
              : `${request} gets a 404 response, as almost every request for this path does: in another spelling it is a path of the stricter route "${id}"; give one of the two another path`;
        yield findingAt([...lintRoute.path, 'path'], message, besideRoute(other, 'the other route', witness));
      }
    },
  },
  'route-method-unreachable': {
    level: ['info', 'recommended'],
    rationale:
      'If more specific routes receive every request with this method, this route never serves it, although the manifest suggests that it does.',
    *find({ routes, witnessSearch }) {
      for (const lintRoute of routes) {
        const { entry, route, path, pattern } = lintRoute;
        if (typeof entry.method === 'string') continue;
        const isUnreached = entry.method.map((method) => witnessSearch.isUnreachable(lintRoute, [method]));
        if (isUnreached.every((isMissing) => isMissing)) continue;
        const [samplePath = ''] = witnessSearch.samplePaths.of(pattern);
        for (const [index, method] of entry.method.entries()) {
          if (!isUnreached[index]) continue;
          const witness = witnessSearch.match(method, samplePath);
          const message = `${method} never reaches "${route.id}": ${method} ${samplePath} ${outcomeOf(witness)}; remove ${method}`;
          yield findingAt([...path, 'method', index], message, { witness });
        }
      }
    },
  },
  'route-slash-twin': {
    level: ['info', 'recommended'],
    rationale:
      'Matching ignores one trailing slash, so a path that ends with a slash belongs to the shorter route, although it looks like a prefix of the longer one.',
    *find({ routes, witnessSearch }) {
      const restsByPath = Map.groupBy(
        routes.filter(({ pattern }) => pattern.at(-1)?.kind === 'rest'),
        ({ pattern }) => patternKey(pattern.slice(0, -1)),
      );
      for (const lintRoute of routes) {
        const { route, path, pattern } = lintRoute;
        // A path cannot consist of two slashes.
        if (pattern.length === 0) continue;
        for (const rest of restsByPath.get(patternKey(pattern)) ?? []) {
          if (rest.route.access === route.access && rest.route.upstream === route.upstream) continue;
          const methods = route.methods.filter((name) => rest.route.methods.includes(name));
          const request = witnessSearch.findRequest(lintRoute, methods);
          const witness = request && witnessSearch.match(request.method, `${request.path}/`);
          if (witness?.route !== route.id) continue;
          const message = `${witness.method} ${witness.path} goes to this route, not to "${rest.route.id}", because matching ignores a trailing slash; make sure that this is intended`;
          yield findingAt([...path, 'path'], message, besideRoute(rest, 'the longer route', witness));
          break;
        }
      }
    },
  },
  'route-undecided': {
    level: ['warning', 'minimal'],
    rationale:
      'Servers read a path with escapes, capitals or dots as that of another route. If there are too many routes to try, a public route may receive requests for a protected path although no other rule reports it.',
    *find({ routes, witnessSearch }) {
      // The rules before this one have searched too. This search finds routes whose paths no rule has tried.
      for (const lintRoute of routes) witnessSearch.isUnreachable(lintRoute, lintRoute.route.methods);
      const [first, ...others] = witnessSearch.undecided;
      if (first === undefined) return;
      const more = others.length === 0 ? '' : ` and ${others.length} other route${others.length === 1 ? '' : 's'}`;
      const message = `the search for requests to this route${more} stopped after ${witnessSearch.spellings.stepCount()} paths, so findings may be missing; write literals in lower case without escapes and leading dots`;
      yield findingAt([...first.path, 'path'], message);
    },
  },
  'route-unreachable': {
    level: ['warning', 'minimal'],
    rationale: 'A route that receives no requests does nothing, and the checks that it configures never run.',
    *find(context) {
      const { routes, witnessSearch } = context;
      const twins = spellingTwins(context);
      const byId = new Map(routes.map((lintRoute) => [lintRoute.route.id, lintRoute]));
      for (const lintRoute of routes) {
        const { route, path } = lintRoute;
        if (!witnessSearch.isUnreachable(lintRoute, route.methods)) continue;
        // The rule route-case-twin reports these.
        if (twins.findRefusing(lintRoute) !== undefined) continue;
        const witness = twins.sampleWitness(lintRoute);
        const winner = byId.get(witness.route ?? '');
        const message = `no request reaches this route: ${witness.method} ${witness.path} ${outcomeOf(witness)}; remove it, or change its path`;
        const extras = winner === undefined ? { witness } : besideRoute(winner, 'the route that wins', witness);
        yield findingAt([...path, 'path'], message, extras);
      }
    },
  },
});

/** Yields each route with earlier ones that handle common requests differently, if each of the two has paths that the other lacks. */
function* crossingRoutes({ routes, routeIndex }: LintContext): Generator<[LintRoute, RouteSet]> {
  const { patterns } = routeIndex;
  const createSet = () => routeIndex.select(() => false);
  const byAccess = new Map<string, RouteSet>();
  const byEffect = new Map<string, RouteSet>();
  for (const [index, lintRoute] of routes.entries()) {
    const { pattern, route, entry } = lintRoute;
    const sameAccess = getOrCreate(byAccess, entry.access, createSet);
    const sameEffect = getOrCreate(byEffect, effectOf(lintRoute), createSet);
    const others = patterns.overlapping(pattern, sameAccess.copy().subtract(sameEffect));
    others.subtract(patterns.containing(pattern, others)).subtract(patterns.containedIn(pattern, others));
    yield [lintRoute, others.intersect(routeIndex.withAnyMethod(route.methods))];
    sameAccess.add(index);
    sameEffect.add(index);
  }
}

/** Equal for routes that handle requests in the same way. The `public-` rules report routes with different access. */
function effectOf({ entry: { access, upstream, roles, login, upstreamPath } }: LintRoute): string {
  return JSON.stringify([access, upstream, roles, login, upstreamPath]);
}

function outcomeOf({ route }: RouteWitness): string {
  return route === undefined ? 'gets a 404 response' : `goes to "${route}"`;
}

/** Returns searches for routes whose paths differ only in spelling from others. */
function spellingTwins({ routes, witnessSearch, plan: { router } }: LintContext) {
  const groups = Map.groupBy(routes, ({ pattern }) => patternKey(pattern.map(foldLiteral)));
  /** Returns the other spellings of the path of a route, in the order of the manifest. */
  const twinsOf = ({ pattern }: LintRoute) => {
    const group = groups.get(patternKey(pattern.map(foldLiteral))) ?? [];
    return group.filter((other) => patternKey(other.pattern) !== patternKey(pattern));
  };
  /** Returns a request for a route, with the route that receives it. */
  const sampleWitness = ({ route, pattern }: LintRoute): RouteWitness => {
    const [method = ''] = sortMethods(route.methods);
    const [path = ''] = witnessSearch.samplePaths.of(pattern);
    return witnessSearch.match(method, path);
  };
  return {
    sampleWitness,
    /** Returns the first route before this one whose path differs only in spelling. */
    findEarlier: (lintRoute: LintRoute): LintRoute | undefined =>
      twinsOf(lintRoute).find((other) => Number(other.path[1]) < Number(lintRoute.path[1])),
    /** Returns the stricter route that leaves a route no request but unusual spellings. `isTwin`: only the spelling differs. */
    findRefusing: (lintRoute: LintRoute) => {
      const { method, path, route: receiver } = sampleWitness(lintRoute);
      const { route } = lintRoute;
      if (receiver !== undefined || !witnessSearch.needsOtherSpelling(lintRoute, route.methods)) return undefined;
      const twin = twinsOf(lintRoute).find(
        (other) => other.route.methods.includes(method) && isStricter(other.route, route),
      );
      if (twin !== undefined) return { refusing: twin, isTwin: true };
      if (witnessSearch.isUnreachable(lintRoute, route.methods)) return undefined;
      const readers = router.readings(path)?.map((reading) => router.matchReading(method, reading)) ?? [];
      const reader = readers.find((one) => one !== undefined && one !== route && isStricter(one, route));
      const refusing = routes.find((other) => other.route === reader);
      return refusing && { refusing, isTwin: false };
    },
  };
}
