import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Exchange } from '../exchange.ts';
import { PacedReads } from '../server/paced-reads.ts';
import type { Refusal } from './refusal.ts';

/** How long a client that is still sending may go on after it was refused. */
export const LINGER_MS = 1_000;

/**
 * Answers with a refusal. A client that is still sending its body gets the answer at once; what it sends is
 * thrown away for a moment (closing at once would reset the connection and lose the answer), then the
 * connection is closed, so that the rest of the body is never read as a request.
 */
export function refuse(exchange: Exchange, refusal: Refusal): void {
  const { request, response } = exchange;
  exchange.refusal = refusal;
  if (response.headersSent || response.destroyed) {
    // To a client of HTTP/1.0 a close would be the clean end of an answer without framing.
    if (response.socket !== null) exchange.connection.reset();
    response.destroy();
    return;
  }
  const body = refusal.body(exchange.id);
  if (request.method !== 'HEAD') exchange.sentBytes = Buffer.byteLength(body);
  // Without a head nothing is known of the body; and a request of two readings may hide another one.
  const isUnread = exchange.head === undefined;
  // The stream of a request that announces no body has ended before it is complete.
  const isSending = (isUnread || exchange.head?.body !== undefined) && !request.complete && !request.readableEnded;
  const isLast = isUnread || isSending || refusal.status === 400;
  if (isLast) response.shouldKeepAlive = false;
  exchange.writeHead(refusal.status, STATUS_CODES[refusal.status] ?? '', refusalHeaders(refusal, body, isLast));
  if (!isSending || exchange.expectsContinue) {
    response.end(body);
    return;
  }
  response.write(body);
  // Of an answer to HEAD that writes nothing yet.
  response.flushHeaders();
  const timer = setTimeout(() => response.end(), LINGER_MS);
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  const reads = new PacedReads(request.socket);
  request.on('data', (chunk: Buffer) => reads.count(chunk.length));
  request.resume();
}

/**
 * Refuses bytes that are no request. A response that has begun is cut instead.
 *
 * @returns the request id of the refusal; `undefined` when none was sent
 */
export function refuseSocket(
  socket: Duplex & { _httpMessage?: ServerResponse | null },
  refusal: Refusal,
): string | undefined {
  if (!socket.writable) {
    socket.destroy();
    return undefined;
  }
  // Of a CONNECT's socket Node has taken its own listeners off: a client's reset would end the process.
  socket.on('error', () => undefined);
  socket.resume();
  const id = socket._httpMessage?.headersSent === true ? undefined : randomUUID();
  socket.end(id === undefined ? '' : rawRefusal(refusal, id));
  // A client that never closes its side would hold the connection for ever.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  return id;
}

/** The same for a connection on which no request could be read. */
export function rawRefusal(refusal: Refusal, requestId: string): string {
  const body = refusal.body(requestId);
  const headers = refusalHeaders(refusal, body, true);
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`;
}

function refusalHeaders(refusal: Refusal, body: string, isLast: boolean): string[] {
  const usual = [
    'Content-Type',
    'application/problem+json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
  ];
  return [...usual, ...(isLast ? ['Connection', 'close'] : []), ...Object.entries(refusal.headers).flat()];
}
