import { isWrite } from '../methods.ts';
import { atKey, type Rule } from '../rule.ts';

export const publicWriteWithoutSchema: Rule = {
  id: 'public-write-without-schema',
  family: 'auth',
  severity: 'info',
  preset: 'recommended',
  why: 'What anyone may send reaches the upstream unjudged: a schema is the first look at it, and costs an attacker most of the tries.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      if (entry.access === 'protected' || entry.body === undefined || !isWrite(entry, true)) continue;
      if (entry.body.schema === undefined)
        yield atKey(
          [...path, 'body'],
          'anyone may send any body here that is short enough; add schema: with what it may be',
        );
    }
  },
};
