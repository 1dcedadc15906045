import { publicOverlaps, sharedMethods } from '../public-overlaps.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicCoversProtected: Rule = {
  id: 'public-covers-protected',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Every path around a protected one is public, so a path that the upstream adds later is public without a decision.',
  *find({ routes, witnessSearch }) {
    for (const overlaps of publicOverlaps(routes)) {
      const cover = overlaps.find((overlap) => overlap.isComplete && sharedMethods(overlap).length > 0);
      const witness = cover && witnessSearch.findRequest(cover.publicRoute, sharedMethods(cover));
      if (cover === undefined || witness === undefined) continue;
      const { publicRoute, protectedRoute } = cover;
      const message = `this public path includes ${protectedRoute.route.path} of "${protectedRoute.route.id}", which is protected: ${witness.method} ${witness.path} requires no token; list the public paths, and protect the rest`;
      yield findingAt([...publicRoute.path, 'path'], message, {
        witness,
        related: { path: [...protectedRoute.path, 'path'], message: 'the protected route' },
      });
    }
  },
};
