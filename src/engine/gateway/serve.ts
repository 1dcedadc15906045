import { HTTP_METHODS } from '../http1/http-methods.ts';
import type { RawHeaders } from '../http1/raw-headers.ts';
import { decide, requireAuth } from './decide.ts';
import type { Exchange, RoutedExchange } from './exchange.ts';
import { ServedRequest } from './request/served-request.ts';
import { BufferedResponse } from './response/buffered-response.ts';
import { preflightHeaders } from './response/cors.ts';
import { Refusal } from './response/refusal.ts';
import { refuse } from './response/refuse.ts';
import { StreamedResponse } from './response/streamed-response.ts';
import { TunnelResponse } from './response/tunnel-response.ts';
import { verifyLogin } from './response/verify-login.ts';
import type { ServerState } from './server-state.ts';
import { forwardAsProxyPass } from './upstream/http-proxy.ts';
import { ClientDisconnected } from './upstream/upstream-error.ts';
import { type ClientResponse, UpstreamExchange } from './upstream/upstream-exchange.ts';

/**
 * Serves one request, from its head to its log line, by the plan that was active when it began. Each step throws its refusal, and
 * this function sends it. The promise never rejects.
 */
export async function serve(exchange: Exchange, server: ServerState): Promise<void> {
  const { plan, response } = exchange;
  begin(exchange, server);
  try {
    const deciding = decide(plan, new ServedRequest(exchange, server));
    let step = deciding.next();
    while (step.done !== true) step = deciding.next(await step.value);
    const decision = step.value;
    if (decision === 'server-options') respondWithoutContent(exchange, ['Allow', HTTP_METHODS.join(', ')]);
    else if (decision === 'preflight') respondWithoutContent(exchange, preflightHeaders(exchange));
    else if (exchange.head?.maxForwards === 0) respondWithoutContent(exchange, allowedMethods(exchange));
    // The client may have left while its token was verified or its body read.
    else if (!response.destroyed) await forward(exchange as RoutedExchange, server);
  } catch (error) {
    fail(exchange, error);
  } finally {
    // A store may have counted the request after the client had left, and so after the end of the exchange.
    if (response.destroyed) exchange.settleRateLimits();
  }
}

function begin(exchange: Exchange, server: ServerState): void {
  server.recorder.metrics.begin();
  // A handshake ends with its socket, because a tunnel has no response.
  (exchange.handshake?.socket ?? exchange.response).once('close', () => end(exchange, server));
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
async function forward(exchange: RoutedExchange, server: ServerState): Promise<void> {
  const { route, handshake } = exchange;
  const { login, upstream } = route;
  const exchangeWith = (response: ClientResponse) =>
    forwardAsProxyPass(exchange, () =>
      new UpstreamExchange(exchange, server.upstreams.get(upstream), response).forward(),
    );
  exchange.forwardedAfterMs = exchange.elapsedMs();
  if (handshake !== undefined) return exchangeWith(new TunnelResponse(exchange, handshake));
  if (login === undefined) return exchangeWith(new StreamedResponse(exchange));
  const response = new BufferedResponse(exchange, login.limitBytes);
  await exchangeWith(response);
  await verifyLogin({ auth: requireAuth(route), login, exchange }, response.complete);
  response.send();
}

function fail(exchange: Exchange, error: unknown): void {
  const { response } = exchange;
  if (error instanceof ClientDisconnected) {
    // If the gateway ended the response early itself, the response is finished and the connection stays open.
    if (!response.writableFinished) response.destroy();
    return;
  }
  refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
}

/** Releases everything that the exchange holds, and records it: log line, metrics, trace and request event. */
function end(exchange: Exchange, { plan, recorder, isClosing }: ServerState): void {
  const { connection } = exchange;
  exchange.end();
  recorder.record(exchange, plan.log);
  exchange.observe();
  connection.completeRequest();
  // The response may have promised keep-alive before the server began to close.
  if (isClosing && connection.isIdle) connection.closeGracefully();
}
