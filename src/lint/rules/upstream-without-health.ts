import { findingAtKey, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

export const upstreamWithoutHealth: Rule = {
  id: 'upstream-without-health',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'A target that is down goes on getting its share of the requests, and each of them waits until it fails.',
  *find(subject) {
    for (const { path, entry, endpoints } of upstreamsOf(subject))
      if (endpoints.length > 1 && entry.health === undefined)
        yield findingAtKey([...path, 'urls'], 'no target is asked whether it is well; add health: { path: /healthz }');
  },
};
