import { isProtectedInTransit } from '../../../engine/dns/loopback.ts';
import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const upstreamPlainHttp: Rule = {
  id: 'upstream-plain-http',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'The gateway forwards tokens to the upstream, and over plain HTTP anyone on the network path can read and use them.',
  *find(context) {
    for (const { endpoints } of upstreamsOf(context))
      for (const { url, path } of endpoints) {
        if (isProtectedInTransit(url)) continue;
        const suggested = context.secrets.isSecret(path) ? 'https://' : `https://${url.host}`;
        yield findingAt(path, `tokens cross the network in plain text; write ${suggested}`);
      }
  },
};
