import { sortMethods } from '../../http-methods.ts';
import { foldLiteral } from '../../plan/routing/path-folding.ts';
import { patternKey } from '../../plan/routing/pattern.ts';
import type { RouteWitness } from '../../problem/finding.ts';
import type { LintRoute } from '../lint-context.ts';
import { findingAt, type Rule, type RuleFinding } from '../rule.ts';
import type { WitnessSearch } from '../witness-search.ts';

export const routeCaseTwin: Rule = {
  id: 'route-case-twin',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Some servers fold letter case, trailing dots and `;` parameters, so a path that would there be one that asks for more is answered 404.',
  *find({ routes, witnessSearch }) {
    const twins = new Map<string, LintRoute[]>();
    for (const subject of routes) {
      const key = patternKey(subject.pattern.map(foldLiteral));
      const before = twins.get(key) ?? [];
      twins.set(key, [...before, subject]);
    }
    for (const alike of twins.values())
      for (const [index, subject] of alike.entries()) {
        const twin = alike.find((other) => patternKey(other.pattern) !== patternKey(subject.pattern));
        if (twin === undefined) break;
        const told = shadowedFinding(subject, twin, witnessSearch);
        if (told !== undefined) yield told;
        else if (alike.indexOf(twin) < index) yield spellingFinding(subject, twin, witnessSearch);
      }
  },
};

/** A route that gets no request, since in the other spelling it is one that asks for more. */
function shadowedFinding(subject: LintRoute, twin: LintRoute, prover: WitnessSearch): RuleFinding | undefined {
  const { route, path } = subject;
  if (prover.findRequest(subject, route.methods) !== undefined) return undefined;
  const witness = sampleWitness(subject, prover);
  if (witness.route !== undefined) return undefined;
  const { method, path: sent } = witness;
  const message = `${method} ${sent} is answered 404: but for its spelling it is a path of "${twin.route.id}", which asks for more; give one of the two another path`;
  return findingAt([...path, 'path'], message, { witness, related: relatedRoute(twin) });
}

function spellingFinding(subject: LintRoute, twin: LintRoute, prover: WitnessSearch): RuleFinding {
  const witness = sampleWitness(subject, prover);
  const { method, path: sent, route } = witness;
  const goes = route === undefined ? 'is answered 404' : `goes to "${route}"`;
  const message = `only its spelling tells this path from that of "${twin.route.id}": ${method} ${sent} ${goes}; write one spelling`;
  return findingAt([...subject.path, 'path'], message, { witness, related: relatedRoute(twin) });
}

function sampleWitness({ route, pattern }: LintRoute, prover: WitnessSearch): RouteWitness {
  const [method = ''] = sortMethods(route.methods);
  const [sent = ''] = prover.samplePaths(pattern);
  return prover.match(method, sent);
}

function relatedRoute({ path }: LintRoute) {
  return { path: [...path, 'path'], message: 'that one' };
}
