import { findingAt, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

export const upstreamEndpointTwice: Rule = {
  id: 'upstream-endpoint-twice',
  category: 'upstreams',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'One machine that counts as two gets twice its share, and takes two places down when it fails.',
  *find(subject) {
    for (const { endpoints } of upstreamsOf(subject)) {
      const seen = new Map<string, (typeof endpoints)[number]>();
      for (const target of endpoints) {
        const twin = seen.get(target.url.origin);
        if (twin === undefined) seen.set(target.url.origin, target);
        else
          yield findingAt(target.path, 'this target stands in the list already, in another spelling; remove one', {
            related: { path: twin.path, message: 'the first one' },
            fix: { change: 'remove', path: target.path },
          });
      }
    }
  },
};
