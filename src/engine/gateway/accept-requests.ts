import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HTTP_METHODS } from '../http1/http-methods.ts';
import type { Log } from '../log/log.ts';
import type { WorkerCounter } from '../shared-memory/worker-counter.ts';
import { Exchange, type Expectation } from './exchange.ts';
import { Refusal } from './response/refusal.ts';
import { refuseSocket } from './response/refuse.ts';
import { serve } from './serve.ts';
import { type ClientConnection, peerAddress } from './server/client-connection.ts';
import { type ClientRegistry, type HttpServer, trackClientConnections } from './server/http-server.ts';
import { createHandshakeResponse, holdEarlyData, isWebSocketHandshake } from './server/websocket-handshake.ts';
import type { ServerState } from './server-state.ts';

/** The counts of all workers. */
interface AcceptorCounters {
  readonly connections: WorkerCounter;
  /** Sockets of WebSocket handshakes and tunnels. */
  readonly tunnels: WorkerCounter;
}

/** Turns the events of Node's HTTP server into exchanges and serves them. Refuses bytes that are not a request. */
export class RequestAcceptor {
  readonly clients: ClientRegistry;
  readonly #server: HttpServer;
  readonly #state: ServerState;
  readonly #log: Log;
  readonly #tunnels: WorkerCounter;

  constructor(server: HttpServer, state: ServerState, log: Log, { connections, tunnels }: AcceptorCounters) {
    this.#server = server;
    this.#state = state;
    this.#log = log;
    this.#tunnels = tunnels;
    this.clients = trackClientConnections(server, this.#refuseBytes, connections);
  }

  start(): void {
    const server = this.#server;
    server.on('request', (request, response) => this.#accept(request, response));
    server.on('checkContinue', (request, response) => this.#accept(request, response, 'continue'));
    server.on('checkExpectation', (request, response) => this.#accept(request, response, 'unknown'));
    server.on('upgrade', (request, socket) => this.#acceptHandshake(request, socket as Socket));
    server.on('connect', (_request, socket) => this.#refuseBytes(socket as Socket, NO_CONNECT));
    server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) =>
      this.#onClientError(code, socket as Socket),
    );
  }

  /** True if a request is a WebSocket handshake. A client that has closed its side cannot use a WebSocket. */
  isHandshake(request: IncomingMessage): boolean {
    return isWebSocketHandshake(this.#state.plan, request) && !this.#connectionOf(request.socket).isHalfClosed;
  }

  #accept(request: IncomingMessage, response: ServerResponse, expectation?: Expectation): void {
    const server = this.#state;
    const connection = this.#connectionOf(request.socket);
    if (!connection.beginRequest(response, server.plan.server.maxRequestsPerConnection)) return;
    void serve(new Exchange({ server, connection, request, response, expectation }), server);
  }

  #acceptHandshake(request: IncomingMessage, socket: Socket): void {
    const server = this.#state;
    const connection = this.#connectionOf(request.socket);
    const response = createHandshakeResponse(request, socket);
    const handshake = { socket, takeEarlyData: holdEarlyData(socket, connection.detach()) };
    this.#tunnels.add(1);
    socket.once('close', () => this.#tunnels.add(-1));
    void serve(new Exchange({ server, connection, request, response, handshake }), server);
  }

  #connectionOf(socket: Socket): ClientConnection {
    return this.clients.connections.get(socket) as ClientConnection;
  }

  readonly #refuseBytes = (socket: Socket, refusal: Refusal): void => {
    const connection = this.clients.connections.get(socket);
    const isHeadRequest = connection?.isHeadRequest === true;
    connection?.discardInput();
    const id = refuseSocket(socket, refusal, isHeadRequest);
    if (id !== undefined) this.#state.recorder.recordUnparsed(id, refusal, peerAddress(socket));
  };

  /** Node could not parse a request, or the TLS handshake failed. */
  #onClientError(code: string, socket: Socket): void {
    const connection = this.clients.connections.get(socket);
    if (connection === undefined) closeFailedTlsHandshake(code, socket, this.#log);
    else if (code === TIMEOUT && connection.isUnused) socket.destroy();
    else if (code === TIMEOUT && connection.isResponding) connection.reset();
    else this.#refuseBytes(socket, CLIENT_ERRORS[code] ?? new Refusal('message_malformed'));
  }
}

/** CONNECT is for forward proxies, so no route allows it. */
const NO_CONNECT = new Refusal('method_not_allowed', { headers: { Allow: HTTP_METHODS.join(', ') } });

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal('headers_too_large'),
  [TIMEOUT]: new Refusal('request_timeout'),
};

/** Does not log port scans, which reset the connection. */
function closeFailedTlsHandshake(code: string, socket: Socket, log: Log): void {
  if (code !== 'ECONNRESET') log.logger.info({ reason: code, peer: peerAddress(socket) }, 'TLS handshake failed');
  socket.destroy();
}
