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
    'Some servers ignore letter case, trailing dots and `;` parameters, so the gateway responds with 404 to a path that such a server would treat as the path of a stricter route.',
  *find({ routes, witnessSearch }) {
    const twins = new Map<string, LintRoute[]>();
    for (const lintRoute of routes) {
      const key = patternKey(lintRoute.pattern.map(foldLiteral));
      twins.set(key, [...(twins.get(key) ?? []), lintRoute]);
    }
    for (const group of twins.values())
      for (const [index, lintRoute] of group.entries()) {
        const twin = group.find((other) => patternKey(other.pattern) !== patternKey(lintRoute.pattern));
        if (twin === undefined) break;
        const finding = shadowedFinding(lintRoute, twin, witnessSearch);
        if (finding !== undefined) yield finding;
        else if (group.indexOf(twin) < index) yield spellingFinding(lintRoute, twin, witnessSearch);
      }
  },
};

/** Reports a route that receives no request, because another spelling of its path belongs to a stricter route. */
function shadowedFinding(lintRoute: LintRoute, twin: LintRoute, witnessSearch: WitnessSearch): RuleFinding | undefined {
  const { route, path } = lintRoute;
  if (witnessSearch.findRequest(lintRoute, route.methods) !== undefined) return undefined;
  const witness = sampleWitness(lintRoute, witnessSearch);
  if (witness.route !== undefined) return undefined;
  const { method, path: requestPath } = witness;
  const message = `${method} ${requestPath} gets a 404 response: its path differs only in spelling from that of the stricter route "${twin.route.id}"; give one of the two another path`;
  return findingAt([...path, 'path'], message, { witness, related: relatedRoute(twin) });
}

function spellingFinding(lintRoute: LintRoute, twin: LintRoute, witnessSearch: WitnessSearch): RuleFinding {
  const witness = sampleWitness(lintRoute, witnessSearch);
  const { method, path: requestPath, route } = witness;
  const outcome = route === undefined ? 'gets a 404 response' : `goes to "${route}"`;
  const message = `this path differs only in spelling from that of "${twin.route.id}": ${method} ${requestPath} ${outcome}; use one spelling`;
  return findingAt([...lintRoute.path, 'path'], message, { witness, related: relatedRoute(twin) });
}

function sampleWitness({ route, pattern }: LintRoute, witnessSearch: WitnessSearch): RouteWitness {
  const [method = ''] = sortMethods(route.methods);
  const [path = ''] = witnessSearch.samplePaths(pattern);
  return witnessSearch.match(method, path);
}

function relatedRoute({ path }: LintRoute) {
  return { path: [...path, 'path'], message: 'the other route' };
}
