import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NameResolver } from '../dns/name-resolver.ts';
import { systemResolver } from '../dns/system-resolver.ts';
import { HTTP_METHODS } from '../http-methods.ts';
import { ConnectionBudget } from '../http1/connection-budget.ts';
import type { Log } from '../log/log.ts';
import type { Plan } from '../plan/plan.ts';
import { Exchange } from './exchange.ts';
import { Refusal } from './response/refusal.ts';
import { refuse, refuseSocket } from './response/refuse.ts';
import { serve } from './serve.ts';
import { BufferBudget } from './server/buffer-budget.ts';
import type { ClientConnection } from './server/client-connection.ts';
import { descriptorLimits } from './server/descriptor-limits.ts';
import {
  activateServerSettings,
  type ClientRegistry,
  createHttpServer,
  trackClientConnections,
} from './server/http-server.ts';
import { LongLivedExchanges } from './server/long-lived-exchanges.ts';
import { closeStalledClients } from './server/stalled-clients.ts';
import { createHandshakeResponse, holdEarlyData, isWebSocketHandshake } from './server/websocket-handshake.ts';
import { logIdentityDnsErrors } from './telemetry/identity-dns-log.ts';
import type { RequestMetrics } from './telemetry/request-metrics.ts';
import { RequestRecorder, type RequestSubscriber } from './telemetry/request-recorder.ts';
import { ThrottledWarning } from './telemetry/throttled-warning.ts';
import { passThroughTracer, type RequestTracer } from './telemetry/trace.ts';
import { createForwarder, type Forwarder } from './upstream/forwarder.ts';
import type { UpstreamStatus } from './upstream/live-upstream.ts';

export interface ClientCounts {
  readonly connections: number;
  readonly tunnels: number;
  /** Connections at one time: the limit of the active plan, or fewer where file descriptors are short. */
  readonly limit: number;
  /** Connections that were closed as they came because there were too many. */
  readonly refused: number;
  /** Connections that could not be accepted, when no file descriptor was free for example. */
  readonly unaccepted: number;
}

export interface Gateway {
  /** The plan in force. */
  readonly plan: Plan;
  /** How the upstreams of the plan in force do. */
  readonly upstreams: readonly UpstreamStatus[];
  /** Resolves the host names of upstreams. */
  readonly resolver: NameResolver;
  /** What was counted of all requests. */
  readonly metrics: RequestMetrics;
  /** Clients' connections, and those of them that became tunnels or are about to. */
  readonly clients: ClientCounts;
  /** The memory that buffered bodies take. */
  readonly bufferBudget: BufferBudget;
  /** The number of subscribers. */
  readonly subscribers: number;
  /** Calls the subscriber with the record of each request as it ends. @returns a function that ends the subscription */
  subscribe(subscriber: RequestSubscriber): () => void;
  /** Begins to serve; answers the address that was bound. Rejects with what `net` says, `EADDRINUSE` say. */
  listen(): Promise<AddressInfo>;
  /** Serves what comes on a connection that somebody else has made. */
  acceptConnection(connection: Duplex): void;
  /** From the next request on, this plan is in force; requests in flight end by the one they began with. */
  activate(plan: Plan): void;
  /** From now on answers are the last ones of their connections; all is served as before. */
  drain(): void;
  /** Takes no new connections, ends what lasts, lets requests in flight end for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/**
 * The server of a plan.
 *
 * @param tracer how requests are traced; left out: traces are passed on, and nobody records them
 * @param resolver resolves the host names of upstreams; by default that of the process
 * @param descriptorLimit file descriptors of the process
 */
export function createGateway(
  first: Plan,
  log: Log,
  tracer: RequestTracer = passThroughTracer,
  resolver: NameResolver = systemResolver,
  descriptorLimit = Number.POSITIVE_INFINITY,
): Gateway {
  const gateway = new LiveGateway(first, log, tracer, resolver, descriptorLimit);
  gateway.start();
  return gateway;
}

class LiveGateway implements Gateway {
  plan: Plan;
  readonly bufferBudget: BufferBudget;
  readonly #log: Log;
  readonly #records: RequestRecorder;
  /**
   * A set of what is in flight would say it too, but cost the collector as much as all the rest: this is read
   * when an answer's head is written.
   */
  readonly #life;
  readonly #forwarder: Forwarder;
  readonly #server: Server;
  readonly #connections: ClientRegistry['connections'];
  readonly #sockets: ClientRegistry['sockets'];
  /** Sockets of handshakes and of what became of them. */
  readonly #tunnels = new Set<Socket>();
  readonly #refused: ThrottledWarning;
  readonly #unaccepted: ThrottledWarning;
  readonly #descriptorLimit: number;
  /** Connections to upstreams at one time, tunnels included, as long as some are idle. */
  #upstreamConnections = Number.POSITIVE_INFINITY;
  readonly resolver: NameResolver;
  #stopCutting = () => {};
  #stopLoggingNames = () => {};

  constructor(first: Plan, log: Log, tracer: RequestTracer, resolver: NameResolver, descriptorLimit: number) {
    this.plan = first;
    this.#descriptorLimit = descriptorLimit;
    this.#log = log;
    this.#records = new RequestRecorder(log);
    this.#refused = new ThrottledWarning(log.logger, 'connections over the limit were closed');
    this.#unaccepted = new ThrottledWarning(log.logger, 'connections could not be accepted');
    this.bufferBudget = new BufferBudget(first.server.bufferLimitBytes);
    const { bufferBudget } = this;
    this.#life = { isDraining: false, isClosing: false, tracer, longLived: new LongLivedExchanges(), bufferBudget };
    const budget = new ConnectionBudget(() => this.#upstreamConnections - this.#tunnels.size);
    this.#forwarder = createForwarder(first, log, resolver, budget);
    this.resolver = resolver;
    this.#server = createHttpServer(first.server, (request) => this.#isHandshake(request));
    const { connections, sockets } = trackClientConnections(this.#server, (socket, refusal) =>
      this.#refuseBytes(socket, refusal),
    );
    this.#connections = connections;
    this.#sockets = sockets;
  }

  start(): void {
    this.#stopLoggingNames = logIdentityDnsErrors(this.resolver, this.#log.logger, () => this.plan);
    this.#stopCutting = closeStalledClients(this.#connections, () => this.plan.server.stalledTimeoutMs);
    this.#hear();
    this.#limitConnections();
  }

  get metrics() {
    return this.#records.metrics;
  }

  get clients() {
    const { total: refused } = this.#refused;
    const { total: unaccepted } = this.#unaccepted;
    const { maxConnections: limit } = this.#server;
    return { connections: this.#sockets.size, tunnels: this.#tunnels.size, limit, refused, unaccepted };
  }

  get upstreams() {
    return this.#forwarder.upstreams;
  }

  get subscribers() {
    return this.#records.subscribers;
  }

  subscribe(subscriber: RequestSubscriber): () => void {
    return this.#records.subscribe(subscriber);
  }

  listen(): Promise<AddressInfo> {
    const server = this.#server;
    const { port, host } = this.plan.listen;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        // Without a listener an error of `accept` would end the process.
        server.on('error', ({ code }: NodeJS.ErrnoException) => this.#unaccepted.add({ reason: code }));
        resolve(server.address() as AddressInfo);
      });
    });
  }

  acceptConnection(connection: Duplex): void {
    // What is made elsewhere is secured there, if it is.
    this.#server.emit(this.plan.server.tls === undefined ? 'connection' : 'secureConnection', connection);
  }

  activate(next: Plan): void {
    activateServerSettings(this.#server, next.server, this.plan.server);
    this.plan = next;
    this.#limitConnections();
    this.bufferBudget.limitBytes = next.server.bufferLimitBytes;
    this.#forwarder.activate(next);
    this.metrics.retainRoutes(new Set(next.routes.map(({ id }) => id)));
    const count = this.#life.longLived.revalidate(next);
    const { graceMs } = next.reload;
    if (count > 0) this.#log.logger.info({ count, grace_ms: graceMs }, 'WebSockets and event streams are to end');
  }

  drain(): void {
    this.#life.isDraining = true;
  }

  async close(graceMs: number): Promise<void> {
    this.#life.isDraining = true;
    this.#life.isClosing = true;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    this.#life.longLived.endAll('going_away');
    const timer = setTimeout(() => this.#cut(graceMs), graceMs);
    await closed;
    clearTimeout(timer);
    this.#stopCutting();
    await this.#forwarder.close();
    this.#stopLoggingNames();
  }

  #cut(graceMs: number): void {
    const connections = this.#sockets.size;
    if (graceMs > 0) this.#log.logger.warn({ connections }, 'grace period expired; closing the remaining connections');
    for (const socket of this.#sockets) socket.destroy();
  }

  #hear(): void {
    const server = this.#server;
    server.on('drop', () => this.#refused.add());
    server.on('request', (request, response) => this.#serve(this.#begin(request, response, false)));
    server.on('checkContinue', (request, response) => this.#serve(this.#begin(request, response, true)));
    server.on('checkExpectation', (request, response) => {
      const exchange = this.#begin(request, response, false);
      if (exchange !== undefined) refuse(exchange, new Refusal('expectation_failed'));
    });
    server.on('upgrade', (request, socket) => this.#upgrade(request, socket as Socket));
    server.on('connect', (_request, socket) => this.#refuseBytes(socket as Socket, NO_CONNECT));
    server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => this.#fail(code, socket as Socket));
  }

  #limitConnections(): void {
    const { clients, upstreams } = descriptorLimits(this.plan, this.#descriptorLimit);
    this.#server.maxConnections = clients;
    this.#upstreamConnections = upstreams;
  }

  #serve(exchange: Exchange | undefined): void {
    if (exchange !== undefined) void serve(this.plan, exchange, this.#forwarder);
  }

  /** `undefined` for what came and is no request. */
  #begin(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Exchange | undefined {
    const { cors, server } = this.plan;
    const { trustedProxies, maxRequestsPerConnection } = server;
    const connection = this.#connectionOf(request.socket);
    if (!connection.beginRequest(response, maxRequestsPerConnection)) return undefined;
    const serverState = this.#life;
    const exchange = new Exchange({
      request,
      response,
      expectsContinue,
      cors,
      connection,
      trustedProxies,
      serverState,
    });
    this.metrics.inFlight += 1;
    response.on('close', () => this.#end(exchange));
    return exchange;
  }

  /** A client that has closed its side can use no tunnel. */
  #isHandshake(request: IncomingMessage): boolean {
    return isWebSocketHandshake(this.plan, request) && !this.#connectionOf(request.socket).isHalfClosed;
  }

  #upgrade(request: IncomingMessage, socket: Socket): void {
    const connection = this.#connectionOf(request.socket);
    const response = createHandshakeResponse(request, socket);
    const handshake = { socket, takeEarlyData: holdEarlyData(socket, connection.detach()) };
    const { cors, server } = this.plan;
    const serverState = this.#life;
    const exchange = new Exchange({
      request,
      response,
      handshake,
      cors,
      connection,
      trustedProxies: server.trustedProxies,
      serverState,
    });
    this.metrics.inFlight += 1;
    this.#tunnels.add(socket);
    socket.on('close', () => {
      this.#tunnels.delete(socket);
      this.#end(exchange);
    });
    this.#serve(exchange);
  }

  #connectionOf(socket: Socket): ClientConnection {
    return this.#connections.get(socket) as ClientConnection;
  }

  #end(exchange: Exchange): void {
    if (!exchange.response.writableFinished) exchange.onClientDisconnected?.();
    exchange.release();
    this.#life.longLived.delete(exchange);
    this.#records.record(exchange, this.plan.sample2xx);
    const { connection } = exchange;
    connection.completeRequest();
    // Its response may have said keep-alive before the closing began.
    if (this.#life.isClosing && connection.isIdle) connection.closeGracefully();
  }

  #refuseBytes(socket: Socket, refusal: Refusal): void {
    this.#connections.get(socket)?.discardInput();
    const id = refuseSocket(socket, refusal);
    if (id !== undefined) this.#records.recordUnparsed(id, refusal, socket.remoteAddress);
  }

  /** Node could make no request of what came. */
  #fail(code: string, socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) closeFailedTlsHandshake(code, socket, this.#log);
    else if (code === TIMEOUT && connection.isUnused) socket.destroy();
    else if (code === TIMEOUT && connection.isResponding) connection.reset();
    else this.#refuseBytes(socket, CLIENT_ERRORS[code] ?? new Refusal('message_malformed'));
  }
}

/** What is no proxy has no method CONNECT, on no path. */
const NO_CONNECT = new Refusal('method_not_allowed', { headers: { Allow: HTTP_METHODS.join(', ') } });

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal('headers_too_large'),
  [TIMEOUT]: new Refusal('request_timeout'),
};

/** A TLS handshake that failed. Who only looks whether the port is open is not told of. */
function closeFailedTlsHandshake(code: string, socket: Socket, log: Log): void {
  if (code !== 'ECONNRESET') log.logger.info({ reason: code, peer: socket.remoteAddress }, 'TLS handshake failed');
  socket.destroy();
}
