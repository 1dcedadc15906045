import { sortMethods } from '../../../engine/http1/http-methods.ts';
import { BitSet } from '../../../engine/routing/bit-set.ts';
import { intersect } from '../../../engine/routing/pattern.ts';
import type { LintContext, LintRoute } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeAmbiguous: Rule = {
  id: 'route-ambiguous',
  category: 'routes',
  severity: 'warning',
  preset: 'recommended',
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
        if (witness === undefined && witnessSearch.isExhausted()) break;
        if (witness === undefined) continue;
        const { method, path, route } = witness;
        const message = `${method} ${path} matches this route and "${other.route.id}", and goes to "${route}"; narrow one of the two paths`;
        yield findingAt([...lintRoute.path, 'path'], message, {
          witness,
          related: { path: [...other.path, 'path'], message: 'the other route' },
        });
        break;
      }
  },
};

/**
 * Yields each route with the routes before it that handle their common requests differently, if each of the two has
 * paths that the other lacks.
 */
function* crossingRoutes({ routes, routeIndex }: LintContext): Generator<[LintRoute, BitSet]> {
  const { patterns } = routeIndex;
  const byAccess = new Map<string, BitSet>();
  const byEffect = new Map<string, BitSet>();
  for (const [index, lintRoute] of routes.entries()) {
    const { pattern, route, entry } = lintRoute;
    const sameAccess = setAt(byAccess, entry.access, routes.length);
    const sameEffect = setAt(byEffect, effectOf(lintRoute), routes.length);
    const others = patterns.overlapping(pattern, sameAccess.copy().subtract(sameEffect));
    others.subtract(patterns.containing(pattern, others)).subtract(patterns.containedIn(pattern, others));
    yield [lintRoute, others.intersect(routeIndex.withAnyMethod(route.methods))];
    sameAccess.add(index);
    sameEffect.add(index);
  }
}

function setAt(sets: Map<string, BitSet>, key: string, size: number): BitSet {
  const set = sets.get(key) ?? BitSet.empty(size);
  sets.set(key, set);
  return set;
}

/** Equal for routes that handle requests in the same way. The `public-` rules report routes with different access. */
function effectOf({ entry: { access, upstream, roles, login, upstreamPath } }: LintRoute): string {
  return JSON.stringify([access, upstream, roles, login, upstreamPath]);
}
