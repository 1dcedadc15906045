import { type Pattern, patternKey } from '../../plan/pattern.ts';
import { foldLiteral } from '../../plan/router.ts';
import type { Witness } from '../../problem/finding.ts';
import { PatternTree } from '../pattern-sets.ts';
import { inUsualOrder } from '../prover.ts';
import { type Advice, at, type Rule } from '../rule.ts';
import type { RouteSubject, Subject } from '../subject.ts';

export const routeCaseTwin: Rule = {
  id: 'route-case-twin',
  family: 'routes',
  severity: 'warning',
  preset: 'minimal',
  why: 'Some servers fold letter case, trailing dots and `;` parameters, so a path that would there be one that asks for more is answered 404.',
  *find(subject) {
    const { routes } = subject;
    const folded = routes.map(({ pattern }) => pattern.map(foldLiteral));
    if (folded.every((pattern, index) => patternKey(pattern) === patternKey(routes[index]?.pattern ?? []))) return;
    const gates = new PatternTree<RouteSubject>();
    for (const [index, route] of routes.entries()) gates.add(folded[index] ?? [], route);
    const seen = new Map<string, RouteSubject>();
    for (const [index, route] of routes.entries()) {
      const pattern = folded[index] ?? [];
      const twin = seen.get(patternKey(pattern));
      seen.set(patternKey(pattern), twin ?? route);
      yield* hidden(route, pattern, gates, subject) ?? twins(route, twin, subject);
    }
  },
};

/** A route that is never reached, since folded it is another one, which asks for more. */
function hidden(
  subject: RouteSubject,
  folded: Pattern,
  gates: PatternTree<RouteSubject>,
  { prover }: Subject,
): Advice[] | undefined {
  const { route, path, pattern } = subject;
  if (prover.findFor(subject, route.methods) !== undefined) return undefined;
  const [method] = inUsualOrder(route.methods.filter((name) => !prover.isTaken(subject, name)));
  const [sent = ''] = prover.pathsOf(pattern);
  if (method === undefined) return undefined;
  const gate = gates.meeting(folded).find((other) => other !== subject && other.route.methods.includes(method));
  if (gate === undefined) return undefined;
  const witness = prover.ask(method, sent);
  const message = `${method} ${sent} is answered 404: but for its spelling it is a path of "${gate.route.id}", which asks for more; give one of the two another path`;
  return [at([...path, 'path'], message, { witness, related: related(gate) })];
}

function twins(subject: RouteSubject, twin: RouteSubject | undefined, { prover }: Subject): Advice[] {
  const { route, path, pattern } = subject;
  if (twin === undefined || patternKey(twin.pattern) === patternKey(pattern)) return [];
  const [method = ''] = inUsualOrder(route.methods);
  const [sent = ''] = prover.pathsOf(pattern);
  const witness: Witness = prover.ask(method, sent);
  const message = `only its spelling tells this path from that of "${twin.route.id}": ${method} ${sent} goes to ${quoted(witness)}; write one spelling`;
  return [at([...path, 'path'], message, { witness, related: related(twin) })];
}

function quoted({ route }: Witness): string {
  return route === undefined ? 'no route' : `"${route}"`;
}

function related({ path }: RouteSubject) {
  return { path: [...path, 'path'], message: 'that one' };
}
