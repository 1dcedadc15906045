import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Plan } from '../../plan/plan.ts';
import { readRequestTarget } from '../request/request-target.ts';
import { LINGER_MS } from '../response/refuse.ts';

/**
 * Whether a request is a WebSocket handshake for a route that takes one. Any other upgrade (RFC 9110 section
 * 7.8) is a plain request, which every server may make of it. Whether it passes is decided later, as for all.
 */
export function isWebSocketHandshake(plan: Plan, { method, url = '', headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return plan.router.match('GET', pathOf(plan, url) ?? '')?.websocket === true;
}

/** The path as far as the guard passes it; what it refuses is refused as a plain request. */
function pathOf({ router }: Plan, url: string): string | undefined {
  try {
    return readRequestTarget(url, undefined, router.keepsEncodedSlash).path;
  } catch {
    return undefined;
  }
}

/** A client that sends more than this before it was answered waits. */
const MAX_EARLY_BYTES = 65_536;

/** Reads what comes before the answer, and with it that the client leaves; the result ends that and tells it. */
export function holdEarlyData(socket: Socket, first: Buffer): () => Buffer {
  const held = [first];
  let size = first.length;
  const hold = (chunk: Buffer) => {
    held.push(chunk);
    size += chunk.length;
    if (size > MAX_EARLY_BYTES) socket.pause();
  };
  const leave = () => socket.destroy();
  socket.on('data', hold);
  socket.on('end', leave);
  return () => {
    socket.pause();
    socket.off('data', hold);
    socket.off('end', leave);
    return Buffer.concat(held);
  };
}

/** Node gives a handshake no response; this one ends its connection when it is finished. */
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
