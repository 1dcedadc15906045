import type { IncomingMessage } from 'node:http';
import type { Cors } from '../../plan/settings/cors.ts';
import { getAllHeaders, type RawHeaders, setHeader } from '../../raw-headers.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestHead } from '../request/request-head.ts';
import { Refusal } from './refusal.ts';

/**
 * True for a preflight, with which a browser checks the permissions of a page from another origin (Fetch standard, CORS
 * protocol). A preflight has no credentials and no body.
 */
export function isPreflight({ method, headers }: IncomingMessage, head: RequestHead): boolean {
  return (
    method === 'OPTIONS' &&
    head.body === undefined &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/**
 * Responds to a preflight without an upstream. The response to an origin that is not allowed has no permissions.
 *
 * @param methods the methods of the routes with this path
 * @throws Refusal `route_unknown` if there are none
 */
export function respondToPreflight(cors: Cors, exchange: Exchange, methods: readonly string[]): void {
  if (methods.length === 0) throw new Refusal('route_unknown');
  const isAllowed = cors.headersFor(exchange.request.headers.origin).length > 0;
  const permissions = ['Access-Control-Allow-Methods', (cors.methods ?? methods).join(', '), ...cors.preflightHeaders];
  exchange.writeHead(204, 'No Content', isAllowed ? permissions : []);
  exchange.response.end();
}

/** Returns the headers with the CORS headers for pages of this origin. */
export function withCorsHeaders(cors: Cors, origin: string | undefined, headers: RawHeaders): RawHeaders {
  return [...(cors.isOriginDependent ? withVaryOrigin(headers) : headers), ...cors.headersFor(origin)];
}

/** Adds `Origin` to `Vary` (RFC 9110 section 12.5.5). */
function withVaryOrigin(headers: RawHeaders): RawHeaders {
  const values = getAllHeaders(headers, 'vary');
  if (values.some((value) => VARIES_BY_ORIGIN.test(value))) return headers;
  const [first = ''] = values;
  return setHeader(headers, 'Vary', first === '' ? 'Origin' : `${first}, Origin`);
}

const VARIES_BY_ORIGIN = /(?:^|,)[\t ]*(?:\*|origin)[\t ]*(?:,|$)/i;
