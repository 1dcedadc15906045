import type { Upstream, UpstreamTls } from '../../../engine/settings/upstream-definition.ts';
import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes } from '../matched-routes.ts';
import type { DiffSide } from '../side.ts';
import {
  commonUpstreams,
  endpointsKey,
  hasSameEffect,
  replacedUpstreams,
  type UpstreamPair,
} from '../upstream-pairs.ts';
import { forwardedWitness } from '../witnesses/sample-witnesses.ts';

export const upstreamComparisons: Comparisons = {
  'upstream-changed': {
    severity: 'warning',
    description: 'Requests go to another upstream.',
    *find(sides) {
      for (const pair of matchedRoutes(sides)) {
        const [old, next] = [pair.from.route.upstream, pair.to.route.upstream];
        // `upstream-renamed` reports an upstream that has only another name.
        if (old.id === next.id || hasSameEffect(old, next)) continue;
        const hasMoved = endpointsKey(old) !== endpointsKey(next);
        const witness = hasMoved ? forwardedWitness(sides, pair) : undefined;
        yield findingAtKey(pair, 'upstream', `now goes to the upstream "${next.id}" (was "${old.id}")`, witness);
      }
    },
  },
  'upstream-renamed': {
    severity: 'info',
    description: 'Requests go to an upstream of another name, with the same endpoints and settings.',
    find: (sides) =>
      changedUpstreams(replacedUpstreams(sides), ({ old, next }) =>
        hasSameEffect(old, next)
          ? `the upstream "${next.id}" has the endpoints and settings of "${old.id}", and receives its requests`
          : undefined,
      ),
  },
  'upstream-path-changed': {
    severity: 'warning',
    description: 'The upstream receives requests for another path.',
    *find(sides) {
      for (const pair of matchedRoutes(sides)) {
        if (pair.request === undefined) continue;
        const { url } = pair.request;
        const [old, next] = [pair.from, pair.to].map(({ route }) => route.upstreamPath?.(url) ?? url);
        if (old === next) continue;
        const isSecret = [pair.from, pair.to].some(
          ({ entry, redactedEntry }) => entry.upstreamPath?.with !== redactedEntry.upstreamPath?.with,
        );
        const message = isSecret ? 'forwards to another path' : `now forwards to the path ${next} (was ${old})`;
        yield findingAtKey(pair, 'upstreamPath', message, forwardedWitness(sides, pair));
      }
    },
  },
  'upstream-host': {
    severity: 'warning',
    description: 'The endpoints of an upstream changed.',
    find: (sides) =>
      changedUpstreams(commonUpstreams(sides), ({ old, next }) => {
        const [before, now] = [redactedUrls(sides.old, next.id), redactedUrls(sides.next, next.id)];
        const isSame = endpointUrls(old) === endpointUrls(next);
        return isSame ? undefined : `the upstream "${next.id}" is now at ${now} (was at ${before})`;
      }),
  },
  'upstream-plain': {
    severity: 'error',
    description: 'The gateway no longer connects to an upstream over TLS.',
    *find(sides) {
      const isPlain = ({ old, next }: UpstreamPair) => isSecure(old) && !isSecure(next);
      yield* changedUpstreams(commonUpstreams(sides), (pair) =>
        isPlain(pair) ? `the upstream "${pair.next.id}" no longer uses TLS` : undefined,
      );
      yield* changedUpstreams(replacedUpstreams(sides), (pair) =>
        isPlain(pair)
          ? `requests to "${pair.old.id}" now go to the upstream "${pair.next.id}", which does not use TLS`
          : undefined,
      );
    },
  },
  'upstream-ca-removed': {
    severity: 'error',
    description: 'Any authority of the system may sign the certificate of an upstream.',
    find: (sides) =>
      changedTls(sides, 'ca', (next) =>
        next.tls().ca === undefined && isSecure(next)
          ? `the certificate of "${next.id}" may be signed by any default authority, not only by those of "ca"`
          : undefined,
      ),
  },
  'upstream-ca': {
    severity: 'warning',
    description: 'Other authorities must sign the certificate of an upstream.',
    find: (sides) =>
      changedTls(sides, 'ca', (next) =>
        next.tls().ca === undefined ? undefined : `the certificate of "${next.id}" must be signed by other authorities`,
      ),
  },
  'upstream-certificate': {
    severity: 'info',
    description: 'The gateway presents another client certificate to an upstream, or none.',
    find: (sides) =>
      changedTls(sides, 'cert', (next) => {
        const certificate = `${next.tls().cert === undefined ? 'no' : 'another'} certificate`;
        return `the gateway presents ${certificate} to the upstream "${next.id}"`;
      }),
  },
  'upstream-name': {
    severity: 'warning',
    description: 'The certificate of an upstream must have another name, although its endpoints did not change.',
    find: (sides) => {
      const isRenamed = ({ old, next }: UpstreamPair) =>
        endpointUrls(old) === endpointUrls(next) && serverNames(old) !== serverNames(next);
      const messageOf = (pair: UpstreamPair) =>
        isRenamed(pair) ? `the certificate of "${pair.next.id}" must have another name` : undefined;
      return changedUpstreams(commonUpstreams(sides), messageOf, 'tls', 'serverName');
    },
  },
};

/** Yields a finding for each pair that has a message. @param at the keys of the upstream that changed */
function* changedUpstreams(
  pairs: Iterable<UpstreamPair>,
  messageOf: (pair: UpstreamPair) => string | undefined,
  ...at: readonly string[]
): Generator<DiffFinding> {
  for (const pair of pairs) {
    const message = messageOf(pair);
    if (message !== undefined) yield { message, path: ['upstreams', pair.next.id, ...at] };
  }
}

function changedTls(sides: DiffContext, part: keyof UpstreamTls, messageOf: (next: Upstream) => string | undefined) {
  const isChanged = ({ old, next }: UpstreamPair) => old.tls()[part] !== next.tls()[part];
  return changedUpstreams(
    commonUpstreams(sides),
    (pair) => (isChanged(pair) ? messageOf(pair.next) : undefined),
    'tls',
  );
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
