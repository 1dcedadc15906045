import type { Route } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import { Refusal } from './refusal.ts';

/**
 * Refuses a WebSocket handshake of a page whose origin the route does not allow (RFC 6455 section 10.2).
 *
 * @throws Refusal `origin_not_allowed`
 */
export function checkOrigin(exchange: Exchange, route: Route): void {
  if (!isOriginAllowed(exchange, route)) throw new Refusal('origin_not_allowed');
}

/** Browsers send `Origin` with every handshake. Other programs send none, and pass. */
export function isOriginAllowed(exchange: Exchange, { allowsOrigin }: Route): boolean {
  const { origin } = exchange.request.headers;
  return origin === undefined || allowsOrigin?.(origin, isSameHost(origin, exchange)) === true;
}

/** A page over plain HTTP is not trusted where clients come over TLS: anyone on its way could have written it. */
function isSameHost(origin: string, { believed, connection, head }: Exchange): boolean {
  const url = URL.parse(origin);
  const host = believed?.host ?? head?.host;
  if (url === null || host === undefined) return false;
  const isSecure = /s$/i.test(believed?.protocol ?? connection.protocol);
  if (url.protocol !== 'https:' && (isSecure || url.protocol !== 'http:')) return false;
  return URL.parse(`${url.protocol}//${host}`)?.host === url.host;
}
