import { upstreamsOf } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const upstreamWithoutHealth: Rule = {
  id: 'upstream-without-health',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Without health checks a failed endpoint still receives its share of the requests, and each of them waits until it fails.',
  *find(context) {
    for (const { path, entry, endpoints } of upstreamsOf(context))
      if (endpoints.length > 1 && entry.health === undefined)
        yield findingAtKey([...path, 'urls'], 'these endpoints have no health check; add health: { path: /healthz }');
  },
};
