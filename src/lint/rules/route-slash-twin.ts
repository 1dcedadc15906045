import { sortMethods } from '../../http-methods.ts';
import { patternKey } from '../../plan/routing/pattern.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeSlashTwin: Rule = {
  id: 'route-slash-twin',
  category: 'routes',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'One trailing slash does not matter to the match, so the path with a slash at its end belongs to the shorter route, though it looks like the beginning of the longer one.',
  *find({ routes, witnessSearch }) {
    const rests = new Map(
      routes
        .filter(({ pattern }) => pattern.at(-1)?.kind === 'rest')
        .map((subject) => [patternKey(subject.pattern.slice(0, -1)), subject]),
    );
    for (const { route, path, pattern } of routes) {
      const rest = pattern.length === 0 ? undefined : rests.get(patternKey(pattern));
      if (rest === undefined || (rest.route.access === route.access && rest.route.upstream === route.upstream))
        continue;
      const [method] = sortMethods(route.methods.filter((name) => rest.route.methods.includes(name)));
      const [bare = ''] = witnessSearch.samplePaths(pattern);
      if (method === undefined) continue;
      const witness = witnessSearch.match(method, `${bare}/`);
      if (witness.route !== route.id) continue;
      const message = `${method} ${bare}/ goes here as well, and not to "${rest.route.id}": a trailing slash does not matter; make sure that this is meant`;
      yield findingAt([...path, 'path'], message, {
        witness,
        related: { path: [...rest.path, 'path'], message: 'that one' },
      });
    }
  },
};
