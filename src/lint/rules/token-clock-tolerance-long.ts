import { durationMs } from '../../manifest/units.ts';
import { at, type Rule } from '../rule.ts';
import { waysOf } from '../tokens.ts';

export const tokenClockToleranceLong: Rule = {
  id: 'token-clock-tolerance-long',
  family: 'auth',
  severity: 'warning',
  preset: 'recommended',
  why: 'Every token lives longer by this much, expired ones too; clocks that are kept by NTP differ by less than a second.',
  *find({ manifest }) {
    for (const { way, path } of waysOf(manifest)) {
      if (durationMs(way.clockTolerance) <= 60_000) continue;
      const message = `every token is good ${way.clockTolerance} longer than its issuer said; write 60s or less, and set the clocks right`;
      yield at([...path, 'clockTolerance'], message);
    }
  },
};
