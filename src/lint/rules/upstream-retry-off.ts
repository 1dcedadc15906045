import { findingAt, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

export const upstreamRetryOff: Rule = {
  id: 'upstream-retry-off',
  category: 'upstreams',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'With several targets a refused connection can go to the next one, and nothing was sent yet: without it the client gets 502 while another target serves.',
  *find(subject) {
    for (const { path, entry, endpoints } of upstreamsOf(subject))
      if (endpoints.length > 1 && !entry.retry)
        yield findingAt(
          [...path, 'retry'],
          'a request is lost though another target could have taken it; leave "retry" out: no write is ever sent twice',
        );
  },
};
