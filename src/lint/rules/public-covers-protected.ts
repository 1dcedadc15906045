import { publicOverlaps, sharedMethods } from '../public-overlaps.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicCoversProtected: Rule = {
  id: 'public-covers-protected',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Around a protected path everything else is public: what the upstream adds there tomorrow needs no token, and nobody decided so.',
  *find({ routes, witnessSearch }) {
    for (const overlaps of publicOverlaps(routes)) {
      const cover = overlaps.find((overlap) => overlap.isComplete && sharedMethods(overlap).length > 0);
      const witness = cover && witnessSearch.findRequest(cover.publicRoute, sharedMethods(cover));
      if (cover === undefined || witness === undefined) continue;
      const { publicRoute, protectedRoute } = cover;
      const message = `this public path takes in ${protectedRoute.route.path} of "${protectedRoute.route.id}", which is protected: ${witness.method} ${witness.path} needs no token; name what is public, and protect the rest`;
      yield findingAt([...publicRoute.path, 'path'], message, {
        witness,
        related: { path: [...protectedRoute.path, 'path'], message: 'the protected one' },
      });
    }
  },
};
