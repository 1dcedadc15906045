import type { Call } from '../../http1/call.ts';
import type { Outgoing } from '../forward.ts';
import { forwardedOf } from '../forwarded.ts';
import { ruledHeaders } from '../header-rules.ts';
import { requestHeaders } from '../headers.ts';
import { InspectedBody } from '../inspected-body.ts';
import { RequestBody } from '../request-body.ts';

/** @param host of the target: a client of HTTP/1.0 need not name one */
export function callOf(
  { exchange, head, target, route }: Outgoing,
  host: string,
  headers: readonly string[],
  body: Buffer | RequestBody | null,
): Call {
  return {
    method: exchange.request.method ?? '',
    path: target.path + target.query,
    headers: head.host === undefined ? ['Host', host, ...headers] : headers,
    isHandshake: exchange.handshake !== undefined,
    length: Buffer.isBuffer(body) ? body.length : head.body,
    body,
    // The whole exchange has a limit of its own otherwise.
    hasResponseLimit: route.timeoutMs === undefined,
  };
}

/** The headers of a request on their way to the upstream, as the route wants them. */
export function headersOf({ exchange, head, route }: Outgoing): string[] {
  const written = requestHeaders(
    exchange.request.rawHeaders,
    forwardedOf(exchange, head.host),
    route.requestHeaders?.keeps,
  );
  return ruledHeaders(written, route.requestHeaders);
}

/** The body that was read, or one that is yet to come; each try needs its own. */
export function bodyOf({ exchange, head, body, limitBytes, inspector }: Outgoing): Buffer | RequestBody | null {
  if (body !== undefined || head.body === undefined) return body ?? null;
  return inspector === undefined
    ? new RequestBody(exchange, limitBytes)
    : new InspectedBody(exchange, limitBytes, inspector);
}
