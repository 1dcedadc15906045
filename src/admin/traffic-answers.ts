import { type Answer, type Call, json, type Operated } from './call.ts';
import type { Traffic } from './traffic.ts';

/** What the routes got lately, and what is open now. */
export function lately(_call: Call, { gateway }: Operated, traffic: Traffic): Answer {
  return json(trafficOf(gateway, traffic));
}

/** The last hour, all routes together. */
export function lastHour(_call: Call, _operated: Operated, traffic: Traffic): Answer {
  return json(historyOf(traffic));
}

export type TrafficNow = ReturnType<typeof trafficOf>;
export type LastHour = ReturnType<typeof historyOf>;

function trafficOf(gateway: Operated['gateway'], traffic: Traffic) {
  const { connections, tunnels } = gateway.clients;
  return { in_flight: gateway.meters.inFlight, connections, tunnels, ...traffic.lately() };
}

function historyOf(traffic: Traffic) {
  return { moments: traffic.lastHour() };
}
