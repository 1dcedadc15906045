import type { Duplex } from 'node:stream';
import type { Exchange, Handshake } from './exchange.ts';
import { ruledHeaders } from './header-rules.ts';
import { responseHeaders } from './headers.ts';
import { Lane } from './lane.ts';
import type { AnswerControl } from './receiver.ts';
import { Refusal } from './refusal.ts';
import { refuse } from './refuse.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/**
 * The answer to a WebSocket handshake (RFC 6455 section 4). Only a 101 makes a tunnel; any other answer goes to
 * the client like that of any request, and the connection ends with it. What the client sent too early waits
 * until there is a tunnel, and is never read as a request.
 */
export class TunnelAnswer extends StreamedAnswer {
  readonly #handshake: Handshake;

  constructor(exchange: Exchange, handshake: Handshake) {
    super(exchange);
    this.#handshake = handshake;
  }

  onRequestUpgrade(control: AnswerControl, status: number, _headers: unknown, upstream: Duplex): void {
    const { exchange } = this;
    const { socket, takeEarly } = this.#handshake;
    const raw = control.rawHeaders as Buffer[];
    if (status !== 101 || !isWebSocket(raw) || socket.destroyed) {
      upstream.destroy();
      refuse(exchange, new Refusal('upstream_broken', { reason: 'upgrade_to_something_else' }));
      return;
    }
    const head = switchingProtocols(ruledHeaders(responseHeaders(raw), exchange.route?.responseHeaders));
    exchange.answeredAt = exchange.elapsedMs();
    exchange.response.detachSocket(exchange.request.socket);
    socket.write(head, 'latin1');
    const early = takeEarly();
    if (early.length > 0) socket.unshift(early);
    const up = new Lane(socket, upstream, true, (bytes) => {
      exchange.receivedBytes += bytes;
    });
    const down = new Lane(upstream, socket, false, (bytes) => {
      exchange.sentBytes += bytes;
    });
    exchange.openTunnel((reason) => {
      down.leave(reason);
      up.leave(reason);
      // Who does not close in turn is not waited for.
      if (reason !== 'going_away') setTimeout(() => socket.destroy(), CLOSE_MS).unref();
    });
  }
}

/** How long the client may take to close in turn. */
const CLOSE_MS = 2_000;

function isWebSocket(raw: readonly Buffer[]): boolean {
  const names = raw.filter((_, index) => index % 2 === 0).map((name) => name.toString('latin1').toLowerCase());
  return raw[2 * names.indexOf('upgrade') + 1]?.toString('latin1').toLowerCase() === 'websocket';
}

function switchingProtocols(headers: readonly string[]): string {
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines.join('')}\r\n`;
}
