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
    'A route that has not the method of a request is passed over for a less specific one that has: a path that is protected for GET may be public for POST.',
  *find({ routes, witnessSearch }) {
    const told = new Set<LintRoute>();
    for (const overlaps of publicOverlaps(routes))
      for (const { publicRoute, protectedRoute } of overlaps) {
        if (told.has(protectedRoute) || publicRoute.route.upstream !== protectedRoute.route.upstream) continue;
        const gap = publicRoute.route.methods.filter(
          (method) => !(protectedRoute.route.methods.includes(method) || HARMLESS.has(method)),
        );
        const both = gap.length > 0 ? intersect(publicRoute.pattern, protectedRoute.pattern) : undefined;
        const witness = both && witnessSearch.findRequest(publicRoute, gap, both);
        if (witness === undefined) continue;
        told.add(protectedRoute);
        const message = `${witness.method} ${witness.path} needs no token: this route does not take ${witness.method}, and "${publicRoute.route.id}", which is public, does; protect the other methods of this path too`;
        yield findingAt([...protectedRoute.path, 'method'], message, {
          witness,
          related: { path: [...publicRoute.path, 'path'], message: 'the public one' },
        });
      }
  },
};

/** They change nothing, and tell nothing that GET does not. */
const HARMLESS = new Set(['HEAD', 'OPTIONS']);
