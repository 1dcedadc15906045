import { type Answer, type Call, json, largeJson, type Operated, type Serving } from './call.ts';
import { jsonWithList } from './json-pieces.ts';
import type { Lately, RouteTraffic, Traffic } from './traffic.ts';

/** What the routes got lately, and what is open now. */
export function lately(_call: Call, { gateway }: Operated, { traffic }: Serving): Answer {
  const { connections, tunnels } = gateway.clients;
  const { seconds, routes } = traffic.lately();
  return largeJson(
    jsonWithList({ in_flight: gateway.meters.inFlight, connections, tunnels, seconds }, 'routes', routes),
  );
}

/** The last hour, all routes together. */
export function lastHour(_call: Call, _operated: Operated, { traffic }: Serving): Answer {
  return json(historyOf(traffic));
}

export interface TrafficNow extends Omit<Lately, 'routes'> {
  readonly in_flight: number;
  readonly connections: number;
  readonly tunnels: number;
  readonly routes: readonly RouteTraffic[];
}

export type LastHour = ReturnType<typeof historyOf>;

function historyOf(traffic: Traffic) {
  return { moments: traffic.lastHour() };
}
