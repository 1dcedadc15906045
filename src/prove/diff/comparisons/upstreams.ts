import type { Upstream, UpstreamTls } from '../../../engine/settings/upstream-definition.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import type { DiffSide } from '../side.ts';
import { commonUpstreams, hasSameEffect, replacedUpstreams } from '../upstream-pairs.ts';

export const upstreamHost: Comparison = {
  id: 'upstream-host',
  severity: 'warning',
  description: 'The endpoints of an upstream changed.',
  *find(sides) {
    for (const [old, next] of commonUpstreams(sides))
      if (endpointUrls(old) !== endpointUrls(next)) {
        const [before, now] = [redactedUrls(sides.old, next.id), redactedUrls(sides.next, next.id)];
        yield {
          message: `the upstream "${next.id}" is now at ${now} (was at ${before})`,
          path: ['upstreams', next.id],
        };
      }
  },
};

export const upstreamPlain: Comparison = {
  id: 'upstream-plain',
  severity: 'error',
  description: 'The gateway no longer connects to an upstream over TLS.',
  *find(sides) {
    for (const [old, next] of commonUpstreams(sides))
      if (isSecure(old) && !isSecure(next))
        yield { message: `the upstream "${next.id}" no longer uses TLS`, path: ['upstreams', next.id] };
    for (const [old, next] of replacedUpstreams(sides))
      if (isSecure(old) && !isSecure(next))
        yield {
          message: `requests to "${old.id}" now go to the upstream "${next.id}", which does not use TLS`,
          path: ['upstreams', next.id],
        };
  },
};

export const upstreamCaRemoved: Comparison = {
  id: 'upstream-ca-removed',
  severity: 'error',
  description: 'Any authority of the system may sign the certificate of an upstream.',
  *find(sides) {
    for (const { id, next, toFinding } of tlsChanges(sides, 'ca'))
      if (next.tls().ca === undefined && isSecure(next))
        yield toFinding(`the certificate of "${id}" may be signed by any default authority, not only by those of "ca"`);
  },
};

export const upstreamCa: Comparison = {
  id: 'upstream-ca',
  severity: 'warning',
  description: 'Other authorities must sign the certificate of an upstream.',
  *find(sides) {
    for (const { id, next, toFinding } of tlsChanges(sides, 'ca'))
      if (next.tls().ca !== undefined)
        yield toFinding(`the certificate of "${id}" must be signed by other authorities`);
  },
};

export const upstreamCertificate: Comparison = {
  id: 'upstream-certificate',
  severity: 'info',
  description: 'The gateway presents another client certificate to an upstream, or none.',
  *find(sides) {
    for (const { id, next, toFinding } of tlsChanges(sides, 'cert'))
      yield toFinding(
        `the gateway presents ${next.tls().cert === undefined ? 'no' : 'another'} certificate to the upstream "${id}"`,
      );
  },
};

export const upstreamName: Comparison = {
  id: 'upstream-name',
  severity: 'warning',
  description: 'The certificate of an upstream must have another name, although its endpoints did not change.',
  *find(sides) {
    for (const [old, next] of commonUpstreams(sides)) {
      const hasMoved = endpointUrls(old) !== endpointUrls(next);
      const names = [old, next].map(serverNames);
      if (hasMoved || names[0] === names[1]) continue;
      const message = `the certificate of "${next.id}" must have another name`;
      yield { message, path: ['upstreams', next.id, 'tls', 'serverName'] };
    }
  },
};

export const upstreamRenamed: Comparison = {
  id: 'upstream-renamed',
  severity: 'info',
  description: 'Requests go to an upstream of another name, with the same endpoints and settings.',
  *find(sides) {
    for (const [old, next] of replacedUpstreams(sides))
      if (hasSameEffect(old, next))
        yield {
          message: `the upstream "${next.id}" has the endpoints and settings of "${old.id}", and receives its requests`,
          path: ['upstreams', next.id],
        };
  },
};

interface TlsChange {
  readonly id: string;
  readonly next: Upstream;
  readonly toFinding: (message: string) => DiffFinding;
}

function* tlsChanges(sides: DiffContext, part: keyof UpstreamTls): Generator<TlsChange> {
  for (const [old, next] of commonUpstreams(sides)) {
    const { id } = next;
    const path = ['upstreams', id, 'tls'];
    if (old.tls()[part] !== next.tls()[part]) yield { id, next, toFinding: (message) => ({ message, path }) };
  }
}

/** Returns the names by endpoint. */
function serverNames({ endpoints }: Upstream): string {
  return endpoints
    .map(({ url, serverName = '' }) => `${url.href} ${serverName.toLowerCase()}`)
    .sort()
    .join();
}

function isSecure({ endpoints }: Upstream): boolean {
  return endpoints.every(({ url }) => url.protocol === 'https:');
}

function redactedUrls({ redacted }: DiffSide, id: string): string {
  const { url, urls = [] } = redacted.upstreams[id] ?? {};
  return [...(url === undefined ? [] : [url]), ...urls].join(', ');
}

function endpointUrls({ endpoints }: Upstream): string {
  return endpoints
    .map(({ url }) => url.href)
    .sort()
    .join();
}
