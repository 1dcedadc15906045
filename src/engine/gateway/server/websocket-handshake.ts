import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Plan } from '../../plan/plan.ts';
import { readRequestTarget } from '../request/request-target.ts';
import { LINGER_MS } from './client-connection.ts';

/**
 * True if a request is a WebSocket handshake for a route that accepts one. Any other upgrade, and every upgrade in HTTP/1.0, is
 * served as a plain request (RFC 9110 section 7.8). The route's checks follow later, as for every request.
 */
export function isWebSocketHandshake(plan: Plan, { method, url = '', headers, httpVersion }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersion !== '1.1' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return plan.router.match('GET', pathOf(plan, url, headers.host) ?? '')?.websocket === true;
}

/** Returns `undefined` for an invalid request target, which the gateway later refuses as a plain request. */
function pathOf({ router }: Plan, url: string, host: string | undefined): string | undefined {
  try {
    return readRequestTarget(url, host, router.keepsEncodedSlash).path;
  } catch {
    return undefined;
  }
}

/** The gateway stops reading from a client that sends more than this before the response. */
const MAX_EARLY_BYTES = 65_536;

/**
 * Buffers bytes that arrive before the response, and detects that the client disconnects.
 *
 * @returns a function that stops the buffering and returns the bytes
 */
export function holdEarlyData(socket: Socket, first: Buffer): () => Buffer {
  const chunks = [first];
  let size = first.length;
  const buffer = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_EARLY_BYTES) socket.pause();
  };
  const onEnd = () => socket.destroy();
  socket.on('data', buffer);
  socket.on('end', onEnd);
  return () => {
    socket.pause();
    socket.off('data', buffer);
    socket.off('end', onEnd);
    return Buffer.concat(chunks);
  };
}

/** Creates the response to a handshake, because Node creates none. The connection closes when the response ends. */
export function createHandshakeResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  const onDrain = () => response.emit('drain');
  socket.on('drain', onDrain);
  socket.on('error', () => undefined);
  response.on('finish', () => {
    socket.off('drain', onDrain);
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.resume();
  });
  return response;
}
