import type { ClientRequest } from '../../http1/client-request.ts';
import type { Plan } from '../../plan/plan.ts';
import { readRequestTarget } from '../request/request-target.ts';

/**
 * True if a request is a WebSocket handshake for a route that accepts one. Any other upgrade, and every upgrade in HTTP/1.0, is
 * served as a plain request (RFC 9110 section 7.8). The route's checks follow later, as for every request.
 */
export function isWebSocketHandshake(plan: Plan, request: ClientRequest): boolean {
  if (request.method !== 'GET' || request.httpVersion !== '1.1') return false;
  const { connection = '', upgrade } = request.known;
  if (upgrade?.toLowerCase() !== 'websocket' || !UPGRADE.test(connection)) return false;
  const path = pathOf(plan, request);
  return path !== undefined && plan.router.match('GET', path)?.websocket === true;
}

const UPGRADE = /(?:^|,)[\t ]*upgrade[\t ]*(?:,|$)/i;

/** Returns `undefined` for an invalid request target, which the gateway later refuses as a plain request. */
function pathOf({ router }: Plan, request: ClientRequest): string | undefined {
  try {
    return readRequestTarget(request.url, request.known.host, router.keepsEncodedSlash).path;
  } catch {
    return undefined;
  }
}
