import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const upstreamRetryOff: Rule = {
  id: 'upstream-retry-off',
  category: 'upstreams',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'If an endpoint refuses a connection, nothing was sent and another endpoint could serve the request; without "retry" the client gets a 502 response.',
  *find(context) {
    for (const { path, entry, endpoints } of upstreamsOf(context))
      if (endpoints.length > 1 && !entry.retry)
        yield findingAt(
          [...path, 'retry'],
          'requests fail although another endpoint could serve them; remove "retry": the gateway never sends a write twice',
        );
  },
};
