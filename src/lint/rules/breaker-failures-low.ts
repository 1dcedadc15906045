import { findingAt, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

export const breakerFailuresLow: Rule = {
  id: 'breaker-failures-low',
  category: 'upstreams',
  severity: 'info',
  preset: 'strict',
  rationale: 'One lost connection, as happens at every deployment, shuts the target out for the whole pause.',
  *find(subject) {
    for (const { path, upstream } of upstreamsOf(subject))
      if (upstream.breaker?.failures === 1)
        yield findingAt([...path, 'breaker', 'failures'], 'one failure shuts the target out; write 3 or more');
  },
};
