import { BitSet } from '../../../engine/routing/bit-set.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicMethodGap: Rule = {
  id: 'public-method-gap',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'If a route does not accept the method of a request, a less specific route may: a path that is protected for GET can be public for POST.',
  *find({ routes, routeIndex, witnessSearch }) {
    const { patterns } = routeIndex;
    const unreported = routeIndex.select(({ entry }) => entry.access === 'protected');
    const byUpstream = new Map(
      Map.groupBy(routes.keys(), (index) => routes[index]?.route.upstream)
        .entries()
        .map(([upstream, indexes]) => [upstream, BitSet.of(routes.length, indexes)]),
    );
    for (const publicRoute of routes) {
      const { pattern, route, entry } = publicRoute;
      const upstream = byUpstream.get(route.upstream);
      if (entry.access === 'protected' || upstream === undefined) continue;
      const overlapping = patterns.overlapping(pattern, unreported.copy().intersect(upstream));
      const open = overlapping.copy().subtract(patterns.containing(pattern, overlapping));
      for (const method of routeIndex.distinctMethods(route.methods.filter((name) => !HARMLESS.has(name)))) {
        const candidates = open.copy().subtract(routeIndex.withMethod(method));
        for (const { loser, index, witness } of witnessSearch.lostRequests(publicRoute, method, candidates)) {
          open.delete(index);
          unreported.delete(index);
          const message = `${witness.method} ${witness.path} requires no token: this route does not accept ${witness.method}, but the public route "${route.id}" does; protect the other methods of this path too`;
          yield findingAt([...loser.path, 'method'], message, {
            witness,
            related: { path: [...publicRoute.path, 'path'], message: 'the public route' },
          });
        }
      }
    }
  },
};

/** Methods that change nothing and reveal nothing beyond GET. */
const HARMLESS = new Set(['HEAD', 'OPTIONS']);
