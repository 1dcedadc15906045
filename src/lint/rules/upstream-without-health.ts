import { atKey, type Rule } from '../rule.ts';
import { upstreamsOf } from '../targets.ts';

export const upstreamWithoutHealth: Rule = {
  id: 'upstream-without-health',
  family: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  why: 'A target that is down goes on getting its share of the requests, and each of them waits until it fails.',
  *find(subject) {
    for (const { path, entry, targets } of upstreamsOf(subject))
      if (targets.length > 1 && entry.health === undefined)
        yield atKey([...path, 'urls'], 'no target is asked whether it is well; add health: { path: /healthz }');
  },
};
