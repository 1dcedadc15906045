import { randomUUID } from 'node:crypto';
import type { ClientRequest } from '../http1/client-request.ts';
import { HTTP_METHODS } from '../http1/http-methods.ts';
import type { RequestErrorKind } from '../http1/message-head.ts';
import type { RawHeaders } from '../http1/raw-headers.ts';
import type { ClientConnectionLimits, ClientSocket } from '../http1/request-reader.ts';
import type { ResponseWriter } from '../http1/response-writer.ts';
import type { Log } from '../log/log.ts';
import type { WorkerCounter } from '../shared-memory/buffer-parts.ts';
import { type Decision, type DecisionWork, decide, refuseWithoutAuth } from './decide.ts';
import { Exchange, type ExchangeServer, type ForwardedExchange, type RoutedExchange } from './exchange.ts';
import type { GatewayCounters } from './gateway-counters.ts';
import { LoginExchange } from './response/login-exchange.ts';
import { respond } from './response/own-response.ts';
import { preflightHeaders } from './response/plan-headers.ts';
import { Refusal } from './response/refusal.ts';
import { fail, REFUSAL_BY_KIND, rawRefusal, refuseRest } from './response/refuse.ts';
import { StreamedExchange } from './response/streamed-exchange.ts';
import { TunnelExchange } from './response/tunnel-exchange.ts';
import { type ClientHandler, ClientRegistry, type ClientServer } from './server/client-server.ts';
import { type GatewayConnection, peerAddress } from './server/gateway-connection.ts';
import type { RequestRecorder } from './telemetry/request-recorder.ts';
import { forwardAsProxyPass } from './upstream/http-proxy.ts';
import type { LiveUpstreams } from './upstream/live-upstreams.ts';

/** The parts of a server that serve its requests. */
export interface ServerState extends ExchangeServer {
  readonly recorder: RequestRecorder;
  readonly upstreams: LiveUpstreams;
}

/** Turns the requests of clients into exchanges and serves them. Refuses bytes that are not a request. */
export class RequestAcceptor implements ClientHandler {
  readonly clients: ClientRegistry;
  /** Those of the active plan. */
  limits: ClientConnectionLimits;
  readonly #state: ServerState;
  readonly #log: Log;
  readonly #tunnels: WorkerCounter;

  constructor(state: ServerState, log: Log, { connections, tunnels }: GatewayCounters) {
    this.limits = state.plan.server;
    this.#state = state;
    this.#log = log;
    this.#tunnels = tunnels;
    this.clients = new ClientRegistry(this, connections);
  }

  /** Begins to serve the connections of a server. */
  start(server: ClientServer): void {
    this.clients.attach(server, ({ code = '' }, socket) => this.#closeFailedTlsHandshake(code, socket));
  }

  /**
   * Serves one request, from its head to its log line, by the plan that is active when it begins. Each step throws its refusal, and
   * `fail` sends it. Where nothing has to be waited for, the request is forwarded before this function returns.
   */
  onRequest(connection: GatewayConnection, request: ClientRequest, response: ResponseWriter): void {
    if (request.method === 'CONNECT') {
      this.#refuseBytes(connection, NO_CONNECT);
      return;
    }
    const server = this.#state;
    const exchange = new Exchange(server, connection, request, response);
    if (exchange.isHandshake) this.#openHandshake(connection, response);
    server.recorder.metrics.begin();
    response.owner = exchange;
    try {
      const deciding = decide(exchange.plan, exchange);
      const step = deciding.next();
      if (step.done === true) follow(step.value, exchange, server);
      else void serveLater(deciding, step.value, exchange, server);
    } catch (error) {
      fail(exchange, error);
    }
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

/** Continues a decision that waits. Never rejects. */
async function serveLater(
  deciding: DecisionWork,
  waiting: Promise<unknown>,
  exchange: Exchange,
  server: ServerState,
): Promise<void> {
  try {
    let step = deciding.next(await waiting);
    while (step.done !== true) step = deciding.next(await step.value);
    follow(step.value, exchange, server);
  } catch (error) {
    fail(exchange, error);
  } finally {
    // A store may have counted the request after the client had left, and so after the end of the exchange.
    if (exchange.response.isOver) exchange.settleRateLimits();
  }
}

function follow(decision: Decision, exchange: Exchange, server: ServerState): void {
  // While its token was verified or its body read, the client may have left, or sent bytes that were refused.
  if (exchange.response.isOver || exchange.refusal !== undefined) return;
  if (decision === 'server-options') respondWithoutContent(exchange, ['Allow', HTTP_METHODS.join(', ')]);
  else if (decision === 'preflight') respondWithoutContent(exchange, preflightHeaders(exchange));
  else if (exchange.head?.maxForwards === 0) respondWithoutContent(exchange, allowedMethods(exchange));
  else if (decision.ownResponse !== undefined) respond(exchange as RoutedExchange, decision.ownResponse);
  else forward(exchange as ForwardedExchange, server);
}

function respondWithoutContent(exchange: Exchange, headers: RawHeaders): void {
  exchange.writeHead(204, 'No Content', headers);
  exchange.response.end();
}

/** Returns the response to an OPTIONS request that may go no further: the methods of its path. */
function allowedMethods({ plan, target }: Exchange): RawHeaders {
  return ['Allow', plan.router.allowedMethods(target?.path ?? '').join(', ')];
}

/** Forwards the request and sends the response to the client. A login response is verified before the client receives it. */
function forward(exchange: ForwardedExchange, server: ServerState): void {
  const { route, isHandshake } = exchange;
  const { upstreams } = server;
  const upstream = upstreams.byKey.get(route.upstream.key) ?? upstreams.reopen(route.upstream);
  forwardAsProxyPass(
    route.login === undefined
      ? new (isHandshake ? TunnelExchange : StreamedExchange)(exchange, upstream)
      : new LoginExchange(exchange, upstream, route.auth ?? refuseWithoutAuth(), route.login),
  );
}
