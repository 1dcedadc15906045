import type { RouteEntry } from '../manifest/manifest.generated.ts';
import type { Route } from '../plan/route-definition.ts';
import type { Finding, Path } from '../problem/finding.ts';
import { checkOrigins } from './cors.ts';

/**
 * Compiles the check of the `Origin` of WebSocket handshakes. Browsers send it but do not apply CORS to handshakes, so the
 * gateway checks it: by the route's own list, or else by the origins of `cors` and the request's host.
 *
 * @param corsOrigins the origins of `cors`
 * @returns `undefined` if the route accepts no handshakes
 */
export function compileWebSocketOrigins(
  { websocket }: RouteEntry,
  route: Path,
  corsOrigins: readonly string[],
  findings: Finding[],
): Route['allowsOrigin'] {
  if (websocket === false) return undefined;
  if (websocket === true) return (origin, isSameHost) => isSameHost || isListed(corsOrigins, origin);
  checkOrigins(websocket.origins, [...route, 'websocket', 'origins'], findings);
  return (origin) => isListed(websocket.origins, origin);
}

function isListed(origins: readonly string[], origin: string): boolean {
  return origins.includes('*') || origins.includes(origin);
}
