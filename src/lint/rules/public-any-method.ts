import { findingAt, type Rule } from '../rule.ts';

export const publicAnyMethod: Rule = {
  id: 'public-any-method',
  category: 'routes',
  severity: 'info',
  preset: 'strict',
  rationale: 'Whoever needs no token should have no method that the upstream does not mean to offer, DELETE say.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.access === 'public' && entry.method === 'any')
        yield findingAt([...path, 'method'], 'anyone may send any method here; list those that are meant');
  },
};
