import type { Gateway } from '../../engine/gateway/gateway.ts';
import { REFUSALS, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { jsonResponse, largeJsonResponse, type Respond, streamJsonWithList } from '../admin-endpoint.ts';
import type { RouteTraffic, TrafficHistory } from '../traffic-history.ts';

/** Reports the recent traffic of each route, upstream and rate limit, and the open requests and connections. */
export const recentTraffic: Respond = (_request, { gateway }, { traffic }) => {
  const { head, routes } = recentOf(gateway, traffic);
  return largeJsonResponse(streamJsonWithList(head, 'routes', routes));
};

function recentOf({ clients: { connections, tunnels }, metrics }: Gateway, traffic: TrafficHistory) {
  const { routes, ...recent } = traffic.recent();
  return { head: { in_flight: metrics.inFlight, connections, tunnels, ...recent }, routes };
}

export type RecentTrafficResponse = ReturnType<typeof recentOf>['head'] & { readonly routes: readonly RouteTraffic[] };

/** Reports the traffic of the last hour, summed over all routes. */
export const trafficHistory: Respond = (_request, _context, { traffic }) => jsonResponse(historyOf(traffic));

export type TrafficHistoryResponse = ReturnType<typeof historyOf>;

function historyOf(traffic: TrafficHistory) {
  const intervals = traffic.lastHour();
  return { intervals, statuses: statusesOf(intervals.flatMap(({ refusals }) => Object.keys(refusals))) };
}

/** Returns the status of each code of a refusal. */
export function statusesOf(codes: Iterable<string>): Record<string, number> {
  return Object.fromEntries([...new Set(codes)].map((code) => [code, REFUSALS[code as RefusalCode].status]));
}
