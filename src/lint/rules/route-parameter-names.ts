import { patternKey } from '../../plan/routing/pattern.ts';
import type { LintRoute } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const routeParameterNames: Rule = {
  id: 'route-parameter-names',
  category: 'routes',
  severity: 'info',
  preset: 'strict',
  rationale: 'One segment that has two names in two routes reads as if it were two things.',
  *find({ routes }) {
    const names = new Map<string, { name: string; first: LintRoute }>();
    for (const subject of routes) {
      for (const [index, segment] of subject.pattern.entries()) {
        if (segment.kind !== 'parameter') continue;
        const place = patternKey(subject.pattern.slice(0, index + 1));
        const known = names.get(place);
        if (known === undefined) names.set(place, { name: segment.name, first: subject });
        if (known === undefined || known.name === segment.name) continue;
        const message = `{${segment.name}} is {${known.name}} in the path of "${known.first.route.id}"; write one name`;
        yield findingAt([...subject.path, 'path'], message, {
          related: { path: [...known.first.path, 'path'], message: 'there' },
        });
        break;
      }
    }
  },
};
