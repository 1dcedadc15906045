import type { Route } from '../../plan/route-definition.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';

/**
 * Refuses a WebSocket handshake from a page whose origin the route does not allow (RFC 6455 section 10.2).
 *
 * @throws Refusal `origin_not_allowed`
 */
export function checkWebSocketOrigin(exchange: Exchange, route: Route): void {
  if (!isWebSocketOriginAllowed(exchange, route)) throw new Refusal('origin_not_allowed');
}

/**
 * Browsers send `Origin` with every handshake; other clients do not, and are allowed. If a proxy has removed the `Origin` of a
 * browser, `Sec-Fetch-Site` still identifies a page of another site.
 */
export function isWebSocketOriginAllowed(exchange: Exchange, { allowsOrigin }: Route): boolean {
  const { headers } = exchange.request;
  const site = headers['sec-fetch-site'];
  const isCrossSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  const origin = headers.origin ?? (isCrossSite ? 'null' : undefined);
  return origin === undefined || allowsOrigin?.(origin, isSameHost(origin, exchange)) === true;
}

/** Scheme and authority without credentials (RFC 6454 section 7). Other forms are ambiguous. */
const ORIGIN = /^https?:\/\/[^/?#@\\%\s]+$/i;

/** Rejects a page over plain HTTP if clients use TLS: anyone on the network path could have modified the page. */
function isSameHost(origin: string, { forwardedInfo, connection, head }: Exchange): boolean {
  const url = ORIGIN.test(origin) ? URL.parse(origin) : null;
  const host = forwardedInfo?.host ?? head?.host;
  if (url === null || host === undefined) return false;
  const isSecure = /s$/i.test(forwardedInfo?.protocol ?? connection.protocol);
  if (url.protocol !== 'https:' && (isSecure || url.protocol !== 'http:')) return false;
  return URL.parse(`${url.protocol}//${host}`)?.host === url.host;
}
