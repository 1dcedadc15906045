import type { Upstream } from '../../engine/settings/upstream-definition.ts';
import { matchedRoutes } from './comparisons/matched-routes.ts';
import type { DiffContext } from './difference.ts';

type UpstreamPair = readonly [old: Upstream, next: Upstream];

/** Yields the upstreams that both manifests have. */
export function* commonUpstreams({ old, next }: Pick<DiffContext, 'old' | 'next'>): Generator<UpstreamPair> {
  const oldById = new Map(old.plan.upstreams.map((upstream) => [upstream.id, upstream]));
  for (const upstream of next.plan.upstreams) {
    const previous = oldById.get(upstream.id);
    if (previous !== undefined) yield [previous, upstream];
  }
}

/** Returns each pair of upstreams with different names that the same requests go to, once. */
export function replacedUpstreams(sides: DiffContext): readonly UpstreamPair[] {
  const pairs = [...matchedRoutes(sides)]
    .map(({ from, to }): UpstreamPair => [from.route.upstream, to.route.upstream])
    .filter(([old, next]) => old.id !== next.id);
  return [...new Map(pairs.map((pair) => [`${pair[0].id} ${pair[1].id}`, pair])).values()];
}

/** Returns the new name of each upstream of the old manifest that has only another name in the new one. */
export function renamedUpstreams({ old, next }: Pick<DiffContext, 'old' | 'next'>): ReadonlyMap<string, string> {
  const [oldIds, nextIds] = [old, next].map(({ plan }) => new Set(plan.upstreams.map(({ id }) => id)));
  const added = next.plan.upstreams.filter(({ id }) => oldIds?.has(id) === false);
  const names = new Map<string, string>();
  for (const upstream of old.plan.upstreams) {
    if (nextIds?.has(upstream.id)) continue;
    const index = added.findIndex((candidate) => hasSameEffect(upstream, candidate));
    if (index >= 0) for (const { id } of added.splice(index, 1)) names.set(upstream.id, id);
  }
  return names;
}

/** True if requests to both upstreams go to the same endpoints in the same way. */
export function hasSameEffect(one: Upstream, other: Upstream): boolean {
  return effectOf(one) === effectOf(other);
}

/** Identifies the servers of an upstream, and how the gateway authenticates them. The order of endpoints means nothing. */
export function endpointsKey({ endpoints, tlsKey }: Upstream): string {
  return JSON.stringify([endpoints.map(({ url, serverName }) => `${url.href} ${serverName ?? ''}`).sort(), tlsKey]);
}

function effectOf(upstream: Upstream): string {
  const { id: _id, key: _key, endpoints: _endpoints, tls: _tls, tlsKey: _tlsKey, ...settings } = upstream;
  return JSON.stringify([settings, endpointsKey(upstream)]);
}
