import type { Duplex } from 'node:stream';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { Exchange, WebSocketHandshake } from '../exchange.ts';
import type { EndReason } from '../server/long-lived-exchanges.ts';
import { applyHeaderRules } from '../upstream/header-rules.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { Refusal } from './refusal.ts';
import { refuse } from './refuse.ts';
import { StreamedResponse } from './streamed-response.ts';
import { closeFrame, WebSocketFrameTracker } from './websocket-frames.ts';

/**
 * The answer to a WebSocket handshake (RFC 6455 section 4). Only a 101 makes a tunnel; any other answer goes to
 * the client like that of any request, and the connection ends with it. What the client sent too early waits
 * until there is a tunnel, and is never read as a request.
 */
export class TunnelResponse extends StreamedResponse {
  readonly #handshake: WebSocketHandshake;

  constructor(exchange: Exchange, handshake: WebSocketHandshake) {
    super(exchange);
    this.#handshake = handshake;
  }

  onSwitch({ headers }: ResponseHead, upstream: Duplex): void {
    const { exchange } = this;
    const { socket, takeEarlyData } = this.#handshake;
    if (!isWebSocket(headers) || socket.destroyed) {
      upstream.destroy();
      refuse(exchange, new Refusal('upstream_error', { reason: 'upgrade_protocol_mismatch' }));
      return;
    }
    const head = switchingProtocols(applyHeaderRules(forwardResponseHeaders(headers), exchange.route?.responseHeaders));
    exchange.respondedAfterMs = exchange.elapsedMs();
    exchange.response.detachSocket(exchange.request.socket);
    socket.write(head, 'latin1');
    const early = takeEarlyData();
    if (early.length > 0) socket.unshift(early);
    const frames = new WebSocketFrameTracker();
    upstream.on('data', (bytes: Buffer) => {
      frames.consume(bytes);
      exchange.sentBytes += bytes.length;
    });
    socket.on('data', (bytes: Buffer) => {
      exchange.receivedBytes += bytes.length;
    });
    pipeOneWay(socket, upstream);
    pipeOneWay(upstream, socket);
    exchange.isTunnel = true;
    exchange.trackLongLived((reason) => closeTunnel(socket, upstream, frames, reason));
  }
}

/** RFC 6455 section 7.4.1, and the registry of close codes for 1012. */
const CLOSE: Readonly<Record<EndReason, readonly [code: number, reason: string]>> = {
  access_changed: [1008, 'who may connect has changed'],
  route_changed: [1012, 'the route has changed'],
  going_away: [1001, 'the gateway is going away'],
};
/** How long one side may take to close in turn. */
const CLOSE_MS = 2_000;
/** How long one side may take to read what the other one sent before it closed. */
const FLUSH_MS = 30_000;

/**
 * Closes a tunnel as a server does (RFC 6455 section 7.1.1): what the upstream sends ends at the end of a frame, behind which
 * the client is told why. What the client answers goes to the upstream, and so closes that side.
 */
function closeTunnel(socket: Duplex, upstream: Duplex, frames: WebSocketFrameTracker, reason: EndReason): void {
  const end = () => {
    upstream.off('data', finish);
    upstream.resume();
    socket.end(closeFrame(...CLOSE[reason]));
  };
  const finish = (bytes: Buffer) => {
    // All of it is counted already: the frame that was open is the last one.
    const rest = open.consumeFrame(bytes);
    const isTaken = socket.write(bytes.subarray(0, rest));
    if (open.isAtFrameBoundary) end();
    else if (!isTaken) {
      upstream.pause();
      socket.once('drain', () => upstream.resume());
    }
  };
  const open = frames.clone();
  upstream.unpipe(socket);
  if (open.isAtFrameBoundary) end();
  else upstream.on('data', finish).resume();
  setTimeout(() => socket.destroy(), CLOSE_MS).unref();
}

/**
 * Carries bytes one way; an end is passed on, a failure ends both. A WebSocket is over once one side has closed: the other one
 * would otherwise hold the connection of a client that has left.
 */
function pipeOneWay(from: Duplex, to: Duplex): void {
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
  from.once('end', () => destroyAfter(to, FLUSH_MS));
  to.once('finish', () => destroyAfter(to, CLOSE_MS));
  from.pipe(to);
}

function destroyAfter(socket: Duplex, ms: number): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  socket.once('close', () => clearTimeout(timer));
}

function isWebSocket(headers: readonly string[]): boolean {
  const index = headers.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === 'upgrade');
  return headers[index + 1]?.toLowerCase() === 'websocket' && index !== -1;
}

function switchingProtocols(headers: readonly string[]): string {
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines.join('')}\r\n`;
}
