import type { TlsRule, Upstream } from '../../plan/plan.ts';
import type { Comparison, Found, Sides } from '../difference.ts';
import type { Side } from '../side.ts';

export const upstreamHost: Comparison = {
  id: 'upstream-host',
  severity: 'warning',
  what: 'An upstream is somewhere else.',
  *find(sides) {
    for (const [old, next] of common(sides))
      if (hostsOf(old) !== hostsOf(next)) {
        const [before, now] = [shownHosts(sides.old, next.id), shownHosts(sides.next, next.id)];
        yield { message: `the upstream "${next.id}" is at ${now}, before at ${before}`, path: ['upstreams', next.id] };
      }
  },
};

export const upstreamPlain: Comparison = {
  id: 'upstream-plain',
  severity: 'error',
  what: 'An upstream is reached without TLS.',
  *find(sides) {
    for (const [old, next] of common(sides))
      if (isSecure(old) && !isSecure(next))
        yield { message: `the upstream "${next.id}" is reached without TLS`, path: ['upstreams', next.id] };
  },
};

export const upstreamCa: Comparison = {
  id: 'upstream-ca',
  severity: 'warning',
  what: 'Other authorities may have signed the certificate of an upstream.',
  *find(sides) {
    for (const { id, next, found } of otherParts(sides, 'ca'))
      yield found(
        next.tls().ca === undefined
          ? `the certificate of "${id}" may be signed by any of the usual authorities, no more by those of "ca" alone`
          : `the certificate of "${id}" must be signed by other authorities`,
      );
  },
};

export const upstreamCertificate: Comparison = {
  id: 'upstream-certificate',
  severity: 'info',
  what: 'The gateway shows an upstream another certificate of its own, or none.',
  *find(sides) {
    for (const { id, next, found } of otherParts(sides, 'cert'))
      yield found(
        `the upstream "${id}" is shown ${next.tls().cert === undefined ? 'no certificate' : 'another certificate'}`,
      );
  },
};

export const upstreamName: Comparison = {
  id: 'upstream-name',
  severity: 'warning',
  what: 'The certificate of an upstream that is where it was must have another name.',
  *find(sides) {
    for (const [old, next] of common(sides)) {
      const isElsewhere = hostsOf(old) !== hostsOf(next);
      const names = [old, next].map(({ targets }) => targets.map(({ serverName }) => serverName).join());
      if (isElsewhere || names[0] === names[1]) continue;
      const message = `the certificate of "${next.id}" must have another name`;
      yield { message, path: ['upstreams', next.id, 'tls', 'serverName'] };
    }
  },
};

interface OtherPart {
  readonly id: string;
  readonly next: Upstream;
  readonly found: (message: string) => Found;
}

function* otherParts(sides: Sides, part: keyof TlsRule): Generator<OtherPart> {
  for (const [old, next] of common(sides)) {
    const { id } = next;
    const path = ['upstreams', id, 'tls'];
    if (old.tls()[part] !== next.tls()[part]) yield { id, next, found: (message) => ({ message, path }) };
  }
}

function* common({ old, next }: Sides): Generator<[Upstream, Upstream]> {
  const before = new Map(old.plan.upstreams.map((upstream) => [upstream.id, upstream]));
  for (const upstream of next.plan.upstreams) {
    const was = before.get(upstream.id);
    if (was !== undefined) yield [was, upstream];
  }
}

function isSecure({ targets }: Upstream): boolean {
  return targets.every(({ url }) => url.protocol === 'https:');
}

function shownHosts({ shown }: Side, id: string): string {
  const { url, urls = [] } = shown.upstreams[id] ?? {};
  return [...(url === undefined ? [] : [url]), ...urls].join(', ');
}

function hostsOf({ targets }: Upstream): string {
  return targets.map(({ url }) => url.href).join();
}
