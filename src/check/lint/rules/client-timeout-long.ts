import { durationMs } from '../../../engine/manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';

const LIMITS = { headers: '60s', stalled: '5m' } as const;

export const clientTimeoutLong: Rule = {
  id: 'client-timeout-long',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A client that sends or reads almost nothing holds its connection for this long, and a few thousand of them exhaust the connection limit.',
  *find({ manifest }) {
    for (const [step, limit] of Object.entries(LIMITS)) {
      const configured = manifest.server.timeouts[step as keyof typeof LIMITS];
      if (durationMs(configured) > durationMs(limit))
        yield findingAt(
          ['server', 'timeouts', step],
          `a slow client holds its connection for ${configured}; write ${limit} or less`,
        );
    }
  },
};
