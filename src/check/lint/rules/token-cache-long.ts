import { durationMs } from '../../../engine/manifest/units.ts';
import { tokenMethods } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const tokenCacheLong: Rule = {
  id: 'token-cache-long',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'A user who was blocked, or who lost a role, keeps access for this long.',
  *find({ manifest }) {
    for (const { entry, path } of tokenMethods(manifest)) {
      const { maxAge } = entry.cache;
      if (durationMs(maxAge) <= 60_000) continue;
      const message = `a blocked user keeps access for up to ${maxAge}; write 60s or less`;
      yield findingAt([...path, 'cache', 'maxAge'], message);
    }
  },
};
