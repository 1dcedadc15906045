import { durationMs } from '../../../engine/manifest/units.ts';
import { tokenMethods } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const tokenClockToleranceLong: Rule = {
  id: 'token-clock-tolerance-long',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'The gateway accepts every token for this long after it expires; clocks that NTP synchronizes differ by less than a second.',
  *find({ manifest }) {
    for (const { entry, path } of tokenMethods(manifest)) {
      if (durationMs(entry.clockTolerance) <= 60_000) continue;
      const message = `every token stays valid for ${entry.clockTolerance} after it expires; write 60s or less, and synchronize the clocks`;
      yield findingAt([...path, 'clockTolerance'], message);
    }
  },
};
