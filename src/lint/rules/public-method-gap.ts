import { intersect } from '../../plan/routing/pattern-overlap.ts';
import type { LintRoute } from '../lint-context.ts';
import { publicOverlaps } from '../public-overlaps.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicMethodGap: Rule = {
  id: 'public-method-gap',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'If a route does not accept the method of a request, a less specific route may: a path that is protected for GET can be public for POST.',
  *find({ routes, witnessSearch }) {
    const reported = new Set<LintRoute>();
    for (const overlaps of publicOverlaps(routes))
      for (const { publicRoute, protectedRoute } of overlaps) {
        if (reported.has(protectedRoute) || publicRoute.route.upstream !== protectedRoute.route.upstream) continue;
        const gap = publicRoute.route.methods.filter(
          (method) => !(protectedRoute.route.methods.includes(method) || HARMLESS.has(method)),
        );
        const intersection = gap.length > 0 ? intersect(publicRoute.pattern, protectedRoute.pattern) : undefined;
        const witness = intersection && witnessSearch.findRequest(publicRoute, gap, intersection);
        if (witness === undefined) continue;
        reported.add(protectedRoute);
        const message = `${witness.method} ${witness.path} requires no token: this route does not accept ${witness.method}, but the public route "${publicRoute.route.id}" does; protect the other methods of this path too`;
        yield findingAt([...protectedRoute.path, 'method'], message, {
          witness,
          related: { path: [...publicRoute.path, 'path'], message: 'the public route' },
        });
      }
  },
};

/** Methods that change nothing and reveal nothing beyond GET. */
const HARMLESS = new Set(['HEAD', 'OPTIONS']);
