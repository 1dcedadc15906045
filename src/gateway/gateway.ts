import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../log.ts';
import type { Plan } from '../plan/plan.ts';
import { accessLine, refusedLine } from './access-log.ts';
import { Exchange } from './exchange.ts';
import { createForwarder } from './forward.ts';
import { holdEarly, isHandshake, responseOn } from './handshake.ts';
import { METHODS } from './methods.ts';
import { createPipelineGuard } from './pipeline.ts';
import { Refusal } from './refusal.ts';
import { refuse, refuseSocket } from './refuse.ts';
import { serve } from './serve.ts';
import type { UpstreamStatus } from './upstream/live-upstream.ts';

export interface Gateway {
  /** The plan in force. */
  readonly plan: Plan;
  /** How the upstreams of the plan in force do. */
  readonly upstreams: readonly UpstreamStatus[];
  /** Begins to serve; answers the address that was bound. Rejects with what `net` says, `EADDRINUSE` say. */
  listen(): Promise<AddressInfo>;
  /** Serves what comes on a connection that somebody else has made. */
  take(connection: Duplex): void;
  /** From the next request on, this plan is in force; requests in flight end by the one they began with. */
  swap(plan: Plan): void;
  /** Takes no new connections, lets requests in flight end for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

const HEADER_BYTES = 16_384;

/** The server of a plan. */
export function createGateway(first: Plan, log: Log): Gateway {
  let plan = first;
  // A set of what is in flight would say it too, but cost the collector as much as all the rest: this is read
  // when an answer's head is written.
  const life = { isClosing: false };
  /** Sockets of handshakes and of what became of them: the server itself forgets these. */
  const tunnels = new Set<Socket>();
  const forwarder = createForwarder(first, log);

  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: 20_000,
    keepAliveTimeout: 75_000,
    // A missing Host is refused like everything else, where the head is read.
    requireHostHeader: false,
    shouldUpgradeCallback: (request) => isHandshake(plan, request),
  });
  // Node drops the headers above its own count in silence; the head is counted where it is read.
  server.maxHeadersCount = 0;

  const refuseBytes = (socket: Duplex & { remoteAddress?: string }, refusal: Refusal) => {
    const id = refuseSocket(socket, refusal);
    if (id !== undefined) log.line(refusedLine(id, refusal, socket.remoteAddress));
  };
  const isNext = createPipelineGuard();
  const end = (exchange: Exchange) => {
    if (!exchange.response.writableFinished) exchange.onClientGone?.();
    log.line(accessLine(exchange));
    // Its answer may have said keep-alive before the closing began.
    if (life.isClosing) setImmediate(() => server.closeIdleConnections());
  };
  const begin = (request: IncomingMessage, response: ServerResponse, expectsContinue = false) => {
    const exchange = new Exchange({ request, response, expectsContinue, cors: plan.cors, life });
    response.on('close', () => end(exchange));
    return exchange;
  };
  server.on('request', (request, response) => {
    if (isNext(request, response)) void serve(plan, begin(request, response), forwarder);
  });
  server.on('checkContinue', (request, response) => {
    if (isNext(request, response)) void serve(plan, begin(request, response, true), forwarder);
  });
  server.on('checkExpectation', (request, response) => {
    if (isNext(request, response)) refuse(begin(request, response), new Refusal('expectation_failed'));
  });
  server.on('upgrade', (request, stream, early) => {
    const socket = stream as Socket;
    const response = responseOn(request, socket);
    const handshake = { socket, takeEarly: holdEarly(socket, early) };
    const exchange = new Exchange({ request, response, handshake, cors: plan.cors, life });
    tunnels.add(socket);
    socket.on('close', () => {
      tunnels.delete(socket);
      end(exchange);
    });
    void serve(plan, exchange, forwarder);
  });
  server.on('connect', (_request, socket) => refuseBytes(socket, NO_CONNECT));
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    refuseBytes(socket, CLIENT_ERRORS[error.code ?? ''] ?? new Refusal('message_malformed'));
  });

  return {
    get plan() {
      return plan;
    },
    get upstreams() {
      return forwarder.upstreams;
    },
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(plan.listen.port, plan.listen.host, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    take: (connection) => void server.emit('connection', connection),
    swap(next) {
      plan = next;
      forwarder.adopt(next);
    },
    async close(graceMs) {
      life.isClosing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      for (const socket of tunnels) socket.end();
      const timer = setTimeout(() => {
        server.closeAllConnections();
        for (const socket of tunnels) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
      await forwarder.close();
    },
  };
}

/** What is no proxy has no method CONNECT, on no path. */
const NO_CONNECT = new Refusal('method_not_allowed', { headers: { Allow: METHODS.join(', ') } });

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal('request_timeout'),
};
