import { findingAt, type Rule } from '../rule.ts';

export const routeMethodUnreachable: Rule = {
  id: 'route-method-unreachable',
  category: 'routes',
  severity: 'info',
  preset: 'recommended',
  rationale: 'A method that more specific routes take on every path of this one only looks as if it were served here.',
  *find({ routes, witnessSearch }) {
    for (const subject of routes) {
      const { entry, route, path, pattern } = subject;
      if (typeof entry.method === 'string') continue;
      const isReached = (method: string) => witnessSearch.findRequest(subject, [method]) !== undefined;
      const taken = entry.method.map((method) => !isReached(method) && witnessSearch.isShadowed(subject, method));
      if (taken.every((isTaken) => isTaken)) continue;
      const [sent = ''] = witnessSearch.samplePaths(pattern);
      for (const [index, method] of entry.method.entries()) {
        if (!taken[index]) continue;
        const witness = witnessSearch.match(method, sent);
        const message = `${method} never reaches "${route.id}": ${method} ${sent} goes to "${witness.route}"; leave it out`;
        yield findingAt([...path, 'method', index], message, { witness });
      }
    }
  },
};
