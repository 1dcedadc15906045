import { isProtectedInTransit } from '../../loopback.ts';
import { findingAt, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

export const upstreamPlainHttp: Rule = {
  id: 'upstream-plain-http',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Every token that was checked goes on to the upstream: over plain HTTP, whoever is on the way can read it and use it.',
  *find(subject) {
    for (const { endpoints } of upstreamsOf(subject))
      for (const { url, path } of endpoints) {
        if (isProtectedInTransit(url)) continue;
        const meant = subject.secrets.isSecret(path) ? 'https://' : `https://${url.host}`;
        yield findingAt(path, `tokens go to another machine in plain text here; write ${meant}`);
      }
  },
};
