import type { Route } from '../../engine/plan/route-definition.ts';
import type { DiffContext } from './difference.ts';
import { matchedRoutes } from './matched-routes.ts';
import { commonValues, type PairById, renamedIds } from './pairs-by-id.ts';
import type { DiffSide } from './side.ts';

export type PlannedUpstream = Route['upstream'];
type UpstreamPair = Omit<PairById<PlannedUpstream>, 'id'>;

/** Yields the upstreams that both manifests have. */
export function commonUpstreams({ old, next }: DiffContext): Iterable<PairById<PlannedUpstream>> {
  return commonValues(upstreamsOf(old), upstreamsOf(next));
}

/** Returns each pair of upstreams with different names that the same requests go to, once. */
export function replacedUpstreams(sides: DiffContext): Iterable<UpstreamPair> {
  const pairs = [...matchedRoutes(sides)].map(({ from, to }) => ({
    old: from.route.upstream,
    next: to.route.upstream,
  }));
  const replaced = pairs.filter(({ old, next }) => old.id !== next.id);
  return new Map(replaced.map((pair) => [`${pair.old.id} ${pair.next.id}`, pair])).values();
}

/** Returns the new name of each upstream of the old manifest that has only another name in the new one. */
export function renamedUpstreams({ old, next }: DiffContext): ReadonlyMap<string, string> {
  return renamedIds(upstreamsOf(old), upstreamsOf(next), effectOf);
}

function upstreamsOf({ plan }: DiffSide): ReadonlyMap<string, PlannedUpstream> {
  return new Map(plan.upstreams.map((upstream) => [upstream.id, upstream]));
}

/** True if requests to both upstreams go to the same endpoints in the same way. */
export function hasSameEffect(one: PlannedUpstream, other: PlannedUpstream): boolean {
  return effectOf(one) === effectOf(other);
}

/** Identifies the servers of an upstream, and how the gateway authenticates them. The order of endpoints means nothing. */
export function endpointsKey({ endpoints, tlsKey }: PlannedUpstream): string {
  return JSON.stringify([endpoints.map(({ url, serverName }) => `${url.href} ${serverName ?? ''}`).sort(), tlsKey]);
}

function effectOf(upstream: PlannedUpstream): string {
  const { id: _id, key: _key, endpoints: _endpoints, tls: _tls, tlsKey: _tlsKey, ...settings } = upstream;
  return JSON.stringify([settings, endpointsKey(upstream)]);
}
