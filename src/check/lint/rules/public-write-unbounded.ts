import { hasWriteMethod } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const publicWriteUnbounded: Rule = {
  id: 'public-write-unbounded',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'Clients without a token may send bodies of unlimited length, and the upstream receives all of it.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      if (entry.access === 'protected' || entry.body !== undefined || !hasWriteMethod(entry, true)) continue;
      yield findingAt(
        [...path, 'access'],
        'anyone may send a body of any length here; add body: with a schema, or at least with maxBytes',
      );
    }
  },
};
