import { patternKey } from '../../../engine/routing/pattern.ts';
import type { LintRoute } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeParameterNames: Rule = {
  id: 'route-parameter-names',
  category: 'routes',
  severity: 'info',
  preset: 'strict',
  rationale: 'Readers take a segment that has different names in two routes for two different parameters.',
  *find({ routes }) {
    const names = new Map<string, { name: string; first: LintRoute }>();
    for (const lintRoute of routes) {
      for (const [index, segment] of lintRoute.pattern.entries()) {
        if (segment.kind !== 'parameter') continue;
        const prefix = patternKey(lintRoute.pattern.slice(0, index + 1));
        const previous = names.get(prefix);
        if (previous === undefined) names.set(prefix, { name: segment.name, first: lintRoute });
        if (previous === undefined || previous.name === segment.name) continue;
        const message = `{${segment.name}} is called {${previous.name}} in the path of "${previous.first.route.id}"; use one name`;
        yield findingAt([...lintRoute.path, 'path'], message, {
          related: { path: [...previous.first.path, 'path'], message: 'the other name' },
        });
        break;
      }
    }
  },
};
