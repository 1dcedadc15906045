import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NameResolver } from '../dns/resolver.ts';
import { systemResolver } from '../dns/system-resolver.ts';
import type { Log } from '../log.ts';
import type { Plan } from '../plan/plan.ts';
import { BufferBudget } from './buffer-budget.ts';
import type { Connection } from './connection.ts';
import { CountedWarning } from './counted-warning.ts';
import type { Decision } from './decision.ts';
import { Exchange } from './exchange.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { holdEarly, isHandshake, responseOn } from './handshake.ts';
import { Lasting } from './lasting.ts';
import type { Meters } from './meters.ts';
import { METHODS } from './methods.ts';
import { logIdentityNames } from './name-log.ts';
import { Records } from './records.ts';
import { Refusal } from './refusal.ts';
import { refuse, refuseSocket } from './refuse.ts';
import { serve } from './serve.ts';
import { adopt, type Clients, createServer, trackClients } from './server.ts';
import { cutStalled } from './stalled.ts';
import { plainTraces, type Traces } from './trace.ts';
import type { UpstreamStatus } from './upstream/live-upstream.ts';

export interface ClientCounts {
  readonly connections: number;
  readonly tunnels: number;
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
  readonly meters: Meters;
  /** Clients' connections, and those of them that became tunnels or are about to. */
  readonly clients: ClientCounts;
  /** The memory that buffered bodies take. */
  readonly buffers: BufferBudget;
  /** How many look on. */
  readonly watchers: number;
  /** Tells of each request as it ends, until what is returned is called. */
  watch(hear: (decision: Decision) => void): () => void;
  /** Begins to serve; answers the address that was bound. Rejects with what `net` says, `EADDRINUSE` say. */
  listen(): Promise<AddressInfo>;
  /** Serves what comes on a connection that somebody else has made. */
  take(connection: Duplex): void;
  /** From the next request on, this plan is in force; requests in flight end by the one they began with. */
  swap(plan: Plan): void;
  /** From now on answers are the last ones of their connections; all is served as before. */
  drain(): void;
  /** Takes no new connections, ends what lasts, lets requests in flight end for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/**
 * The server of a plan.
 *
 * @param traces how requests are traced; left out: traces are passed on, and nobody records them
 * @param resolver resolves the host names of upstreams; by default that of the process
 */
export function createGateway(
  first: Plan,
  log: Log,
  traces: Traces = plainTraces,
  resolver: NameResolver = systemResolver,
): Gateway {
  const gateway = new LiveGateway(first, log, traces, resolver);
  gateway.start();
  return gateway;
}

class LiveGateway implements Gateway {
  plan: Plan;
  readonly buffers: BufferBudget;
  readonly #log: Log;
  readonly #records: Records;
  /**
   * A set of what is in flight would say it too, but cost the collector as much as all the rest: this is read
   * when an answer's head is written.
   */
  readonly #life;
  readonly #forwarder: Forwarder;
  readonly #server: Server;
  readonly #connections: Clients['connections'];
  readonly #sockets: Clients['sockets'];
  /** Sockets of handshakes and of what became of them. */
  readonly #tunnels = new Set<Socket>();
  readonly #refused: CountedWarning;
  readonly #unaccepted: CountedWarning;
  readonly resolver: NameResolver;
  #stopCutting = () => {};
  #stopLoggingNames = () => {};

  constructor(first: Plan, log: Log, traces: Traces, resolver: NameResolver) {
    this.plan = first;
    this.#log = log;
    this.#records = new Records(log);
    this.#refused = new CountedWarning(log.logger, 'connections over the limit were closed');
    this.#unaccepted = new CountedWarning(log.logger, 'connections could not be accepted');
    this.buffers = new BufferBudget(first.server.bufferedBytes);
    const { buffers } = this;
    this.#life = { isDraining: false, isClosing: false, traces, lasting: new Lasting(), buffers };
    this.#forwarder = createForwarder(first, log, resolver);
    this.resolver = resolver;
    this.#server = createServer(first.server, (request) => this.#isHandshake(request));
    const { connections, sockets } = trackClients(this.#server, (socket, refusal) =>
      this.#refuseBytes(socket, refusal),
    );
    this.#connections = connections;
    this.#sockets = sockets;
  }

  start(): void {
    this.#stopLoggingNames = logIdentityNames(this.resolver, this.#log.logger, () => this.plan);
    this.#stopCutting = cutStalled(this.#connections, () => this.plan.server.stalledTimeoutMs);
    this.#hear();
  }

  get meters() {
    return this.#records.meters;
  }

  get clients() {
    const { total: refused } = this.#refused;
    const { total: unaccepted } = this.#unaccepted;
    return { connections: this.#sockets.size, tunnels: this.#tunnels.size, refused, unaccepted };
  }

  get upstreams() {
    return this.#forwarder.upstreams;
  }

  get watchers() {
    return this.#records.watchers;
  }

  watch(hear: (decision: Decision) => void): () => void {
    return this.#records.watch(hear);
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

  take(connection: Duplex): void {
    // What is made elsewhere is secured there, if it is.
    this.#server.emit(this.plan.server.tls === undefined ? 'connection' : 'secureConnection', connection);
  }

  swap(next: Plan): void {
    adopt(this.#server, next.server, this.plan.server);
    this.plan = next;
    this.buffers.limitBytes = next.server.bufferedBytes;
    this.#forwarder.adopt(next);
    this.meters.keep(new Set(next.routes.map(({ id }) => id)));
    const count = this.#life.lasting.judge(next);
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
    this.#life.lasting.end('going_away');
    const timer = setTimeout(() => this.#cut(graceMs), graceMs);
    await closed;
    clearTimeout(timer);
    this.#stopCutting();
    await this.#forwarder.close();
    this.#stopLoggingNames();
  }

  #cut(graceMs: number): void {
    const connections = this.#sockets.size;
    if (graceMs > 0) this.#log.logger.warn({ connections }, 'the grace is over; what is left is cut');
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

  #serve(exchange: Exchange | undefined): void {
    if (exchange !== undefined) void serve(this.plan, exchange, this.#forwarder);
  }

  /** `undefined` for what came and is no request. */
  #begin(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Exchange | undefined {
    const { cors, server } = this.plan;
    const { trusts, maxRequestsPerConnection } = server;
    const connection = this.#connectionOf(request.socket);
    if (!connection.begin(response, maxRequestsPerConnection)) return undefined;
    const life = this.#life;
    const exchange = new Exchange({ request, response, expectsContinue, cors, connection, trusts, life });
    this.meters.inFlight += 1;
    response.on('close', () => this.#end(exchange));
    return exchange;
  }

  /** A client that has closed its side can use no tunnel. */
  #isHandshake(request: IncomingMessage): boolean {
    return isHandshake(this.plan, request) && !this.#connectionOf(request.socket).isHalfClosed;
  }

  #upgrade(request: IncomingMessage, socket: Socket): void {
    const connection = this.#connectionOf(request.socket);
    const response = responseOn(request, socket);
    const handshake = { socket, takeEarly: holdEarly(socket, connection.release()) };
    const { cors, server } = this.plan;
    const life = this.#life;
    const exchange = new Exchange({ request, response, handshake, cors, connection, trusts: server.trusts, life });
    this.meters.inFlight += 1;
    this.#tunnels.add(socket);
    socket.on('close', () => {
      this.#tunnels.delete(socket);
      this.#end(exchange);
    });
    this.#serve(exchange);
  }

  #connectionOf(socket: Socket): Connection {
    return this.#connections.get(socket) as Connection;
  }

  #end(exchange: Exchange): void {
    if (!exchange.response.writableFinished) exchange.onClientGone?.();
    exchange.release();
    this.#life.lasting.delete(exchange);
    this.#records.ended(exchange, this.plan.sample2xx);
    const { connection } = exchange;
    connection.proceed();
    // Its response may have said keep-alive before the closing began.
    if (this.#life.isClosing && connection.isIdle) connection.finish();
  }

  #refuseBytes(socket: Socket, refusal: Refusal): void {
    this.#connections.get(socket)?.ignoreRest();
    const id = refuseSocket(socket, refusal);
    if (id !== undefined) this.#records.refused(id, refusal, socket.remoteAddress);
  }

  /** Node could make no request of what came. */
  #fail(code: string, socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) endHandshake(code, socket, this.#log);
    else if (code === TIMEOUT && connection.isUnused) socket.destroy();
    else if (code === TIMEOUT && connection.isAnswering) connection.reset();
    else this.#refuseBytes(socket, CLIENT_ERRORS[code] ?? new Refusal('message_malformed'));
  }
}

/** What is no proxy has no method CONNECT, on no path. */
const NO_CONNECT = new Refusal('method_not_allowed', { headers: { Allow: METHODS.join(', ') } });

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal('headers_too_large'),
  [TIMEOUT]: new Refusal('request_timeout'),
};

/** A TLS handshake that failed. Who only looks whether the port is open is not told of. */
function endHandshake(code: string, socket: Socket, log: Log): void {
  if (code !== 'ECONNRESET') log.logger.info({ reason: code, peer: socket.remoteAddress }, 'TLS handshake failed');
  socket.destroy();
}
