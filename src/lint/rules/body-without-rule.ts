import { findingAtKey, type Rule } from '../rule.ts';
import { hasWriteMethod } from '../write-methods.ts';

export const bodyWithoutRule: Rule = {
  id: 'body-without-rule',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Without "body" anything of any length goes on: the upstream is the first to look at it, and pays for all of it.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.access === 'protected' && entry.body === undefined && hasWriteMethod(entry, false))
        yield findingAtKey(
          [...path, 'method'],
          'any body of any length goes on; add body: with a schema, or with maxBytes at least',
        );
  },
};
