import { sortMethods } from '../../http-methods.ts';
import { containsPattern, intersect, overlapSearchBudget, PatternTree } from '../../plan/routing/pattern-overlap.ts';
import type { LintRoute } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeAmbiguous: Rule = {
  id: 'route-ambiguous',
  category: 'routes',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Where two paths overlap, the one that has a literal segment first wins, which readers of the manifest may not expect.',
  *find({ routes, witnessSearch }) {
    const earlierRoutes = new PatternTree<LintRoute>();
    const steps = overlapSearchBudget(routes);
    for (const lintRoute of routes) {
      const other = earlierRoutes
        .overlapping(lintRoute.pattern, steps)
        .find((earlier) => isCrossing(lintRoute, earlier));
      earlierRoutes.add(lintRoute.pattern, lintRoute);
      const intersection = other && intersect(lintRoute.pattern, other.pattern);
      if (other === undefined || intersection === undefined) continue;
      const [method = ''] = sortMethods(sharedMethods(lintRoute, other));
      const path = witnessSearch
        .samplePaths(intersection)
        .find((candidate) => witnessSearch.match(method, candidate).route !== undefined);
      if (path === undefined) continue;
      const witness = witnessSearch.match(method, path);
      const message = `${method} ${path} matches this route and "${other.route.id}", and goes to "${witness.route}"; narrow one of the two paths`;
      yield findingAt([...lintRoute.path, 'path'], message, {
        witness,
        related: { path: [...other.path, 'path'], message: 'the other route' },
      });
    }
  },
};

/** True if each route has paths that the other lacks, and their common paths are handled differently by the two. */
function isCrossing(one: LintRoute, other: LintRoute): boolean {
  if (sharedMethods(one, other).length === 0 || !hasDifferentEffect(one, other)) return false;
  return !containsPattern(one.pattern, other.pattern) && !containsPattern(other.pattern, one.pattern);
}

/** True if the routes handle a request differently. The `public-` rules report pairs with different access. */
function hasDifferentEffect({ entry: one }: LintRoute, { entry: other }: LintRoute): boolean {
  if (one.access !== other.access) return false;
  const effectOf = ({ upstream, roles, login, upstreamPath }: typeof one) =>
    JSON.stringify([upstream, roles, login, upstreamPath]);
  return effectOf(one) !== effectOf(other);
}

function sharedMethods(one: LintRoute, other: LintRoute): readonly string[] {
  return one.route.methods.filter((method) => other.route.methods.includes(method));
}
