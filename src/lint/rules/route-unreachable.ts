import { inUsualOrder } from '../../plan/sample-paths.ts';
import { at, type Rule } from '../rule.ts';

export const routeUnreachable: Rule = {
  id: 'route-unreachable',
  family: 'routes',
  severity: 'warning',
  preset: 'minimal',
  why: 'Whoever wrote the route believes that it does something; a check that stands on it is never made.',
  *find({ routes, prover }) {
    const byId = new Map(routes.map((subject) => [subject.route.id, subject]));
    for (const subject of routes) {
      const { route, path, pattern } = subject;
      if (prover.findFor(subject, route.methods) !== undefined) continue;
      if (!route.methods.every((method) => prover.isTaken(subject, method))) continue;
      const [method = ''] = inUsualOrder(route.methods);
      const [sent = ''] = prover.pathsOf(pattern);
      const witness = prover.ask(method, sent);
      const winner = byId.get(witness.route ?? '');
      const goes = winner === undefined ? 'is answered 404' : `goes to "${winner.route.id}"`;
      const message = `no request reaches this route: ${method} ${sent} ${goes}; remove it, or change its path`;
      const related = winner && { path: [...winner.path, 'path'], message: 'that one' };
      yield at([...path, 'path'], message, { witness, ...(related && { related }) });
    }
  },
};
