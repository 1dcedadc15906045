import { durationMs } from '../../manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';
import { tokenMethods } from '../token-methods.ts';

export const tokenCacheLong: Rule = {
  id: 'token-cache-long',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'So long may a user who was just blocked, or whose role was taken, go on as before.',
  *find({ manifest }) {
    for (const { way, path } of tokenMethods(manifest)) {
      const { maxAge } = way.cache;
      if (durationMs(maxAge) <= 60_000) continue;
      const message = `a blocked user goes on for ${maxAge}; write 60s or less`;
      yield findingAt([...path, 'cache', 'maxAge'], message);
    }
  },
};
