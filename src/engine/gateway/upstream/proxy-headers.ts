import { foldHeaderName, forgeableHeader } from '../../header-names.ts';
import { getAllHeaders, isHeader, type RawHeaders, withoutHeaders } from '../../http1/raw-headers.ts';
import type { ResponseHead } from '../../http1/upstream-request.ts';
import type { HeaderRules } from '../../settings/header-rules.ts';
import type { Exchange, ForwardedExchange } from '../exchange.ts';
import { withPublicPaths } from '../response/public-paths.ts';
import { UNIX_PEER } from '../server/gateway-connection.ts';
import type { RequestTrace } from '../telemetry/request-record.ts';
import { traceparentFor } from '../telemetry/trace.ts';

/** Headers for one connection only: each hop removes them (RFC 9110 section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  // RFC 9110 section 11.7: credentials and challenges between a client and its proxy.
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-authentication-info',
]);
/** The gateway writes these itself, or does not forward them. CGI servers set the variable HTTP_PROXY from `Proxy`. */
const GATEWAY_OWNED = new Set([
  'expect',
  'trailer',
  'content-length',
  'forwarded',
  'x-request-id',
  'traceparent',
  'proxy',
]);
/** A client cannot remove these by naming them in `Connection`. */
const PROTECTED = new Set([
  ...['authorization', 'host', 'content-type', 'origin'],
  ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol', 'sec-websocket-extensions'],
]);
const CONTENT_LENGTH = new Set(['content-length']);
const CORS_RESPONSE_HEADER = /^access-control-/i;

/**
 * The treatment of a header by its name. `hop`: removed at this hop. The others apply to requests only. `own`: the gateway writes the
 * header itself; `host`, `max-forwards`: passes unless the gateway writes it for this request; `trace`: passes if the trace is continued;
 * `forgeable`: passes if the route keeps it, `prefix` only if the gateway writes none; `address`: passes if the route keeps it or a trusted
 * proxy sends it.
 */
type HeaderHandling = 'pass' | 'hop' | 'own' | 'host' | 'max-forwards' | 'trace' | 'prefix' | 'forgeable' | 'address';

/** By the name as received, because changing the case of every name costs throughput. */
const handlings = new Map<string, HeaderHandling>();
/** Longer names are not kept, and invented ones end with the others: to handle those in use again costs little. */
const MAX_KEPT_LENGTH = 64;
const MAX_KEPT = 1_000;

/** The parts of an exchange that determine the headers of its upstream request. */
export type ForwardedRequest = Pick<
  ForwardedExchange,
  'id' | 'connection' | 'forwardedInfo' | 'head' | 'principal' | 'pseudonym' | 'request' | 'route'
>;

/**
 * Returns the headers of a request as its route forwards them, with the forwarding headers of the gateway.
 *
 * @param trace `undefined`: without trace headers
 */
export function forwardRequestHeaders(forwarded: ForwardedRequest, trace: RequestTrace | undefined): string[] {
  const { id, connection, forwardedInfo, principal, pseudonym, route } = forwarded;
  const { method, httpVersion, known, rawHeaders } = forwarded.request;
  const { maxForwards } = forwarded.head;
  const { claims, requestHeaders: rules, forwardedPrefix } = route;
  const keepsHost = route.upstream.host === 'client';
  const named = known.connection === undefined ? undefined : connectionNames(known.connection);
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index] as string;
    const handling = handlings.get(rawName) ?? findHandling(rawName);
    const isForwarded =
      handling === 'pass' ||
      (handling === 'host' && keepsHost) ||
      (handling === 'max-forwards' && maxForwards === undefined) ||
      (handling === 'trace' && trace?.isContinued === true) ||
      (handling === 'address' && forwardedInfo !== undefined) ||
      (rules?.keeps?.(rawName) === true && (handling !== 'prefix' || forwardedPrefix === undefined));
    if (!isForwarded || claims?.drops(rawName) === true) continue;
    if (named === undefined || !isListed(rawName, named, PROTECTED))
      headers.push(rawName, rawHeaders[index + 1] as string);
  }
  const peer = connection.peer === UNIX_PEER ? 'unknown' : (connection.peer ?? 'unknown');
  const host = forwardedInfo?.host ?? forwarded.head.host;
  headers.push('X-Forwarded-For', forwardedInfo?.for === undefined ? peer : `${forwardedInfo.for}, ${peer}`);
  headers.push('X-Forwarded-Proto', forwardedInfo?.protocol ?? connection.protocol);
  if (host !== undefined) headers.push('X-Forwarded-Host', host);
  if (forwardedPrefix !== undefined) headers.push('X-Forwarded-Prefix', forwardedPrefix);
  headers.push('X-Request-Id', id);
  headers.push('Via', `${httpVersion} ${pseudonym}`);
  if (maxForwards !== undefined) headers.push('Max-Forwards', String(maxForwards - 1));
  if (trace !== undefined) headers.push('traceparent', traceparentFor(trace, method, route.upstream.id));
  const changed = rules === undefined ? headers : applyHeaderRules(headers, rules);
  const lines = claims === undefined || principal === undefined ? [] : claims.linesOf(principal);
  return typeof lines === 'string' || lines.length === 0 ? changed : [...changed, ...lines];
}

/**
 * Returns the headers of a response as its route forwards them. Removes `Trailer` if no trailers can follow. Removes the length of a 1xx or 204, which could be read in two ways (RFC 9110 section 8.6).
 */
export function forwardResponseHeaders(
  { status, headers, connection }: Pick<ResponseHead, 'status' | 'headers' | 'connection'>,
  exchange: Exchange,
): RawHeaders {
  const { request, response, route } = exchange;
  const { cors } = exchange.plan;
  const upgrades = status === 426 ? upgradeHeaders(headers, response) : [];
  const own = withoutHopHeaders(headers, connection);
  const kept = route?.publicPath === undefined ? own : withPublicPaths(own, exchange, route.publicPath);
  const all = upgrades.length === 0 ? kept : [...kept, ...upgrades];
  const forwarded = route?.responseHeaders === undefined ? all : applyHeaderRules(all, route.responseHeaders);
  const isBodiless = request.method === 'HEAD' || status < 200 || status === 204 || status === 304;
  const hasNoTrailers = isBodiless || !response.mayChunk;
  const hasNoLength = status < 200 || status === 204;
  if (!hasNoTrailers && cors === undefined) return forwarded;
  return withoutHeaders(
    forwarded,
    (rawName) =>
      // The gateway writes the CORS headers, and browsers reject a repeated one.
      (cors !== undefined && CORS_RESPONSE_HEADER.test(rawName)) ||
      (hasNoTrailers && isHeader(rawName, 'trailer')) ||
      (hasNoLength && isHeader(rawName, 'content-length')),
  );
}

/** A 426 must name the protocols of the upstream (RFC 9110 section 15.5.22). `Connection` then has to list `Upgrade`. */
function upgradeHeaders(headers: RawHeaders, response: Exchange['response']): string[] {
  const protocols = getAllHeaders(headers, 'upgrade');
  if (protocols.length === 0) return [];
  response.isPersistent = false;
  return ['Upgrade', protocols.join(', '), 'Connection', 'close, Upgrade'];
}

/** Returns the trailers of a response without those that its route removes or sets. */
export function forwardTrailers(trailers: RawHeaders, { route }: Exchange): RawHeaders {
  const rules = route?.responseHeaders;
  const forwarded = withoutHopHeaders(trailers, getAllHeaders(trailers, 'connection').join());
  return rules === undefined ? forwarded : withoutHeaders(forwarded, rules.drops);
}

/** Removes the headers that end at this hop. @param connection all values of `Connection` */
export function withoutHopHeaders(headers: RawHeaders, connection: string | undefined): string[] {
  const named = connection === undefined ? undefined : connectionNames(connection);
  const rest: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const rawName = headers[index] as string;
    if ((handlings.get(rawName) ?? findHandling(rawName)) === 'hop') continue;
    if (named === undefined || !isListed(rawName, named, CONTENT_LENGTH))
      rest.push(rawName, headers[index + 1] as string);
  }
  return rest;
}

/** Removes the headers that a route removes or sets, then appends those that it sets. */
export function applyHeaderRules(headers: string[], rules: HeaderRules | undefined): string[] {
  return rules === undefined ? headers : [...withoutHeaders(headers, rules.drops), ...rules.set];
}

/** Determines the handling of a header, and keeps it. */
function findHandling(rawName: string): HeaderHandling {
  const handling = handlingByName(rawName.toLowerCase());
  if (rawName.length > MAX_KEPT_LENGTH) return handling;
  if (handlings.size >= MAX_KEPT) handlings.clear();
  handlings.set(rawName, handling);
  return handling;
}

/**
 * Returns the handling of a header. Some servers read `X_Forwarded_For` or `X.Forwarded.For` as `X-Forwarded-For`. So the gateway
 * forwards no spelling of a header that it writes itself or removes at this hop, and no other spelling of a header that it checks
 * or that a trusted proxy sends.
 */
function handlingByName(name: string): HeaderHandling {
  if (HOP_BY_HOP.has(name)) return 'hop';
  const folded = foldHeaderName(name);
  const forgeable = forgeableHeader(folded);
  if (folded === 'x-forwarded-prefix') return 'prefix';
  if (forgeable !== undefined) return forgeable === 'address' && folded === name ? 'address' : 'forgeable';
  if (GATEWAY_OWNED.has(folded) || folded.startsWith('x-forwarded-')) return 'own';
  if (folded !== name && (HOP_BY_HOP.has(folded) || PROTECTED.has(folded))) return 'own';
  if (name === 'tracestate') return 'trace';
  return name === 'host' || name === 'max-forwards' ? name : 'pass';
}

/** True if `Connection` names the header, and the header is not one of `exceptions`. */
function isListed(rawName: string, named: ReadonlySet<string>, exceptions: ReadonlySet<string>): boolean {
  const name = rawName.toLowerCase();
  return named.has(name) && !exceptions.has(name);
}

/** Returns the header names in `Connection`; `undefined` if it has only `keep-alive` or `close`. */
function connectionNames(connection: string): ReadonlySet<string> | undefined {
  const value = connection.toLowerCase();
  if (value === 'keep-alive' || value === 'close') return undefined;
  return new Set(value.split(',').map((token) => token.trim()));
}
