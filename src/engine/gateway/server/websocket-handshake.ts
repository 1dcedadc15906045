import { foldHeaderName } from '../../header-names.ts';
import type { ClientRequest } from '../../http1/client-request.ts';
import { forEachHeader, isHeader, type RawHeaders } from '../../http1/raw-headers.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { ForwardedInfo } from '../request/forwarded-info.ts';
import { malformed, type RequestHead, readRequestTarget } from '../request/request-head.ts';
import { Refusal } from '../response/refusal.ts';

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

const SINGLE_IN_HANDSHAKES = new Set(['sec-websocket-key', 'sec-websocket-version']);

/**
 * Refuses a handshake that two servers could read differently: with a body, with two keys or versions (RFC 6455 section 11.3), or
 * without a key of 16 bytes in Base64 (section 4.2.1); and one of another version than 13 (section 4.4).
 *
 * @throws Refusal `message_malformed` or `websocket_version_unsupported`
 */
export function checkHandshake({ body }: RequestHead, headers: RawHeaders): void {
  if (body !== undefined) throw malformed('handshake_with_body');
  const values = new Map<string, string>();
  forEachHeader(headers, (rawName, value) => {
    const name = foldHeaderName(rawName);
    if (!SINGLE_IN_HANDSHAKES.has(name)) return;
    if (values.has(name)) throw malformed('handshake_header_repeated');
    values.set(name, isHeader(rawName, name) ? value : '');
  });
  if (!HANDSHAKE_KEY.test(values.get('sec-websocket-key') ?? '')) throw malformed('handshake_key_invalid');
  if (values.get('sec-websocket-version') !== '13') throw OTHER_VERSION;
}

/** The connection of a handshake serves no other request. */
const OTHER_VERSION = new Refusal('websocket_version_unsupported', {
  headers: { Connection: 'close, Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
});
const HANDSHAKE_KEY = /^[A-Za-z0-9+/]{22}==$/;

/** The parts of an exchange that show where a page comes from. */
export interface OriginFacts {
  readonly request: ClientRequest;
  readonly connection: { readonly protocol: 'http' | 'https' };
  readonly forwardedInfo: ForwardedInfo | undefined;
  readonly head: RequestHead | undefined;
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
