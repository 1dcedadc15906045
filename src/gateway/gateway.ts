import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../log.ts';
import type { Plan } from '../plan/plan.ts';
import { accessLine, refusedLine, shareOf } from './access-log.ts';
import { Connection } from './connection.ts';
import { type Decision, decisionOf, decisionOnBytes } from './decision.ts';
import { countDropped } from './dropped.ts';
import { Exchange } from './exchange.ts';
import { createForwarder } from './forward.ts';
import { holdEarly, isHandshake, responseOn } from './handshake.ts';
import { Lasting } from './lasting.ts';
import { Meters } from './meters.ts';
import { METHODS } from './methods.ts';
import { Refusal } from './refusal.ts';
import { refuse, refuseSocket } from './refuse.ts';
import { serve } from './serve.ts';
import { adopt, createServer, trackClients } from './server.ts';
import { cutStalled } from './stalled.ts';
import { plainTraces, type Traces } from './trace.ts';
import type { UpstreamStatus } from './upstream/live-upstream.ts';

export interface Gateway {
  /** The plan in force. */
  readonly plan: Plan;
  /** How the upstreams of the plan in force do. */
  readonly upstreams: readonly UpstreamStatus[];
  /** What was counted of all requests. */
  readonly meters: Meters;
  /** Clients' connections, and those of them that became tunnels or are about to. */
  readonly clients: { readonly connections: number; readonly tunnels: number };
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
 */
export function createGateway(first: Plan, log: Log, traces: Traces = plainTraces): Gateway {
  let plan = first;
  // A set of what is in flight would say it too, but cost the collector as much as all the rest: this is read
  // when an answer's head is written.
  const life = { isDraining: false, isClosing: false, traces, lasting: new Lasting() };
  /** Sockets of handshakes and of what became of them. */
  const tunnels = new Set<Socket>();
  const forwarder = createForwarder(first, log);
  const meters = new Meters();
  const watchers = new Set<(decision: Decision) => void>();
  const tell = (decision: Decision) => {
    for (const hear of watchers) hear(decision);
  };
  const server = createServer(plan.server, (request) => isHandshake(plan, request));
  const { connections, sockets } = trackClients(server);
  server.on('drop', countDropped(log.logger));

  const end = (exchange: Exchange) => {
    if (!exchange.response.writableFinished) exchange.onClientGone?.();
    life.lasting.delete(exchange);
    const ms = exchange.elapsedMs();
    const share = shareOf(exchange, plan.sample2xx);
    if (share === 1 || Math.random() < share) log.line(accessLine(exchange, ms, share));
    meters.ended(exchange, ms);
    if (watchers.size > 0) tell(decisionOf(exchange, ms));
    exchange.trace?.end(exchange);
    // Its answer may have said keep-alive before the closing began.
    if (life.isClosing) setImmediate(() => server.closeIdleConnections());
  };
  const connectionOf = (socket: Socket) => connections.get(socket) ?? new Connection(socket);
  /** `undefined` for what came and is no request. */
  const begin = (request: IncomingMessage, response: ServerResponse, expectsContinue = false) => {
    const { trusts, maxRequestsPerConnection } = plan.server;
    const connection = connectionOf(request.socket);
    if (!connection.takes(request, response, maxRequestsPerConnection)) return undefined;
    const { cors } = plan;
    const exchange = new Exchange({ request, response, expectsContinue, cors, connection, trusts, life });
    meters.inFlight += 1;
    response.on('close', () => end(exchange));
    return exchange;
  };
  server.on('request', (request, response) => {
    const exchange = begin(request, response);
    if (exchange !== undefined) void serve(plan, exchange, forwarder);
  });
  server.on('checkContinue', (request, response) => {
    const exchange = begin(request, response, true);
    if (exchange !== undefined) void serve(plan, exchange, forwarder);
  });
  server.on('checkExpectation', (request, response) => {
    const exchange = begin(request, response);
    if (exchange !== undefined) refuse(exchange, new Refusal('expectation_failed'));
  });
  server.on('upgrade', (request, stream, early) => {
    const socket = stream as Socket;
    const response = responseOn(request, socket);
    const handshake = { socket, takeEarly: holdEarly(socket, early) };
    const connection = connectionOf(socket);
    const { cors, server: rules } = plan;
    const exchange = new Exchange({ request, response, handshake, cors, connection, trusts: rules.trusts, life });
    meters.inFlight += 1;
    tunnels.add(socket);
    socket.on('close', () => {
      tunnels.delete(socket);
      end(exchange);
    });
    void serve(plan, exchange, forwarder);
  });
  const refuseBytes = (socket: Socket, refusal: Refusal) => {
    const id = refuseSocket(socket, refusal);
    if (id === undefined) return;
    log.line(refusedLine(id, refusal, socket.remoteAddress));
    meters.refused(refusal.code);
    if (watchers.size > 0) tell(decisionOnBytes(id, refusal));
  };
  server.on('connect', (_request, socket) => refuseBytes(socket as Socket, NO_CONNECT));
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const connection = connections.get(socket);
    if (connection === undefined) endHandshake(code, socket, log);
    else if (code === TIMEOUT && connection.isUnused) socket.destroy();
    else if (code === TIMEOUT && connection.isAnswering) connection.reset();
    else refuseBytes(socket, CLIENT_ERRORS[code] ?? new Refusal('message_malformed'));
  });
  const stopCutting = cutStalled(connections, () => plan.server.stalledTimeoutMs);

  return {
    get plan() {
      return plan;
    },
    meters,
    get clients() {
      return { connections: sockets.size, tunnels: tunnels.size };
    },
    get upstreams() {
      return forwarder.upstreams;
    },
    get watchers() {
      return watchers.size;
    },
    watch(hear) {
      watchers.add(hear);
      return () => void watchers.delete(hear);
    },
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(plan.listen.port, plan.listen.host, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    // What is made elsewhere is secured there, if it is.
    take: (connection) =>
      void server.emit(plan.server.tls === undefined ? 'connection' : 'secureConnection', connection),
    swap(next) {
      adopt(server, next.server, plan.server);
      plan = next;
      forwarder.adopt(next);
      meters.keep(new Set(next.routes.map(({ id }) => id)));
      const ending = life.lasting.judge(next);
      const { graceMs } = next.reload;
      if (ending > 0) log.logger.info({ count: ending, grace_ms: graceMs }, 'WebSockets and event streams are to end');
    },
    drain() {
      life.isDraining = true;
    },
    async close(graceMs) {
      life.isDraining = true;
      life.isClosing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      life.lasting.end('going_away');
      const timer = setTimeout(() => {
        if (graceMs > 0) log.logger.warn({ connections: sockets.size }, 'the grace is over; what is left is cut');
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
      stopCutting();
      await forwarder.close();
    },
  };
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
