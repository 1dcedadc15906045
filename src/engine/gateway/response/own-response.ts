import type { RawHeaders } from '../../http1/raw-headers.ts';
import type { OwnResponse } from '../../settings/own-response.ts';
import type { RoutedExchange } from '../exchange.ts';
import type { RequestTarget } from '../request/request-head.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { Refusal } from './refusal.ts';
import { sendWhole } from './refuse.ts';

/** Sends the response of a route without an upstream. @throws Refusal `path_ambiguous` */
export function respond(exchange: RoutedExchange, response: OwnResponse): void {
  const headers = ownHeaders(response, exchange.target);
  const { status, body } = response;
  sendWhole(exchange, status, forwardResponseHeaders({ status, headers, connection: undefined }, exchange), body);
}

/** Returns the headers of a response of the gateway itself. @throws Refusal `path_ambiguous` if it would redirect to another host */
export function ownHeaders({ headers, locationOf }: OwnResponse, { path, query }: RequestTarget): RawHeaders {
  if (locationOf === undefined) return headers;
  const location = locationOf(path, query);
  if (location === undefined) throw new Refusal('path_ambiguous', { reason: 'redirect_to_host' });
  return ['Location', location, ...headers];
}
