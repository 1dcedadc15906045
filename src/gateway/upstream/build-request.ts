import type { UpstreamRequest } from '../../http1/upstream-request.ts';
import { forwardingHeadersOf } from '../request/forwarded-info.ts';
import { RequestBody } from '../request/request-body.ts';
import { ValidatedRequestBody } from '../request/validated-request-body.ts';
import type { ForwardRequest } from './forwarder.ts';
import { applyHeaderRules } from './header-rules.ts';
import { forwardRequestHeaders } from './proxy-headers.ts';

/** @param host of the target: a client of HTTP/1.0 need not name one */
export function buildUpstreamRequest(
  { exchange, head, target, route }: ForwardRequest,
  host: string,
  headers: readonly string[],
  body: Buffer | RequestBody | null,
): UpstreamRequest {
  return {
    method: exchange.request.method ?? '',
    path: target.path + target.query,
    headers: head.host === undefined ? ['Host', host, ...headers] : headers,
    isHandshake: exchange.handshake !== undefined,
    length: Buffer.isBuffer(body) ? body.length : head.body,
    body,
    // The whole exchange has a limit of its own otherwise.
    hasResponseTimeout: route.timeoutMs === undefined,
  };
}

/** The headers of a request on their way to the upstream, as the route wants them. */
export function buildHeaders({ exchange, head, route }: ForwardRequest): string[] {
  const written = forwardRequestHeaders(
    exchange.request.rawHeaders,
    forwardingHeadersOf(exchange, head.host),
    route.requestHeaders?.keeps,
  );
  return applyHeaderRules(written, route.requestHeaders);
}

/** The body that was read, or one that is yet to come; each try needs its own. */
export function buildBody({
  exchange,
  head,
  body,
  limitBytes,
  streamValidator,
}: ForwardRequest): Buffer | RequestBody | null {
  if (body !== undefined || head.body === undefined) return body ?? null;
  return streamValidator === undefined
    ? new RequestBody(exchange, limitBytes)
    : new ValidatedRequestBody(exchange, limitBytes, streamValidator);
}
