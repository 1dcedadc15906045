import { HTTP_METHODS } from '../http1/http-methods.ts';
import type { RawHeaders } from '../http1/raw-headers.ts';
import { type Decision, type DecisionWork, decide, refuseWithoutAuth } from './decide.ts';
import type { Exchange, ExchangeServer, ForwardedExchange, RoutedExchange } from './exchange.ts';
import { preflightHeaders } from './response/cors.ts';
import { respond } from './response/own-response.ts';
import { fail } from './response/refuse.ts';
import { StreamedResponse } from './response/streamed-response.ts';
import { TunnelResponse } from './response/tunnel-response.ts';
import { VerifiedResponse } from './response/verified-response.ts';
import type { RequestRecorder } from './telemetry/request-recorder.ts';
import { forwardAsProxyPass } from './upstream/http-proxy.ts';
import type { LiveUpstreams } from './upstream/live-upstreams.ts';

/** The parts of a server that serve its requests. */
export interface ServerState extends ExchangeServer {
  readonly recorder: RequestRecorder;
  readonly upstreams: LiveUpstreams;
}

/**
 * Serves one request, from its head to its log line, by the plan that was active when it began. Each step throws its refusal, and
 * `fail` sends it. Where nothing has to be waited for, the request is forwarded before this function returns.
 */
export function serve(exchange: Exchange, server: ServerState): void {
  server.recorder.metrics.begin();
  exchange.response.owner = exchange;
  try {
    const deciding = decide(exchange.plan, exchange);
    const step = deciding.next();
    if (step.done === true) follow(step.value, exchange, server);
    else void serveLater(deciding, step.value, exchange, server);
  } catch (error) {
    fail(exchange, error);
  }
}

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
  // The client may have left while its token was verified or its body read.
  if (exchange.response.isOver) return;
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
  exchange.forwardedAfterMs = exchange.elapsedMs();
  const upstream = server.upstreams.get(route.upstream);
  forwardAsProxyPass(
    route.login === undefined
      ? new (isHandshake ? TunnelResponse : StreamedResponse)(exchange, upstream)
      : new VerifiedResponse(exchange, upstream, route.auth ?? refuseWithoutAuth(), route.login),
  );
}
