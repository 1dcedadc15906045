import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const upstreamWithoutBreaker: Rule = {
  id: 'upstream-without-breaker',
  category: 'upstreams',
  severity: 'info',
  preset: 'recommended',
  rationale: 'Only a breaker ejects an endpoint that passes its health check and fails every request.',
  *find(context) {
    for (const { path, entry, endpoints } of upstreamsOf(context))
      if (endpoints.length > 1 && entry.breaker?.enabled === false)
        yield findingAt(
          [...path, 'breaker', 'enabled'],
          'an endpoint that fails every request is not ejected; remove enabled: false',
        );
  },
};
