import { at, type Rule } from '../rule.ts';
import { upstreamsOf } from '../targets.ts';

export const breakerHairTrigger: Rule = {
  id: 'breaker-hair-trigger',
  family: 'upstreams',
  severity: 'info',
  preset: 'strict',
  why: 'One lost connection, as happens at every deployment, shuts the target out for the whole pause.',
  *find(subject) {
    for (const { path, upstream } of upstreamsOf(subject))
      if (upstream.breaker?.failures === 1)
        yield at([...path, 'breaker', 'failures'], 'one failure shuts the target out; write 3 or more');
  },
};
