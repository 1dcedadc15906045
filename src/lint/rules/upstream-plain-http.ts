import { isPrivate } from '../hosts.ts';
import { at, type Rule } from '../rule.ts';
import { upstreamsOf } from '../targets.ts';

export const upstreamPlainHttp: Rule = {
  id: 'upstream-plain-http',
  family: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  why: 'Every token that was checked goes on to the upstream: over plain HTTP, whoever is on the way can read it and use it.',
  *find(subject) {
    for (const { targets } of upstreamsOf(subject))
      for (const { url, path } of targets) {
        if (isPrivate(url)) continue;
        const meant = subject.secrets.isSecret(path) ? 'https://' : `https://${url.host}`;
        yield at(path, `tokens go to another machine in plain text here; write ${meant}`);
      }
  },
};
