import type { Duplex } from 'node:stream';
import { getHeader } from '../../http1/raw-headers.ts';
import type { ResponseHead } from '../../http1/upstream-request.ts';
import type { EndReason } from '../server/long-lived-exchanges.ts';
import { applyHeaderRules, withoutHopHeaders } from '../upstream/proxy-headers.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';
import { Refusal } from './refusal.ts';
import { refuse } from './refuse.ts';
import { StreamedExchange } from './streamed-exchange.ts';
import { closeFrame, WebSocketFrameTracker } from './websocket-frames.ts';

/**
 * An exchange of a WebSocket handshake (RFC 6455 section 4). Only a 101 opens a tunnel. Any other response is streamed to the
 * client, and then the connection closes. Data that the client sends early is kept for the tunnel and never read as a request.
 */
export class TunnelExchange extends StreamedExchange {
  override onUpgrade(head: ResponseHead, upstream: Duplex): void {
    try {
      this.#open(head, upstream);
    } catch (error) {
      upstream.destroy();
      this.onError(error);
      return;
    }
    this.recordHead(head.status);
    this.complete(upstream);
  }

  #open({ headers, connection: named }: ResponseHead, upstream: Duplex): void {
    const { exchange } = this;
    const { connection } = exchange;
    const { socket } = connection;
    // It ends the exchange a moment later.
    if (socket.destroyed) throw new ClientDisconnected();
    if (getHeader(headers, 'upgrade')?.toLowerCase() !== 'websocket') {
      upstream.destroy();
      refuse(exchange, new Refusal('upstream_error', { reason: 'upgrade_protocol_mismatch' }));
      return;
    }
    const kept = applyHeaderRules(withoutHopHeaders(headers, named), exchange.route.responseHeaders);
    this.respondedAt = performance.now();
    exchange.response.writeInformation(101, 'Switching Protocols', [...UPGRADED, ...kept]);
    const earlyData = connection.detach();
    if (earlyData.length > 0) socket.unshift(earlyData);
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
    exchange.settleRateLimits(101);
    exchange.isTunnel = true;
    exchange.trackLongLived((reason) => closeTunnel(socket, upstream, frames, reason));
  }
}

const UPGRADED = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];

/** Close codes (RFC 6455 section 7.4.1; 1012 is in the IANA registry). */
const CLOSE: Readonly<Record<EndReason, readonly [code: number, reason: string]>> = {
  access_changed: [1008, 'the access rules of the route have changed'],
  route_changed: [1012, 'the route has changed'],
  going_away: [1001, 'the gateway is going away'],
};
/** The time limit for one side to close after the other one. */
const CLOSE_MS = 2_000;
/** The time limit for one side to read the data that the other one sent before it closed. */
const FLUSH_MS = 30_000;

/**
 * Closes a tunnel as a server does (RFC 6455 section 7.1.1): forwards the upstream's data to the end of a frame, then sends a
 * close frame to the client. The client's own close frame goes to the upstream and closes that side.
 */
function closeTunnel(socket: Duplex, upstream: Duplex, frames: WebSocketFrameTracker, reason: EndReason): void {
  const tracker = frames.clone();
  const end = () => {
    upstream.off('data', finishFrame);
    upstream.resume();
    socket.end(closeFrame(...CLOSE[reason]));
  };
  const finishFrame = (bytes: Buffer) => {
    const rest = tracker.consumeFrame(bytes);
    const canContinue = socket.write(bytes.subarray(0, rest));
    if (tracker.isAtFrameBoundary) end();
    else if (!canContinue) {
      upstream.pause();
      socket.once('drain', () => upstream.resume());
    }
  };
  upstream.unpipe(socket);
  if (tracker.isAtFrameBoundary) end();
  else upstream.on('data', finishFrame).resume();
  setTimeout(() => socket.destroy(), CLOSE_MS).unref();
}

/**
 * Pipes one direction of a tunnel. A failure closes both sides. After one side ends, the other one has a time limit to close.
 * Otherwise it could keep the tunnel open after the client has left.
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
