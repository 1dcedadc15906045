import { randomUUID } from 'node:crypto';
import type { ClientRequest } from '../http1/client-request.ts';
import { HTTP_METHODS } from '../http1/http-methods.ts';
import type { RequestErrorKind } from '../http1/message-head.ts';
import type { ClientConnectionLimits, ClientSocket, RequestHandler } from '../http1/request-reader.ts';
import type { ResponseWriter } from '../http1/response-writer.ts';
import type { Log } from '../log/log.ts';
import type { WorkerCounter } from '../shared-memory/worker-counter.ts';
import { Exchange } from './exchange.ts';
import type { GatewayCounters } from './gateway-counters.ts';
import { Refusal } from './response/refusal.ts';
import { REFUSAL_BY_KIND, rawRefusal, refuseRest } from './response/refuse.ts';
import { type ServerState, serve } from './serve.ts';
import { ClientRegistry, type ClientServer } from './server/client-server.ts';
import { type GatewayConnection, peerAddress } from './server/gateway-connection.ts';

/** Turns the requests of clients into exchanges and serves them. Refuses bytes that are not a request. */
export class RequestAcceptor implements RequestHandler<GatewayConnection> {
  readonly clients: ClientRegistry;
  readonly #state: ServerState;
  readonly #log: Log;
  readonly #tunnels: WorkerCounter;

  constructor(state: ServerState, log: Log, { connections, tunnels }: GatewayCounters) {
    this.#state = state;
    this.#log = log;
    this.#tunnels = tunnels;
    this.clients = new ClientRegistry(this, connections);
  }

  /** Begins to serve the connections of a server. */
  start(server: ClientServer): void {
    this.clients.attach(server, ({ code = '' }, socket) => this.#closeFailedTlsHandshake(code, socket));
  }

  get limits(): ClientConnectionLimits {
    return this.#state.plan.server;
  }

  onRequest(connection: GatewayConnection, request: ClientRequest, response: ResponseWriter): void {
    const server = this.#state;
    if (request.method === 'CONNECT') {
      this.#refuseBytes(connection, NO_CONNECT);
      return;
    }
    const exchange = new Exchange(server, connection, request, response);
    if (exchange.isHandshake) this.#openHandshake(connection, response);
    serve(exchange, server);
  }

  onRequestError(connection: GatewayConnection, kind: RequestErrorKind): void {
    const { hasBegun, owner } = connection.response ?? {};
    if (kind === 'late' && connection.isUnused) connection.socket.destroy();
    else if (kind === 'late' && connection.isResponding) connection.reset();
    else if (hasBegun === false && owner instanceof Exchange) refuseRest(owner, kind);
    else this.#refuseBytes(connection, REFUSAL_BY_KIND[kind]);
  }

  #openHandshake(connection: GatewayConnection, response: ResponseWriter): void {
    response.isPersistent = false;
    connection.holdEarlyData();
    this.#tunnels.add(1);
    connection.socket.once('close', () => this.#tunnels.add(-1));
  }

  /** Refuses bytes that are not a request. After the begin of a response, only closes the connection. */
  #refuseBytes(connection: GatewayConnection, refusal: Refusal): void {
    if (!connection.socket.writable) {
      connection.socket.destroy();
      return;
    }
    // A response in flight must not look complete, and a complete one is the last.
    if (connection.response?.hasBegun === true) {
      connection.reset();
      return;
    }
    if (connection.isDiscarding) {
      connection.closeGracefully();
      return;
    }
    const id = randomUUID();
    const { responseHeaders } = this.#state.plan.server;
    connection.refuseInput(rawRefusal(refusal, id, connection.isHeadRequest, responseHeaders));
    this.#state.recorder.recordUnparsed(id, refusal, connection.peer);
  }

  /** Does not log port scans, which reset the connection. */
  #closeFailedTlsHandshake(code: string, socket: ClientSocket): void {
    if (code !== 'ECONNRESET')
      this.#log.logger.info({ reason: code, peer: peerAddress(socket) }, 'TLS handshake failed');
    socket.destroy();
  }
}

/** CONNECT is for forward proxies, so no route allows it. */
const NO_CONNECT = new Refusal('method_not_allowed', { headers: { Allow: HTTP_METHODS.join(', ') } });
