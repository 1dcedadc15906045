import { durationMs } from '../../manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';

const MOST = { headers: '60s', stalled: '5m' } as const;

export const clientTimeoutLong: Rule = {
  id: 'client-timeout-long',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A client that sends a byte now and then, or takes none, holds a connection for so long: a few thousand of them hold all there are.',
  *find({ manifest }) {
    for (const [step, most] of Object.entries(MOST)) {
      const written = manifest.server.timeouts[step as keyof typeof MOST];
      if (durationMs(written) > durationMs(most))
        yield findingAt(
          ['server', 'timeouts', step],
          `a slow client holds its connection for ${written}; write ${most} or less`,
        );
    }
  },
};
