import { findingAt, type Rule } from '../rule.ts';

export const publicAnyMethod: Rule = {
  id: 'public-any-method',
  category: 'routes',
  severity: 'info',
  preset: 'strict',
  rationale:
    'A client without a token should not be able to use methods that the upstream does not mean to offer, for example DELETE.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.access === 'public' && entry.method === 'any')
        yield findingAt([...path, 'method'], 'anyone may use any method here; list the methods that the route needs');
  },
};
