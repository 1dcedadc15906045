import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const upstreamEndpointTwice: Rule = {
  id: 'upstream-endpoint-twice',
  category: 'upstreams',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'An endpoint that is listed twice receives twice its share of requests, and counts as two failed endpoints when it fails.',
  *find(context) {
    for (const { endpoints } of upstreamsOf(context)) {
      const seen = new Map<string, (typeof endpoints)[number]>();
      for (const endpoint of endpoints) {
        const first = seen.get(endpoint.url.origin);
        if (first === undefined) seen.set(endpoint.url.origin, endpoint);
        else
          yield findingAt(endpoint.path, 'this endpoint is already in the list, in another spelling; remove one', {
            related: { path: first.path, message: 'the first entry' },
            fix: { change: 'remove', path: endpoint.path },
          });
      }
    }
  },
};
