import { patternKey } from '../../../engine/routing/pattern.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeSlashTwin: Rule = {
  id: 'route-slash-twin',
  category: 'routes',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Matching ignores one trailing slash, so a path that ends with a slash belongs to the shorter route, although it looks like a prefix of the longer one.',
  *find({ routes, witnessSearch }) {
    const restsByPath = Map.groupBy(
      routes.filter(({ pattern }) => pattern.at(-1)?.kind === 'rest'),
      ({ pattern }) => patternKey(pattern.slice(0, -1)),
    );
    for (const lintRoute of routes) {
      const { route, path, pattern } = lintRoute;
      // A path cannot consist of two slashes.
      if (pattern.length === 0) continue;
      for (const rest of restsByPath.get(patternKey(pattern)) ?? []) {
        if (rest.route.access === route.access && rest.route.upstream === route.upstream) continue;
        const methods = route.methods.filter((name) => rest.route.methods.includes(name));
        const request = witnessSearch.findRequest(lintRoute, methods);
        const witness = request && witnessSearch.match(request.method, `${request.path}/`);
        if (witness?.route !== route.id) continue;
        const message = `${witness.method} ${witness.path} goes to this route, not to "${rest.route.id}", because matching ignores a trailing slash; make sure that this is intended`;
        yield findingAt([...path, 'path'], message, {
          witness,
          related: { path: [...rest.path, 'path'], message: 'the longer route' },
        });
        break;
      }
    }
  },
};
