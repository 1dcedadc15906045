import type { ClientRequest } from '../../http1/client-request.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { ForwardedInfo } from '../request/forwarded-info.ts';
import type { RequestHead } from '../request/request-head.ts';
import { Refusal } from '../response/refusal.ts';

/** The parts of an exchange that show where a page comes from. */
export interface OriginFacts {
  readonly request: ClientRequest;
  readonly connection: { readonly protocol: 'http' | 'https' };
  readonly forwardedInfo: ForwardedInfo | undefined;
  readonly head: RequestHead | undefined;
}

/**
 * Refuses a WebSocket handshake from a page whose origin the route does not allow (RFC 6455 section 10.2).
 *
 * @throws Refusal `origin_not_allowed`
 */
export function checkWebSocketOrigin(exchange: OriginFacts, route: Route): void {
  if (!isWebSocketOriginAllowed(exchange, route)) throw new Refusal('origin_not_allowed');
}

/**
 * True if the route allows the origin of the page that opens a WebSocket. Clients other than browsers send no `Origin` and are
 * allowed. If a proxy has removed the `Origin` of a browser, `Sec-Fetch-Site` still identifies a page from another site.
 */
export function isWebSocketOriginAllowed(exchange: OriginFacts, { allowsOrigin }: Route): boolean {
  const { request } = exchange;
  const site = request.header('sec-fetch-site');
  const isCrossSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  const origin = request.known.origin ?? (isCrossSite ? 'null' : undefined);
  return origin === undefined || allowsOrigin?.(origin, isSameHost(origin, exchange)) === true;
}

/** Matches a scheme and an authority without credentials (RFC 6454 section 7). Other forms are ambiguous. */
const ORIGIN = /^https?:\/\/[^/?#@\\%\s]+$/i;

/** True for a page from the host of the request. If clients use TLS, a page over plain HTTP does not count: it is easy to modify. */
function isSameHost(origin: string, { forwardedInfo, connection, head }: OriginFacts): boolean {
  const url = ORIGIN.test(origin) ? URL.parse(origin) : null;
  const host = forwardedInfo?.host ?? head?.host;
  if (url === null || host === undefined) return false;
  const isSecure = /s$/i.test(forwardedInfo?.protocol ?? connection.protocol);
  if (url.protocol !== 'https:' && (isSecure || url.protocol !== 'http:')) return false;
  return URL.parse(`${url.protocol}//${host}`)?.host === url.host;
}
