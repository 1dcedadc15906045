import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const breakerFailuresLow: Rule = {
  id: 'breaker-failures-low',
  category: 'upstreams',
  severity: 'info',
  preset: 'strict',
  rationale:
    'A single lost connection, common during deployments, ejects the endpoint for the full duration of the pause.',
  *find(context) {
    for (const { path, upstream } of upstreamsOf(context))
      if (upstream.breaker?.failures === 1)
        yield findingAt([...path, 'breaker', 'failures'], 'one failure ejects the endpoint; write 3 or more');
  },
};
