import { sortMethods } from '../../../engine/http1/http-methods.ts';
import { findingAt, type Rule } from '../rule.ts';
import { SpellingTwins } from '../spelling-twins.ts';

export const routeUnreachable: Rule = {
  id: 'route-unreachable',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'A route that receives no requests does nothing, and the checks that it configures never run.',
  *find({ routes, witnessSearch }) {
    const twins = new SpellingTwins(routes, witnessSearch);
    const byId = new Map(routes.map((lintRoute) => [lintRoute.route.id, lintRoute]));
    for (const lintRoute of routes) {
      const { route, path, pattern } = lintRoute;
      if (!witnessSearch.isUnreachable(lintRoute, route.methods)) continue;
      // The rule route-case-twin reports these.
      if (twins.findRefusing(lintRoute) !== undefined) continue;
      const [method = ''] = sortMethods(route.methods);
      const [samplePath = ''] = witnessSearch.samplePaths(pattern);
      const witness = witnessSearch.match(method, samplePath);
      const winner = byId.get(witness.route ?? '');
      const outcome = winner === undefined ? 'gets a 404 response' : `goes to "${winner.route.id}"`;
      const message = `no request reaches this route: ${method} ${samplePath} ${outcome}; remove it, or change its path`;
      const related = winner && { path: [...winner.path, 'path'], message: 'the route that wins' };
      yield findingAt([...path, 'path'], message, { witness, ...(related && { related }) });
    }
  },
};
