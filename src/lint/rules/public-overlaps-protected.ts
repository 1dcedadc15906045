import { intersect, takesPrecedence } from '../../plan/routing/pattern-overlap.ts';
import { publicOverlaps, sharedMethods } from '../public-overlaps.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicOverlapsProtected: Rule = {
  id: 'public-overlaps-protected',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Where both paths match, the public route wins because it is more specific, so a request that belongs to the protected route requires no token.',
  *find({ routes, witnessSearch }) {
    for (const overlaps of publicOverlaps(routes))
      for (const overlap of overlaps) {
        const { publicRoute, protectedRoute, isComplete } = overlap;
        const isPreferred = !isComplete && takesPrecedence(publicRoute.pattern, protectedRoute.pattern);
        const intersection = isPreferred ? intersect(publicRoute.pattern, protectedRoute.pattern) : undefined;
        const witness = intersection && witnessSearch.findRequest(publicRoute, sharedMethods(overlap), intersection);
        if (witness === undefined) continue;
        const message = `${witness.method} ${witness.path} requires no token here, although it also matches the protected route "${protectedRoute.route.id}"; narrow one of the two paths`;
        yield findingAt([...publicRoute.path, 'path'], message, {
          witness,
          related: { path: [...protectedRoute.path, 'path'], message: 'the protected route' },
        });
        break;
      }
  },
};
