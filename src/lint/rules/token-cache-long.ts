import { durationMs } from '../../manifest/units.ts';
import { at, type Rule } from '../rule.ts';
import { waysOf } from '../tokens.ts';

export const tokenCacheLong: Rule = {
  id: 'token-cache-long',
  family: 'auth',
  severity: 'warning',
  preset: 'recommended',
  why: 'So long may a user who was just blocked, or whose role was taken, go on as before.',
  *find({ manifest }) {
    for (const { way, path } of waysOf(manifest)) {
      const { maxAge } = way.cache;
      if (durationMs(maxAge) <= 60_000) continue;
      const message = `a blocked user goes on for ${maxAge}; write 60s or less`;
      yield at([...path, 'cache', 'maxAge'], message);
    }
  },
};
