import { sortMethods } from '../../http-methods.ts';
import { patternKey } from '../../plan/routing/pattern.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeSlashTwin: Rule = {
  id: 'route-slash-twin',
  category: 'routes',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Matching ignores one trailing slash, so a path that ends with a slash belongs to the shorter route, although it looks like a prefix of the longer one.',
  *find({ routes, witnessSearch }) {
    const rests = new Map(
      routes
        .filter(({ pattern }) => pattern.at(-1)?.kind === 'rest')
        .map((lintRoute) => [patternKey(lintRoute.pattern.slice(0, -1)), lintRoute]),
    );
    for (const { route, path, pattern } of routes) {
      const rest = pattern.length === 0 ? undefined : rests.get(patternKey(pattern));
      if (rest === undefined || (rest.route.access === route.access && rest.route.upstream === route.upstream))
        continue;
      const [method] = sortMethods(route.methods.filter((name) => rest.route.methods.includes(name)));
      const [samplePath = ''] = witnessSearch.samplePaths(pattern);
      if (method === undefined) continue;
      const witness = witnessSearch.match(method, `${samplePath}/`);
      if (witness.route !== route.id) continue;
      const message = `${method} ${samplePath}/ goes to this route, not to "${rest.route.id}", because matching ignores a trailing slash; make sure that this is intended`;
      yield findingAt([...path, 'path'], message, {
        witness,
        related: { path: [...rest.path, 'path'], message: 'the longer route' },
      });
    }
  },
};
