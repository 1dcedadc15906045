import { foldHeaderName, forgeableHeader } from '../../../engine/header-names.ts';
import { isStricter } from '../../../engine/routing/router.ts';
import { findingAt, type Rule } from '../rule.ts';

export const headerOverrideKept: Rule = {
  id: 'header-override-kept',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'An upstream that obeys such a header serves another path or method than the one that the gateway matched and authorized.',
  *find({ routes }) {
    for (const { entry, route, path } of routes) {
      const kept = entry.requestHeaders?.keep ?? [];
      const index = kept.findIndex((name) => forgeableHeader(foldHeaderName(name)) === 'override');
      if (index === -1) continue;
      const stricter = routes.find(
        (other) => other.route.upstream === route.upstream && isStricter(other.route, route),
      );
      if (stricter === undefined) continue;
      const message = `with this header a request could reach a path that "${stricter.route.id}" protects; remove it, or make sure that the upstream ignores it`;
      yield findingAt([...path, 'requestHeaders', 'keep', index], message, {
        related: { path: [...stricter.path, 'path'], message: 'the stricter route' },
      });
    }
  },
};
