import { hasWriteMethod } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const bodyWithoutRule: Rule = {
  id: 'body-without-rule',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Without "body" the gateway forwards bodies of any content and length, and the upstream has to handle all of them.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.access === 'protected' && entry.body === undefined && hasWriteMethod(entry, false))
        yield findingAtKey(
          [...path, 'method'],
          'this route forwards bodies of any content and length; add body: with a schema, or at least with maxBytes',
        );
  },
};
