import { sortMethods } from '../../http-methods.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeUnreachable: Rule = {
  id: 'route-unreachable',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'Whoever wrote the route believes that it does something; a check that stands on it is never made.',
  *find({ routes, witnessSearch }) {
    const byId = new Map(routes.map((subject) => [subject.route.id, subject]));
    for (const subject of routes) {
      const { route, path, pattern } = subject;
      if (witnessSearch.findRequest(subject, route.methods) !== undefined) continue;
      if (!route.methods.every((method) => witnessSearch.isShadowed(subject, method))) continue;
      const [method = ''] = sortMethods(route.methods);
      const [sent = ''] = witnessSearch.samplePaths(pattern);
      const witness = witnessSearch.match(method, sent);
      const winner = byId.get(witness.route ?? '');
      const goes = winner === undefined ? 'is answered 404' : `goes to "${winner.route.id}"`;
      const message = `no request reaches this route: ${method} ${sent} ${goes}; remove it, or change its path`;
      const related = winner && { path: [...winner.path, 'path'], message: 'that one' };
      yield findingAt([...path, 'path'], message, { witness, ...(related && { related }) });
    }
  },
};
