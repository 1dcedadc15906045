import { findingAt, type Rule } from '../rule.ts';

export const routeMethodUnreachable: Rule = {
  id: 'route-method-unreachable',
  category: 'routes',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'If more specific routes receive every request with this method, this route never serves it, although the manifest suggests that it does.',
  *find({ routes, witnessSearch }) {
    for (const lintRoute of routes) {
      const { entry, route, path, pattern } = lintRoute;
      if (typeof entry.method === 'string') continue;
      const isReached = (method: string) => witnessSearch.findRequest(lintRoute, [method]) !== undefined;
      const shadowed = entry.method.map((method) => !isReached(method) && witnessSearch.isShadowed(lintRoute, method));
      if (shadowed.every((isShadowed) => isShadowed)) continue;
      const [samplePath = ''] = witnessSearch.samplePaths(pattern);
      for (const [index, method] of entry.method.entries()) {
        if (!shadowed[index]) continue;
        const witness = witnessSearch.match(method, samplePath);
        const message = `${method} never reaches "${route.id}": ${method} ${samplePath} goes to "${witness.route}"; remove ${method}`;
        yield findingAt([...path, 'method', index], message, { witness });
      }
    }
  },
};
