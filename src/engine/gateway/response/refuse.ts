import { LINGER_MS } from '../../http1/client-connection.ts';
import { type RequestErrorKind, serializeHeaders } from '../../http1/message-head.ts';
import { type RawHeaders, withMissing } from '../../http1/raw-headers.ts';
import type { Exchange } from '../exchange.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';
import { Refusal, STATUS_REASONS } from './refusal.ts';

/** Ends an exchange that failed: sends the refusal, unless the client has left or is refused already. */
export function fail(exchange: Exchange, error: unknown): void {
  const { response } = exchange;
  if (exchange.refusal !== undefined) return;
  if (!(error instanceof ClientDisconnected))
    refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
  // If the gateway ended the response early itself, the connection stays open.
  else if (!response.isOver) response.destroy();
}

/**
 * Sends a refusal. A client that is still sending its body receives the refusal at once. The gateway then discards the body for up
 * to `LINGER_MS`, because an immediate close would reset the connection and lose the response. After that it closes the connection,
 * so that the rest of the body is never read as a request. If a response has begun, the gateway resets the connection instead.
 */
export function refuse(exchange: Exchange, refusal: Refusal): void {
  const { request, response } = exchange;
  exchange.refusal = refusal;
  if (response.hasBegun || response.isOver) {
    // Reset, because an HTTP/1.0 client would read a normal close as the end of a response without framing.
    if (!response.isOver) exchange.connection.reset();
    return;
  }
  const body = refusal.body(exchange.id);
  // Without a valid head the framing is unknown, and an ambiguous request may hide another one.
  const isHeadInvalid = exchange.head === undefined;
  const isLast = isHeadInvalid || !request.isComplete || refusal.status === 400;
  if (isLast) response.isPersistent = false;
  sendWhole(exchange, refusal.status, refusalHeaders(refusal, body, isLast), Buffer.from(body));
}

/** Sends a response of the gateway itself, as `refuse` does. */
export function sendWhole(exchange: Exchange, status: number, headers: RawHeaders, body: Buffer): void {
  const { request, response } = exchange;
  const isSending = !request.isComplete;
  if (request.method !== 'HEAD') exchange.sentBytes = body.length;
  if (isSending) response.isPersistent = false;
  exchange.writeHead(status, STATUS_REASONS[status] ?? '', headers);
  // Another plan may do something else, depending on the body.
  exchange.copyBody();
  if (!isSending || exchange.expectation === 'continue') {
    response.end(body);
    return;
  }
  response.write(body);
  // The write sends nothing if the request is HEAD.
  response.flushHead();
  discardBody(exchange);
}

/** Refuses a request whose body is not valid or late. It ends what the gateway does for it, and reads no more from the client. */
export function refuseRest(exchange: Exchange, kind: RequestErrorKind): void {
  exchange.response.isPersistent = false;
  refuse(exchange, REFUSAL_BY_KIND[kind]);
  exchange.work?.cancel();
  exchange.connection.discardInput();
  exchange.response.end();
}

export const REFUSAL_BY_KIND: Readonly<Record<RequestErrorKind, Refusal>> = {
  request_line: new Refusal('message_malformed', { reason: 'request_line' }),
  message: new Refusal('message_malformed'),
  body: new Refusal('message_malformed'),
  too_large: new Refusal('headers_too_large'),
  late: new Refusal('request_timeout'),
};

/** Discards the rest of the request body, and ends the response once the body has ended or `LINGER_MS` have passed. */
function discardBody({ request, response }: Exchange): void {
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.readBody({ onBodyData: () => {}, onBodyEnd: end, onBodyClose: () => clearTimeout(timer) });
}

/**
 * Returns the bytes of a refusal for a connection without a valid request. A response to HEAD has no body (RFC 9110 section 9.3.2).
 *
 * @param common the headers of every response
 */
export function rawRefusal(refusal: Refusal, requestId: string, isHeadRequest: boolean, common: RawHeaders): string {
  const body = refusal.body(requestId);
  const date = new Date().toUTCString();
  const own = [...refusalHeaders(refusal, body, true), 'Date', date];
  const headers = serializeHeaders(withMissing(own, common));
  return `HTTP/1.1 ${refusal.status} ${STATUS_REASONS[refusal.status]}\r\n${headers}\r\n${isHeadRequest ? '' : body}`;
}

function refusalHeaders(refusal: Refusal, body: string, isLast: boolean): string[] {
  const common = [
    'Content-Type',
    'application/problem+json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
  ];
  return [...common, ...(isLast ? ['Connection', 'close'] : []), ...Object.entries(refusal.headers).flat()];
}
