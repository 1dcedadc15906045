import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Finding, Path } from '../../problem/finding.ts';
import type { Route } from '../route-definition.ts';
import { checkOrigins } from './cors.ts';

/**
 * Compiles the check of the `Origin` of WebSocket handshakes. Browsers send it with every handshake and hold no handshake to CORS,
 * so the gateway does. A list of the route decides alone. Without one, the origins of `cors` and pages of the same host pass.
 *
 * @param shared the origins of `cors`
 * @returns `undefined` where the route takes no handshakes
 */
export function compileWebSocketOrigins(
  { websocket }: RouteEntry,
  route: Path,
  shared: readonly string[],
  findings: Finding[],
): Route['allowsOrigin'] {
  if (websocket === false) return undefined;
  if (websocket === true) return (origin, isSameHost) => isSameHost || lists(shared, origin);
  checkOrigins(websocket.origins, [...route, 'websocket', 'origins'], findings);
  return (origin) => lists(websocket.origins, origin);
}

function lists(origins: readonly string[], origin: string): boolean {
  return origins.includes('*') || origins.includes(origin);
}
