import { findingAtKey, type Rule } from '../rule.ts';
import { hasWriteMethod } from '../write-methods.ts';

export const publicWriteWithoutSchema: Rule = {
  id: 'public-write-without-schema',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'What anyone may send reaches the upstream unjudged: a schema is the first look at it, and costs an attacker most of the tries.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      if (entry.access === 'protected' || entry.body === undefined || !hasWriteMethod(entry, true)) continue;
      if (entry.body.schema === undefined)
        yield findingAtKey(
          [...path, 'body'],
          'anyone may send any body here that is short enough; add schema: with what it may be',
        );
    }
  },
};
