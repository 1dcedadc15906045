import type { Route } from '../../engine/plan/route-definition.ts';
import {
  jsonResponse,
  largeJsonResponse,
  problemDetails,
  type Respond,
  streamJsonWithList,
} from '../admin-endpoint.ts';
import { linesOfRoute, type ManifestLines } from '../manifest-display.ts';
import { rateLimitSummary, rateLimitsOf, routeSummary } from '../route-summary.ts';
import type { TrafficHistory } from '../traffic-history.ts';
import { statusesOf } from './traffic.ts';

/** Lists the active routes in the order of the manifest. */
export const routes: Respond = (_request, { gateway }) =>
  largeJsonResponse(streamJsonWithList({}, 'routes', gateway.plan.routes.values().map(routeSummary)));

export interface RouteTable {
  readonly routes: readonly ReturnType<typeof routeSummary>[];
}

/** Reports one route: its limits, its lines of the manifest, and its last hour. */
export const route: Respond = async ({ query }, { activeManifest }, { traffic, displays }) => {
  const planned = activeManifest();
  const id = query.get('id');
  const index = planned.plan.routes.findIndex((candidate) => candidate.id === id);
  const found = planned.plan.routes[index];
  if (id === null) return problemDetails(400, 'the route is missing; send the query id=<route id>');
  if (found === undefined) return problemDetails(404, 'the active manifest has no route with this id');
  const source = linesOfRoute(planned.sources, await displays.of(planned), index);
  return jsonResponse(detailsOf(found, source, traffic));
};

export type RouteDetails = ReturnType<typeof detailsOf>;

function detailsOf(found: Route, source: ManifestLines, traffic: TrafficHistory) {
  const { intervals, refusals } = traffic.ofRoute(found.id);
  const { upstream } = found;
  return {
    ...routeSummary(found),
    upstream_timeouts_ms: upstream && {
      connect: upstream.connectTimeoutMs,
      response: upstream.responseTimeoutMs,
      idle: upstream.idleTimeoutMs,
      event_stream: upstream.eventStreamTimeoutMs || null,
      total: found.timeoutMs ?? upstream.totalTimeoutMs ?? null,
    },
    upstream_limits: upstream && {
      connections: upstream.connectionLimit,
      endpoints: upstream.endpoints.length,
      queue: upstream.queueLimit,
    },
    limits: rateLimitsOf(found).map(rateLimitSummary),
    source,
    intervals,
    refusals,
    statuses: statusesOf(Object.keys(refusals)),
  };
}
