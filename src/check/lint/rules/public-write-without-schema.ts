import { hasWriteMethod } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const publicWriteWithoutSchema: Rule = {
  id: 'public-write-without-schema',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'The upstream receives bodies from anyone without validation; a schema rejects most malformed and hostile input first.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      if (entry.access === 'protected' || entry.body === undefined || !hasWriteMethod(entry, true)) continue;
      if (entry.body.schema === undefined)
        yield findingAtKey(
          [...path, 'body'],
          'anyone may send any body within the size limit here; add schema: to validate it',
        );
    }
  },
};
