import { durationMs } from '../../../engine/manifest/units.ts';
import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

const LIMITS = { connect: '10s', response: '2m', idle: '5m' } as const;

export const upstreamTimeoutLong: Rule = {
  id: 'upstream-timeout-long',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'While an upstream hangs, each request holds a connection for this long, so all connections are in use before the failure is visible.',
  *find(context) {
    for (const { path, entry } of upstreamsOf(context))
      for (const [step, limit] of Object.entries(LIMITS)) {
        const configured = entry.timeouts[step as keyof typeof LIMITS];
        if (durationMs(configured) <= durationMs(limit)) continue;
        const remedy = step === 'response' ? ', and add timeout: to the routes that need more' : '';
        yield findingAt(
          [...path, 'timeouts', step],
          `${configured} is longer than clients wait; write ${limit} or less${remedy}`,
        );
      }
  },
};
