import { isLoopback } from '../../loopback.ts';
import { findingAt, type Rule } from '../rule.ts';
import { upstreamsOf } from '../upstreams.ts';

export const upstreamLoop: Rule = {
  id: 'upstream-loop',
  category: 'upstreams',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'The gateway would be its own client: each request becomes another one, until no connection is left; and by the admin address, clients reach what is for operators.',
  *find(subject) {
    const { listen, admin } = subject.plan;
    for (const { endpoints } of upstreamsOf(subject))
      for (const { url, path } of endpoints) {
        const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
        const own = port === listen.port ? 'listen' : port === admin?.port ? 'admin' : undefined;
        const host = (own === 'admin' ? admin?.host : listen.host) ?? '';
        const isHere = isLoopback(url.hostname) && (isLoopback(host) || isWildcardHost(host));
        if (own !== undefined && port !== 0 && isHere)
          yield findingAt(path, `this is the gateway's own "${own}" address; write that of the service behind it`, {
            related: { path: [own], message: 'that one' },
          });
      }
  },
};

function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
