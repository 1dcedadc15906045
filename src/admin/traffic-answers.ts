import { type Answer, type Call, json, type Operated } from './call.ts';
import type { Traffic } from './traffic.ts';

/** What the routes got lately, and what is open now. */
export function lately(_call: Call, { gateway }: Operated, traffic: Traffic): Answer {
  const { connections, tunnels } = gateway.clients;
  return json({ in_flight: gateway.meters.inFlight, connections, tunnels, ...traffic.lately() });
}

/** The last hour, all routes together. */
export function lastHour(_call: Call, _operated: Operated, traffic: Traffic): Answer {
  return json({ moments: traffic.lastHour() });
}
