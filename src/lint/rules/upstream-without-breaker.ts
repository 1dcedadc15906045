import { at, type Rule } from '../rule.ts';
import { upstreamsOf } from '../targets.ts';

export const upstreamWithoutBreaker: Rule = {
  id: 'upstream-without-breaker',
  family: 'upstreams',
  severity: 'info',
  preset: 'recommended',
  why: 'Only a breaker ejects an endpoint that passes its health check and fails every request.',
  *find(subject) {
    for (const { path, entry, targets } of upstreamsOf(subject))
      if (targets.length > 1 && entry.breaker?.enabled === false)
        yield at(
          [...path, 'breaker', 'enabled'],
          'an endpoint that fails every request is not ejected; remove enabled: false',
        );
  },
};
