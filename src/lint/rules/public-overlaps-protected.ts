import { intersect, takesPrecedence } from '../../plan/routing/pattern-overlap.ts';
import { publicOverlaps, sharedMethods } from '../public-overlaps.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicOverlapsProtected: Rule = {
  id: 'public-overlaps-protected',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Where both paths match, the public route is the more specific one and wins: a request that the protected route should have had needs no token.',
  *find({ routes, witnessSearch }) {
    for (const overlaps of publicOverlaps(routes))
      for (const overlap of overlaps) {
        const { publicRoute, protectedRoute, isComplete } = overlap;
        const isWon = !isComplete && takesPrecedence(publicRoute.pattern, protectedRoute.pattern);
        const both = isWon ? intersect(publicRoute.pattern, protectedRoute.pattern) : undefined;
        const witness = both && witnessSearch.findRequest(publicRoute, sharedMethods(overlap), both);
        if (witness === undefined) continue;
        const message = `${witness.method} ${witness.path} is a path of "${protectedRoute.route.id}" too, which is protected, and needs no token here; narrow one of the two paths`;
        yield findingAt([...publicRoute.path, 'path'], message, {
          witness,
          related: { path: [...protectedRoute.path, 'path'], message: 'the protected one' },
        });
        break;
      }
  },
};
