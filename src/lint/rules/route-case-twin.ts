import { foldLiteral } from '../../plan/path-readings.ts';
import { patternKey } from '../../plan/pattern.ts';
import { inUsualOrder } from '../../plan/sample-paths.ts';
import type { Witness } from '../../problem/finding.ts';
import type { Prover } from '../prover.ts';
import { type Advice, at, type Rule } from '../rule.ts';
import type { RouteSubject } from '../subject.ts';

export const routeCaseTwin: Rule = {
  id: 'route-case-twin',
  family: 'routes',
  severity: 'warning',
  preset: 'minimal',
  why: 'Some servers fold letter case, trailing dots and `;` parameters, so a path that would there be one that asks for more is answered 404.',
  *find({ routes, prover }) {
    const twins = new Map<string, RouteSubject[]>();
    for (const subject of routes) {
      const key = patternKey(subject.pattern.map(foldLiteral));
      const before = twins.get(key) ?? [];
      twins.set(key, [...before, subject]);
    }
    for (const alike of twins.values())
      for (const [index, subject] of alike.entries()) {
        const twin = alike.find((other) => patternKey(other.pattern) !== patternKey(subject.pattern));
        if (twin === undefined) break;
        const told = hidden(subject, twin, prover);
        if (told !== undefined) yield told;
        else if (alike.indexOf(twin) < index) yield spelling(subject, twin, prover);
      }
  },
};

/** A route that gets no request, since in the other spelling it is one that asks for more. */
function hidden(subject: RouteSubject, twin: RouteSubject, prover: Prover): Advice | undefined {
  const { route, path } = subject;
  if (prover.findFor(subject, route.methods) !== undefined) return undefined;
  const witness = witnessOf(subject, prover);
  if (witness.route !== undefined) return undefined;
  const { method, path: sent } = witness;
  const message = `${method} ${sent} is answered 404: but for its spelling it is a path of "${twin.route.id}", which asks for more; give one of the two another path`;
  return at([...path, 'path'], message, { witness, related: related(twin) });
}

function spelling(subject: RouteSubject, twin: RouteSubject, prover: Prover): Advice {
  const witness = witnessOf(subject, prover);
  const { method, path: sent, route } = witness;
  const goes = route === undefined ? 'is answered 404' : `goes to "${route}"`;
  const message = `only its spelling tells this path from that of "${twin.route.id}": ${method} ${sent} ${goes}; write one spelling`;
  return at([...subject.path, 'path'], message, { witness, related: related(twin) });
}

function witnessOf({ route, pattern }: RouteSubject, prover: Prover): Witness {
  const [method = ''] = inUsualOrder(route.methods);
  const [sent = ''] = prover.pathsOf(pattern);
  return prover.ask(method, sent);
}

function related({ path }: RouteSubject) {
  return { path: [...path, 'path'], message: 'that one' };
}
