import {
  type AdminContext,
  type AdminRequest,
  type AdminResources,
  type AdminResponse,
  jsonResponse,
  largeJsonResponse,
} from '../admin-endpoint.ts';
import { streamJsonWithList } from '../json-stream.ts';
import type { RecentTraffic, RouteTraffic, TrafficHistory } from '../traffic-history.ts';

/** What the routes got lately, and what is open now. */
export function recentTraffic(
  _call: AdminRequest,
  { gateway }: AdminContext,
  { traffic }: AdminResources,
): AdminResponse {
  const { connections, tunnels } = gateway.clients;
  const { seconds, routes } = traffic.recent();
  return largeJsonResponse(
    streamJsonWithList({ in_flight: gateway.metrics.inFlight, connections, tunnels, seconds }, 'routes', routes),
  );
}

/** The last hour, all routes together. */
export function trafficHistory(
  _call: AdminRequest,
  _operated: AdminContext,
  { traffic }: AdminResources,
): AdminResponse {
  return jsonResponse(historyOf(traffic));
}

export interface RecentTrafficResponse extends Omit<RecentTraffic, 'routes'> {
  readonly in_flight: number;
  readonly connections: number;
  readonly tunnels: number;
  readonly routes: readonly RouteTraffic[];
}

export type TrafficHistoryResponse = ReturnType<typeof historyOf>;

function historyOf(traffic: TrafficHistory) {
  return { moments: traffic.lastHour() };
}
