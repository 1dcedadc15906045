import { contains, meet, PatternTree, stepsFor } from '../../plan/pattern-sets.ts';
import { inUsualOrder } from '../../plan/sample-paths.ts';
import { at, type Rule } from '../rule.ts';
import type { RouteSubject } from '../subject.ts';

export const routeAmbiguous: Rule = {
  id: 'route-ambiguous',
  family: 'routes',
  severity: 'warning',
  preset: 'recommended',
  why: 'Of two paths that cross, the one whose first segments are literal wins; a reader of the manifest may well expect the other.',
  *find({ routes, prover }) {
    const before = new PatternTree<RouteSubject>();
    const steps = stepsFor(routes);
    for (const subject of routes) {
      const other = before.meeting(subject.pattern, steps).find((earlier) => isCrossing(subject, earlier));
      before.add(subject.pattern, subject);
      const both = other && meet(subject.pattern, other.pattern);
      if (other === undefined || both === undefined) continue;
      const [method = ''] = inUsualOrder(sharedMethods(subject, other));
      const path = prover.pathsOf(both).find((sent) => prover.ask(method, sent).route !== undefined);
      if (path === undefined) continue;
      const witness = prover.ask(method, path);
      const message = `${method} ${path} is a path of "${other.route.id}" too, and goes to "${witness.route}"; narrow one of the two paths`;
      yield at([...subject.path, 'path'], message, {
        witness,
        related: { path: [...other.path, 'path'], message: 'the other one' },
      });
    }
  },
};

/** Whether both have paths that the other has not, and it makes a difference which of them gets those that both have. */
function isCrossing(one: RouteSubject, other: RouteSubject): boolean {
  if (sharedMethods(one, other).length === 0 || !isOtherwise(one, other)) return false;
  return !contains(one.pattern, other.pattern) && !contains(other.pattern, one.pattern);
}

/** Of a public one and a protected one others tell. */
function isOtherwise({ entry: one }: RouteSubject, { entry: other }: RouteSubject): boolean {
  if (one.access !== other.access) return false;
  const matter = ({ upstream, roles, login, upstreamPath }: typeof one) =>
    JSON.stringify([upstream, roles, login, upstreamPath]);
  return matter(one) !== matter(other);
}

function sharedMethods(one: RouteSubject, other: RouteSubject): readonly string[] {
  return one.route.methods.filter((method) => other.route.methods.includes(method));
}
