import { durationMs } from '../../manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

const MOST = { connect: '10s', response: '2m', idle: '5m' } as const;

export const upstreamTimeoutLong: Rule = {
  id: 'upstream-timeout-long',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'While an upstream hangs each request holds a connection for so long: the slots are gone before anybody is told.',
  *find(subject) {
    for (const { path, entry } of upstreamsOf(subject))
      for (const [step, most] of Object.entries(MOST)) {
        const written = entry.timeouts[step as keyof typeof MOST];
        if (durationMs(written) <= durationMs(most)) continue;
        const remedy = step === 'response' ? ', and give the routes that need more a timeout: of their own' : '';
        yield findingAt(
          [...path, 'timeouts', step],
          `${written} is longer than a client waits; write ${most} or less${remedy}`,
        );
      }
  },
};
