import type { RouteWitness } from '../../../engine/problem/finding.ts';
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
      const refused = twins.findRefusing(lintRoute);
      const earlier = twins.findEarlier(lintRoute);
      if (refused?.isTwin) yield shadowedFinding(lintRoute, refused.refusing, refused.witness);
      else if (earlier !== undefined) yield spellingFinding(lintRoute, earlier, twins.sampleWitness(lintRoute));
      else if (refused !== undefined) yield widerFinding(lintRoute, refused.refusing, refused.witness);
    }
  },
};

/** Reports a route that receives almost no request, because another spelling of its path belongs to a stricter route. */
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

/** Reports a route that receives only requests with unusual spellings. */
function widerFinding({ path }: LintRoute, stricter: LintRoute, witness: RouteWitness): RuleFinding {
  const message = `${witness.method} ${witness.path} gets a 404 response, as almost every request for this path does: in another spelling it is a path of the stricter route "${stricter.route.id}"; give one of the two another path`;
  return findingAt([...path, 'path'], message, { witness, related: relatedRoute(stricter) });
}

function relatedRoute({ path }: LintRoute) {
  return { path: [...path, 'path'], message: 'the other route' };
}
