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
    'Of two paths that cross, the one whose first segments are literal wins; a reader of the manifest may well expect the other.',
  *find({ routes, witnessSearch }) {
    const before = new PatternTree<LintRoute>();
    const steps = overlapSearchBudget(routes);
    for (const subject of routes) {
      const other = before.overlapping(subject.pattern, steps).find((earlier) => isCrossing(subject, earlier));
      before.add(subject.pattern, subject);
      const both = other && intersect(subject.pattern, other.pattern);
      if (other === undefined || both === undefined) continue;
      const [method = ''] = sortMethods(sharedMethods(subject, other));
      const path = witnessSearch
        .samplePaths(both)
        .find((sent) => witnessSearch.match(method, sent).route !== undefined);
      if (path === undefined) continue;
      const witness = witnessSearch.match(method, path);
      const message = `${method} ${path} is a path of "${other.route.id}" too, and goes to "${witness.route}"; narrow one of the two paths`;
      yield findingAt([...subject.path, 'path'], message, {
        witness,
        related: { path: [...other.path, 'path'], message: 'the other one' },
      });
    }
  },
};

/** Whether both have paths that the other has not, and it makes a difference which of them gets those that both have. */
function isCrossing(one: LintRoute, other: LintRoute): boolean {
  if (sharedMethods(one, other).length === 0 || !hasDifferentEffect(one, other)) return false;
  return !containsPattern(one.pattern, other.pattern) && !containsPattern(other.pattern, one.pattern);
}

/** Of a public one and a protected one others tell. */
function hasDifferentEffect({ entry: one }: LintRoute, { entry: other }: LintRoute): boolean {
  if (one.access !== other.access) return false;
  const matter = ({ upstream, roles, login, upstreamPath }: typeof one) =>
    JSON.stringify([upstream, roles, login, upstreamPath]);
  return matter(one) !== matter(other);
}

function sharedMethods(one: LintRoute, other: LintRoute): readonly string[] {
  return one.route.methods.filter((method) => other.route.methods.includes(method));
}
