import type { BitSet } from '../../../engine/routing/bit-set.ts';
import type { LostRequest } from '../../../engine/routing/witnesses/witness-search.ts';
import type { LintContext, LintRoute } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicOverlapsProtected: Rule = {
  id: 'public-overlaps-protected',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Where both paths match, the public route wins because it is more specific, so a request that belongs to the protected route requires no token.',
  *find(context) {
    const protectedRoutes = context.routeIndex.select(({ entry }) => entry.access === 'protected');
    for (const publicRoute of context.routes) {
      if (publicRoute.entry.access === 'protected') continue;
      // One is enough: the message asks for a narrower path, and the next run reports what remains.
      const [lost] = lostRequests(publicRoute, protectedRoutes, context).take(1);
      if (lost === undefined) continue;
      const { loser, witness } = lost;
      const message = `${witness.method} ${witness.path} requires no token here, although it also matches the protected route "${loser.route.id}"; narrow one of the two paths`;
      yield findingAt([...publicRoute.path, 'path'], message, {
        witness,
        related: { path: [...loser.path, 'path'], message: 'the protected route' },
      });
    }
  },
};

/** Yields the protected routes that lose requests to a public one, unless its path is an exception within theirs. */
function* lostRequests(
  publicRoute: LintRoute,
  protectedRoutes: BitSet,
  { routeIndex, witnessSearch }: LintContext,
): Generator<LostRequest<LintRoute>> {
  const { patterns } = routeIndex;
  const { pattern, route } = publicRoute;
  const losing = patterns.following(pattern, patterns.overlapping(pattern, protectedRoutes));
  losing.subtract(patterns.containing(pattern, losing));
  for (const method of routeIndex.distinctMethods(route.methods))
    yield* witnessSearch.lostRequests(publicRoute, method, losing.copy().intersect(routeIndex.withMethod(method)));
}
