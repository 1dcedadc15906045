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
      const isUnreached = entry.method.map((method) => witnessSearch.isUnreachable(lintRoute, [method]));
      if (isUnreached.every((isMissing) => isMissing)) continue;
      const [samplePath = ''] = witnessSearch.samplePaths(pattern);
      for (const [index, method] of entry.method.entries()) {
        if (!isUnreached[index]) continue;
        const witness = witnessSearch.match(method, samplePath);
        const outcome = witness.route === undefined ? 'gets a 404 response' : `goes to "${witness.route}"`;
        const message = `${method} never reaches "${route.id}": ${method} ${samplePath} ${outcome}; remove ${method}`;
        yield findingAt([...path, 'method', index], message, { witness });
      }
    }
  },
};
