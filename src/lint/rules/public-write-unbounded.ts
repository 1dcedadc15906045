import { isWrite } from '../methods.ts';
import { at, type Rule } from '../rule.ts';

export const publicWriteUnbounded: Rule = {
  id: 'public-write-unbounded',
  family: 'auth',
  severity: 'warning',
  preset: 'recommended',
  why: 'Whoever needs no token may send bodies without end, and the upstream gets all of it.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      if (entry.access === 'protected' || entry.body !== undefined || !isWrite(entry, true)) continue;
      yield at(
        [...path, 'access'],
        'anyone may send a body of any length here; add body: with a schema, or with maxBytes at least',
      );
    }
  },
};
