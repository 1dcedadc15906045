import { REFUSALS, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { jsonResponse, largeJsonResponse, type Respond } from '../admin-endpoint.ts';
import { streamJsonWithList } from '../json-stream.ts';
import type { RecentTraffic, RouteTraffic, TrafficHistory } from '../traffic-history.ts';

/** Reports the recent traffic of each route, upstream and rate limit, and the open requests and connections. */
export const recentTraffic: Respond = (_request, { gateway }, { traffic }) => {
  const { connections, tunnels } = gateway.clients;
  const { seconds, upstreams, limits, routes } = traffic.recent();
  const head = { in_flight: gateway.metrics.inFlight, connections, tunnels, seconds, upstreams, limits };
  return largeJsonResponse(streamJsonWithList(head, 'routes', routes));
};

/** Reports the traffic of the last hour, summed over all routes. */
export const trafficHistory: Respond = (_request, _context, { traffic }) => jsonResponse(historyOf(traffic));

export interface RecentTrafficResponse extends Omit<RecentTraffic, 'routes'> {
  readonly in_flight: number;
  readonly connections: number;
  readonly tunnels: number;
  readonly routes: readonly RouteTraffic[];
}

export type TrafficHistoryResponse = ReturnType<typeof historyOf>;

function historyOf(traffic: TrafficHistory) {
  const intervals = traffic.lastHour();
  return { intervals, statuses: statusesOf(intervals.flatMap(({ refusals }) => Object.keys(refusals))) };
}

/** Returns the status of each code of a refusal. */
export function statusesOf(codes: Iterable<string>): Record<string, number> {
  return Object.fromEntries([...new Set(codes)].map((code) => [code, REFUSALS[code as RefusalCode].status]));
}
