import { durationMs } from '../../manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';
import { tokenMethods } from '../token-methods.ts';

export const tokenClockToleranceLong: Rule = {
  id: 'token-clock-tolerance-long',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Every token lives longer by this much, expired ones too; clocks that are kept by NTP differ by less than a second.',
  *find({ manifest }) {
    for (const { way, path } of tokenMethods(manifest)) {
      if (durationMs(way.clockTolerance) <= 60_000) continue;
      const message = `every token is good ${way.clockTolerance} longer than its issuer said; write 60s or less, and set the clocks right`;
      yield findingAt([...path, 'clockTolerance'], message);
    }
  },
};
