import type { Route } from '../../plan/route-definition.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';

/**
 * Refuses a WebSocket handshake of a page whose origin the route does not allow (RFC 6455 section 10.2).
 *
 * @throws Refusal `origin_not_allowed`
 */
export function checkWebSocketOrigin(exchange: Exchange, route: Route): void {
  if (!isWebSocketOriginAllowed(exchange, route)) throw new Refusal('origin_not_allowed');
}

/**
 * Browsers send `Origin` with every handshake. Other programs send none, and pass. A browser whose `Origin` was taken out on the way
 * still says that the page is of another site.
 */
export function isWebSocketOriginAllowed(exchange: Exchange, { allowsOrigin }: Route): boolean {
  const { headers } = exchange.request;
  const site = headers['sec-fetch-site'];
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
  const origin = headers.origin ?? (isForeign ? 'null' : undefined);
  return origin === undefined || allowsOrigin?.(origin, isSameHost(origin, exchange)) === true;
}

/** Scheme and authority alone, without credentials, as RFC 6454 section 7 has it: others have more than one reading. */
const ORIGIN = /^https?:\/\/[^/?#@\\%\s]+$/i;

/** A page over plain HTTP is not trusted where clients come over TLS: anyone on its way could have written it. */
function isSameHost(origin: string, { forwardedInfo, connection, head }: Exchange): boolean {
  const url = ORIGIN.test(origin) ? URL.parse(origin) : null;
  const host = forwardedInfo?.host ?? head?.host;
  if (url === null || host === undefined) return false;
  const isSecure = /s$/i.test(forwardedInfo?.protocol ?? connection.protocol);
  if (url.protocol !== 'https:' && (isSecure || url.protocol !== 'http:')) return false;
  return URL.parse(`${url.protocol}//${host}`)?.host === url.host;
}
