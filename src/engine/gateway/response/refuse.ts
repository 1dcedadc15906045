import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { serializeHeaders } from '../../http1/raw-headers.ts';
import type { Exchange } from '../exchange.ts';
import { LINGER_MS } from '../server/client-connection.ts';
import { PacedReads } from '../server/paced-reads.ts';
import type { Refusal } from './refusal.ts';

/**
 * Sends a refusal. A client that is still sending its body receives the refusal at once. The gateway then discards the body for up
 * to `LINGER_MS`, because an immediate close would reset the connection and lose the response. After that it closes the connection,
 * so that the rest of the body is never read as a request. If a response has begun, the gateway resets the connection instead.
 */
export function refuse(exchange: Exchange, refusal: Refusal): void {
  const { request, response } = exchange;
  exchange.refusal = refusal;
  if (response.headersSent || response.destroyed) {
    // Reset, because an HTTP/1.0 client would read a normal close as the end of a response without framing.
    if (response.socket !== null) exchange.connection.reset();
    response.destroy();
    return;
  }
  const body = refusal.body(exchange.id);
  if (request.method !== 'HEAD') exchange.sentBytes = Buffer.byteLength(body);
  // Without a valid head the framing is unknown, and an ambiguous request may hide another one.
  const isHeadInvalid = exchange.head === undefined;
  // The stream of a request without a body ends before the request is complete.
  const isSending = (isHeadInvalid || exchange.head?.body !== undefined) && !request.complete && !request.readableEnded;
  const isLast = isHeadInvalid || isSending || refusal.status === 400;
  if (isLast) response.shouldKeepAlive = false;
  exchange.writeHead(refusal.status, STATUS_CODES[refusal.status] ?? '', refusalHeaders(refusal, body, isLast));
  // Another plan may allow the request, depending on its body.
  copyDiscardedBody(exchange);
  if (!isSending || exchange.expectation === 'continue') {
    response.end(body);
    return;
  }
  response.write(body);
  // The write sends nothing if the request is HEAD.
  response.flushHeaders();
  discardBody(exchange);
}

/** Gives the rest of a body that the gateway discards to the observer's copy. */
function copyDiscardedBody(exchange: Exchange): void {
  exchange.copyBody();
  const { request, bodyCopy } = exchange;
  if (bodyCopy === undefined || !request.complete) return;
  // Node would drop the rest with the end of the response. Reading it also calls the listeners.
  while (request.read() !== null);
  bodyCopy.end();
}

/** Discards the rest of the request body, and ends the response once the body has ended or `LINGER_MS` have passed. */
function discardBody({ request, response }: Exchange): void {
  const timer = setTimeout(() => response.end(), LINGER_MS);
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  const reads = new PacedReads(request.socket);
  request.on('data', (chunk: Buffer) => reads.count(chunk.length));
  request.resume();
}

/**
 * Refuses bytes that are not a request. If a response has begun, only closes the connection.
 *
 * @returns the request id of the refusal; `undefined` if the refusal was not sent
 */
export function refuseSocket(
  socket: Duplex & { _httpMessage?: ServerResponse | null },
  refusal: Refusal,
  isHeadRequest: boolean,
): string | undefined {
  if (!socket.writable) {
    socket.destroy();
    return undefined;
  }
  // Node removes its own listeners from the socket of a CONNECT. Without a listener, a reset would end the process.
  socket.on('error', () => undefined);
  socket.resume();
  const id = socket._httpMessage?.headersSent === true ? undefined : randomUUID();
  socket.end(id === undefined ? '' : rawRefusal(refusal, id, isHeadRequest));
  // A client that never closes its side would hold the connection open forever.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  return id;
}

/** Returns the bytes of a refusal for a connection without a valid request. A response to HEAD has no body (RFC 9110 section 9.3.2). */
export function rawRefusal(refusal: Refusal, requestId: string, isHeadRequest: boolean): string {
  const body = refusal.body(requestId);
  const date = new Date().toUTCString();
  const headers = serializeHeaders([...refusalHeaders(refusal, body, true), 'Date', date]);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${headers}\r\n${isHeadRequest ? '' : body}`;
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
