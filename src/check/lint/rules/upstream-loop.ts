import { isLoopback } from '../../../engine/dns/loopback.ts';
import { upstreamsOf } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const upstreamLoop: Rule = {
  id: 'upstream-loop',
  category: 'upstreams',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'The gateway would send requests to itself until no connection is left, or expose the admin API to clients.',
  *find(context) {
    const { listen, admin } = context.plan;
    for (const { endpoints } of upstreamsOf(context))
      for (const { url, path } of endpoints) {
        const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
        const key = port === listen.port ? 'listen' : port === admin?.port ? 'admin' : undefined;
        const host = (key === 'admin' ? admin?.host : listen.host) ?? '';
        const isHere = isLoopback(url.hostname) && (isLoopback(host) || isWildcardHost(host));
        if (key !== undefined && port !== 0 && isHere)
          yield findingAt(path, `this is the "${key}" address of the gateway; write the address of the service`, {
            related: { path: [key], message: 'the address of the gateway' },
          });
      }
  },
};

function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
