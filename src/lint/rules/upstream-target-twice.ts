import { at, type Rule } from '../rule.ts';
import { upstreamsOf } from '../targets.ts';

export const upstreamTargetTwice: Rule = {
  id: 'upstream-target-twice',
  family: 'upstreams',
  severity: 'warning',
  preset: 'minimal',
  why: 'One machine that counts as two gets twice its share, and takes two places down when it fails.',
  *find(subject) {
    for (const { targets } of upstreamsOf(subject)) {
      const seen = new Map<string, (typeof targets)[number]>();
      for (const target of targets) {
        const twin = seen.get(target.url.origin);
        if (twin === undefined) seen.set(target.url.origin, target);
        else
          yield at(target.path, 'this target stands in the list already, in another spelling; remove one', {
            related: { path: twin.path, message: 'the first one' },
            fix: { change: 'remove', path: target.path },
          });
      }
    }
  },
};
