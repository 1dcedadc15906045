import { atKey, type Rule } from '../rule.ts';
import { upstreamsOf } from '../targets.ts';

export const upstreamWithoutBreaker: Rule = {
  id: 'upstream-without-breaker',
  family: 'upstreams',
  severity: 'info',
  preset: 'recommended',
  why: 'A target that answers its health check and breaks every request is passed over by a breaker alone.',
  *find(subject) {
    for (const { path, entry, targets } of upstreamsOf(subject))
      if (targets.length > 1 && entry.breaker === undefined)
        yield atKey([...path, 'urls'], 'a target that breaks its requests is not passed over; add breaker: {}');
  },
};
