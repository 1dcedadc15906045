import type { Route } from '../../../engine/plan/route-definition.ts';
import type { Comparison, DiffContext, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { commonValues, findingAtKey, matchedRoutes, type PairById, renamedIds } from '../matched-routes.ts';
import type { DiffSide } from '../side.ts';
import { forwardedWitness } from '../witnesses/sample-witnesses.ts';

export const upstreamComparison: Comparison = {
  rules: {
    'upstream-changed': ['warning', 'Requests go to another upstream.'],
    'upstream-renamed': ['info', 'Requests go to an upstream of another name, with the same endpoints and settings.'],
    'upstream-path-changed': ['warning', 'The upstream receives requests for another path.'],
    'response-paths': ['warning', 'The gateway maps the paths in headers of responses, or no longer does so.'],
    'upstream-host': ['warning', 'The endpoints of an upstream changed.'],
    'upstream-plain': ['error', 'The gateway no longer connects to an upstream over TLS.'],
    'upstream-ca-removed': ['error', 'Any authority of the system may sign the certificate of an upstream.'],
    'upstream-ca': ['warning', 'Other authorities must sign the certificate of an upstream.'],
    'upstream-certificate': ['info', 'The gateway presents another client certificate to an upstream, or none.'],
    'upstream-name': [
      'warning',
      'The certificate of an upstream must have another name, although its endpoints did not change.',
    ],
  },
  *find(sides) {
    for (const pair of matchedRoutes(sides)) {
      yield* changedUpstream(pair);
      yield* changedPath(pair);
    }
    for (const { old, next } of replacedUpstreams(sides)) {
      const at = ['upstreams', next.id];
      if (hasSameEffect(old, next)) {
        const message = `the upstream "${next.id}" has the endpoints and settings of "${old.id}", and receives its requests`;
        yield { rule: 'upstream-renamed', message, path: at };
      }
      if (isSecure(old) && !isSecure(next)) {
        const message = `requests to "${old.id}" now go to the upstream "${next.id}", which does not use TLS`;
        yield { rule: 'upstream-plain', message, path: at };
      }
    }
    for (const pair of commonUpstreams(sides)) yield* changedEndpoints(pair, sides);
  },
};

function* changedUpstream(pair: MatchedRoutePair): Generator<DiffFinding> {
  const [old, next] = [pair.from.route.upstream, pair.to.route.upstream];
  if (old === undefined || next === undefined) {
    if (old === next) return;
    const change =
      next === undefined ? 'is now answered by the gateway itself' : `now goes to the upstream "${next.id}"`;
    const before = old === undefined ? 'the gateway responded itself' : `it went to the upstream "${old.id}"`;
    yield findingAtKey(pair, 'upstream-changed', 'upstream', `${change} (${before})`, forwardedWitness(pair));
    return;
  }
  // `upstream-renamed` reports an upstream that has only another name.
  if (old.id === next.id || hasSameEffect(old, next)) return;
  const hasMoved = endpointsKey(old) !== endpointsKey(next);
  const witness = hasMoved ? forwardedWitness(pair) : undefined;
  const message = `now goes to the upstream "${next.id}" (was "${old.id}")`;
  yield findingAtKey(pair, 'upstream-changed', 'upstream', message, witness);
}

/** Yields the changes of the path for the upstream, and of those in its responses. */
function* changedPath(pair: MatchedRoutePair): Generator<DiffFinding> {
  const [before = false, now = false] = [pair.from, pair.to].map(({ entry }) => entry.upstreamPath?.rewriteResponses);
  const change = `${now ? 'now' : 'no longer'} maps the paths in Location, Content-Location and Set-Cookie of responses`;
  if (before !== now) yield findingAtKey(pair, 'response-paths', 'upstreamPath', change, forwardedWitness(pair));
  if (pair.request === undefined) return;
  const { url } = pair.request;
  const [old, next] = [pair.from, pair.to].map(({ route }) => route.upstreamPath?.(url) ?? url);
  if (old === next) return;
  const isSecret = [pair.from, pair.to].some(
    ({ entry, redactedEntry }) => entry.upstreamPath?.with !== redactedEntry.upstreamPath?.with,
  );
  const message = isSecret ? 'forwards to another path' : `now forwards to the path ${next} (was ${old})`;
  yield findingAtKey(pair, 'upstream-path-changed', 'upstreamPath', message, forwardedWitness(pair));
}

/** Yields the changes of the endpoints and the TLS settings of an upstream that both manifests have. */
function* changedEndpoints({ id, old, next }: PairById<PlannedUpstream>, sides: DiffContext): Generator<DiffFinding> {
  const finding = (rule: string, message: string, ...at: readonly string[]) => ({
    rule,
    message,
    path: ['upstreams', id, ...at],
  });
  const isMoved = sorted(old, ({ url }) => url.href) !== sorted(next, ({ url }) => url.href);
  if (isMoved) {
    const [before, now] = [redactedUrls(sides.old, id), redactedUrls(sides.next, id)];
    yield finding('upstream-host', `the upstream "${id}" is now at ${now} (was at ${before})`);
  }
  if (isSecure(old) && !isSecure(next)) yield finding('upstream-plain', `the upstream "${id}" no longer uses TLS`);
  const [before, now] = [old.tls(), next.tls()];
  if (before.ca !== now.ca && now.ca !== undefined)
    yield finding('upstream-ca', `the certificate of "${id}" must be signed by other authorities`, 'tls');
  if (before.ca !== now.ca && now.ca === undefined && isSecure(next))
    yield finding(
      'upstream-ca-removed',
      `the certificate of "${id}" may be signed by any default authority, not only by those of "ca"`,
      'tls',
    );
  if (before.cert !== now.cert) {
    const certificate = `${now.cert === undefined ? 'no' : 'another'} certificate`;
    yield finding('upstream-certificate', `the gateway presents ${certificate} to the upstream "${id}"`, 'tls');
  }
  const nameOf = ({ url, serverName = '' }: Endpoint) => `${url.href} ${serverName.toLowerCase()}`;
  if (!isMoved && sorted(old, nameOf) !== sorted(next, nameOf))
    yield finding('upstream-name', `the certificate of "${id}" must have another name`, 'tls', 'serverName');
}

type Endpoint = PlannedUpstream['endpoints'][number];

/** Describes the endpoints of an upstream, whose order means nothing. */
function sorted({ endpoints }: PlannedUpstream, textOf: (endpoint: Endpoint) => string): string {
  return endpoints.map(textOf).sort().join();
}

function isSecure({ endpoints }: PlannedUpstream): boolean {
  return endpoints.every(({ url }) => url.protocol === 'https:');
}

function redactedUrls({ redacted }: DiffSide, id: string): string {
  const { url, urls = [] } = redacted.upstreams[id] ?? {};
  return [url ?? [], urls].flat().join(', ');
}

type PlannedUpstream = NonNullable<Route['upstream']>;

/** Yields the upstreams that both manifests have. */
export function commonUpstreams({ old, next }: DiffContext): Iterable<PairById<PlannedUpstream>> {
  return commonValues(upstreamsOf(old), upstreamsOf(next));
}

/** Returns each pair of upstreams with different names that the same requests go to, once. */
function replacedUpstreams(sides: DiffContext) {
  const pairs = matchedRoutes(sides).flatMap(({ from, to }) => {
    const [old, next] = [from.route.upstream, to.route.upstream];
    return old === undefined || next === undefined || old.id === next.id ? [] : [{ old, next }];
  });
  return new Map([...pairs].map((pair) => [`${pair.old.id} ${pair.next.id}`, pair])).values();
}

/** Returns the new name of each upstream of the old manifest that has only another name in the new one. */
export function renamedUpstreams({ old, next }: DiffContext): ReadonlyMap<string, string> {
  return renamedIds(upstreamsOf(old), upstreamsOf(next), effectOf);
}

function upstreamsOf({ plan }: DiffSide): ReadonlyMap<string, PlannedUpstream> {
  return new Map(plan.upstreams.map((upstream) => [upstream.id, upstream]));
}

/** True if requests to both upstreams go to the same endpoints in the same way. */
function hasSameEffect(one: PlannedUpstream, other: PlannedUpstream): boolean {
  return effectOf(one) === effectOf(other);
}

/** Identifies the servers of an upstream, and how the gateway authenticates them. The order of endpoints means nothing. */
export function endpointsKey({ endpoints, tlsKey }: PlannedUpstream): string {
  return JSON.stringify([endpoints.map(({ url, serverName }) => `${url.href} ${serverName ?? ''}`).sort(), tlsKey]);
}

/** Identifies the servers of an upstream, and all settings of requests to it. */
function effectOf(upstream: PlannedUpstream): string {
  const { id: _id, key: _key, endpoints: _endpoints, tls: _tls, tlsKey: _tlsKey, ...settings } = upstream;
  return JSON.stringify([settings, endpointsKey(upstream)]);
}
