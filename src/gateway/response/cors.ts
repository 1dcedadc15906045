import type { IncomingMessage } from 'node:http';
import type { Cors } from '../../plan/settings/cors.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestHead } from '../request/request-head.ts';
import { Refusal } from './refusal.ts';

/**
 * Whether a browser asks what a page of another origin may do (Fetch standard, CORS protocol). Such a request comes without
 * credentials, and never has a body.
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
 * Answers a preflight; no upstream hears of it. A page of an origin that is not allowed is told nothing.
 *
 * @param methods those that the routes of its path take
 * @throws Refusal `route_unknown` when there are none
 */
export function respondToPreflight(cors: Cors, exchange: Exchange, methods: readonly string[]): void {
  if (methods.length === 0) throw new Refusal('route_unknown');
  const isAllowed = cors.headersFor(exchange.request.headers.origin).length > 0;
  const allowed = ['Access-Control-Allow-Methods', (cors.methods ?? methods).join(', '), ...cors.preflightHeaders];
  exchange.writeHead(204, 'No Content', isAllowed ? allowed : []);
  exchange.response.end();
}

/** The headers of an answer and what it says to a page of this origin. */
export function withCorsHeaders(cors: Cors, origin: string | undefined, headers: readonly string[]): readonly string[] {
  return [...(cors.isOriginDependent ? withVaryOrigin(headers) : headers), ...cors.headersFor(origin)];
}

/** The headers of an answer without what the upstream says: the gateway speaks for it, and of two voices a browser takes none. */
export function withoutCorsHeaders(headers: readonly string[]): readonly string[] {
  return headers.filter((_, index) => !CORS_RESPONSE_HEADER.test(headers[index - (index % 2)] as string));
}

const CORS_RESPONSE_HEADER = /^access-control-/i;

/** RFC 9110 section 12.5.5. */
function withVaryOrigin(headers: readonly string[]): readonly string[] {
  let first: number | undefined;
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.length !== 4 || headers[index]?.toLowerCase() !== 'vary') continue;
    if (VARIES_BY_ORIGIN.test(headers[index + 1] as string)) return headers;
    first ??= index + 1;
  }
  if (first === undefined) return [...headers, 'Vary', 'Origin'];
  return headers.with(first, headers[first] === '' ? 'Origin' : `${headers[first]}, Origin`);
}

const VARIES_BY_ORIGIN = /(?:^|,)[\t ]*(?:\*|origin)[\t ]*(?:,|$)/i;
