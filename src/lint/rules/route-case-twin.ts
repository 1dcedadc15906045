import type { RouteWitness } from '../../problem/finding.ts';
import type { LintRoute } from '../lint-context.ts';
import { findingAt, type Rule, type RuleFinding } from '../rule.ts';
import { SpellingTwins } from '../spelling-twins.ts';

export const routeCaseTwin: Rule = {
  id: 'route-case-twin',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Some servers ignore letter case, trailing dots and `;` parameters, so the gateway responds with 404 to a path that such a server would treat as the path of a stricter route.',
  *find({ routes, witnessSearch }) {
    const twins = new SpellingTwins(routes, witnessSearch);
    for (const lintRoute of routes) {
      const refusing = twins.findRefusing(lintRoute);
      const earlier = twins.findEarlier(lintRoute);
      if (refusing !== undefined) yield shadowedFinding(lintRoute, refusing.twin, refusing.witness);
      else if (earlier !== undefined) yield spellingFinding(lintRoute, earlier, twins.sampleWitness(lintRoute));
    }
  },
};

/** Reports a route that receives no request, because another spelling of its path belongs to a stricter route. */
function shadowedFinding({ path }: LintRoute, twin: LintRoute, witness: RouteWitness): RuleFinding {
  const message = `${witness.method} ${witness.path} gets a 404 response: its path differs only in spelling from that of the stricter route "${twin.route.id}"; give one of the two another path`;
  return findingAt([...path, 'path'], message, { witness, related: relatedRoute(twin) });
}

function spellingFinding({ path }: LintRoute, twin: LintRoute, witness: RouteWitness): RuleFinding {
  const { method, path: requestPath, route } = witness;
  const outcome = route === undefined ? 'gets a 404 response' : `goes to "${route}"`;
  const message = `this path differs only in spelling from that of "${twin.route.id}": ${method} ${requestPath} ${outcome}; use one spelling`;
  return findingAt([...path, 'path'], message, { witness, related: relatedRoute(twin) });
}

function relatedRoute({ path }: LintRoute) {
  return { path: [...path, 'path'], message: 'the other route' };
}
