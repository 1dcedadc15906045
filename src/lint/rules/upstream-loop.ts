import { isLoopback } from '../hosts.ts';
import { at, type Rule } from '../rule.ts';
import { upstreamsOf } from '../targets.ts';

export const upstreamLoop: Rule = {
  id: 'upstream-loop',
  family: 'upstreams',
  severity: 'warning',
  preset: 'minimal',
  why: 'The gateway would be its own client: each request becomes another one, until no connection is left; and by the admin address, clients reach what is for operators.',
  *find(subject) {
    const { listen, admin } = subject.plan;
    for (const { targets } of upstreamsOf(subject))
      for (const { url, path } of targets) {
        const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
        const own = port === listen.port ? 'listen' : port === admin?.port ? 'admin' : undefined;
        const host = (own === 'admin' ? admin?.host : listen.host) ?? '';
        const isHere = isLoopback(url.hostname) && (isLoopback(host) || isAny(host));
        if (own !== undefined && port !== 0 && isHere)
          yield at(path, `this is the gateway's own "${own}" address; write that of the service behind it`, {
            related: { path: [own], message: 'that one' },
          });
      }
  },
};

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
