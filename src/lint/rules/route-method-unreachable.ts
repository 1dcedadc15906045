import { at, type Rule } from '../rule.ts';

export const routeMethodUnreachable: Rule = {
  id: 'route-method-unreachable',
  family: 'routes',
  severity: 'info',
  preset: 'recommended',
  why: 'A method that more specific routes take on every path of this one only looks as if it were served here.',
  *find({ routes, prover }) {
    for (const subject of routes) {
      const { entry, route, path, pattern } = subject;
      if (typeof entry.method === 'string') continue;
      const isReached = (method: string) => prover.findFor(subject, [method]) !== undefined;
      const taken = entry.method.map((method) => !isReached(method) && prover.isTaken(subject, method));
      if (taken.every((isTaken) => isTaken)) continue;
      const [sent = ''] = prover.pathsOf(pattern);
      for (const [index, method] of entry.method.entries()) {
        if (!taken[index]) continue;
        const witness = prover.ask(method, sent);
        const message = `${method} never reaches "${route.id}": ${method} ${sent} goes to "${witness.route}"; leave it out`;
        yield at([...path, 'method', index], message, { witness });
      }
    }
  },
};
