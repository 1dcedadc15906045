import { HTTP_METHODS } from '../http-methods.ts';
import type { Plan } from '../plan/plan.ts';
import type { RateLimitStage } from '../plan/rate-limits/rate-limit.ts';
import type { Route } from '../plan/route-definition.ts';
import type { Auth } from '../plan/tokens/auth.ts';
import type { Exchange, RoutedExchange, ServerState } from './exchange.ts';
import { authenticate } from './request/authenticate.ts';
import { authorize } from './request/authorize.ts';
import { awaitValidation } from './request/await-validation.ts';
import { readBody } from './request/read-body.ts';
import { type RequestHead, readRequestHead } from './request/request-head.ts';
import { hasEncodedSlash, readRequestTarget } from './request/request-target.ts';
import { BufferedResponse } from './response/buffered-response.ts';
import { isPreflight, respondToPreflight } from './response/cors.ts';
import { Refusal } from './response/refusal.ts';
import { refuse } from './response/refuse.ts';
import { StreamedResponse } from './response/streamed-response.ts';
import { TunnelResponse } from './response/tunnel-response.ts';
import { verifyLogin } from './response/verify-login.ts';
import { checkWebSocketOrigin } from './server/websocket-origin.ts';
import { forwardAsProxyPass } from './upstream/http-proxy.ts';
import { ClientDisconnected } from './upstream/upstream-error.ts';
import { type ClientResponse, UpstreamExchange } from './upstream/upstream-exchange.ts';

/**
 * Serves one request, from its head to its log line, by the plan that was active when it began. Each step throws its refusal, and
 * this function sends it. The promise never rejects.
 */
export async function serve(exchange: Exchange, server: ServerState): Promise<void> {
  const { request, response, handshake, plan } = exchange;
  begin(exchange, server);
  try {
    const head = readHead(exchange);
    if (isServerOptions(exchange)) {
      respondToServerOptions(exchange);
      return;
    }
    const target = readRequestTarget(request.url ?? '', head.host, plan.router.keepsEncodedSlash);
    exchange.target = target;
    if (exchange.cors !== undefined && isPreflight(request, head)) {
      respondToPreflight(exchange.cors, exchange, plan.router.allowedMethods(target.path));
      return;
    }
    const route = findRoute(plan, request.method ?? '', target.path);
    exchange.route = route;
    if (handshake !== undefined) checkWebSocketOrigin(exchange, route);
    const countedAtMatch = applyRateLimits('match', exchange as RoutedExchange, server);
    if (countedAtMatch !== undefined) await countedAtMatch;
    if (route.access === 'protected') {
      const auth = requireAuth(route);
      const authenticated = authenticate(auth, head, exchange);
      // `await` would cost a turn of the microtask queue even for a cached principal.
      const principal = authenticated instanceof Promise ? await authenticated : authenticated;
      exchange.principal = principal;
      authorize(auth, principal);
    }
    const countedByCaller = applyRateLimits('authorize', exchange as RoutedExchange, server);
    if (countedByCaller !== undefined) await countedByCaller;
    if (route.parameters !== undefined) {
      const { path, query } = target;
      const result = route.parameters.validateWithinBudget(path, query, request.rawHeaders, exchange.client);
      const errors = result instanceof Promise ? (await awaitValidation(exchange, result)).violations : result;
      if (errors.length > 0) exchange.refuseOrReport(new Refusal('parameter_invalid', { errors }));
    }
    if (route.body !== undefined) exchange.body = await readBody(exchange, head, route.body);
    const countedByBody = applyRateLimits('validate', exchange as RoutedExchange, server);
    if (countedByBody !== undefined) await countedByBody;
    // The client may have left while its token was verified or its body read.
    if (response.destroyed) return;
    await forward(exchange as RoutedExchange, server);
  } catch (error) {
    fail(exchange, wouldShowLimit(exchange, error) ? await readBodyBefore(exchange, error) : error);
  } finally {
    // A store may have counted the request after the client had left, and so after the end of the exchange.
    if (response.destroyed) exchange.settleRateLimits();
  }
}

/**
 * True for the refusal of a rate limit before the body was read, on a route that also limits by the body. The gateway would close
 * the connection because of the unread body, so the client would see which limit it was.
 */
function wouldShowLimit({ route, body }: Exchange, error: unknown): boolean {
  const isExceeded = error instanceof Refusal && error.code === 'rate_limit_exceeded';
  return isExceeded && body === undefined && (route?.rateLimits?.validate.length ?? 0) > 0;
}

/** Reads the body. Returns the error, or that of the body, which does not depend on the limits. */
async function readBodyBefore(exchange: Exchange, error: unknown): Promise<unknown> {
  const { head, route } = exchange;
  try {
    if (head !== undefined && route?.body !== undefined) await readBody(exchange, head, route.body);
    return error;
  } catch (bodyError) {
    return bodyError;
  }
}

function begin(exchange: Exchange, server: ServerState): void {
  server.recorder.metrics.inFlight += 1;
  // A handshake ends with its socket, because a tunnel has no response.
  (exchange.handshake?.socket ?? exchange.response).once('close', () => end(exchange, server));
}

function readHead(exchange: Exchange): RequestHead {
  if (exchange.expectation === 'unknown') throw new Refusal('expectation_failed');
  const head = readRequestHead(exchange.request, exchange.plan.server.maxHeaders);
  exchange.setHead(head);
  if (exchange.handshake !== undefined && head.body !== undefined)
    throw new Refusal('message_malformed', { reason: 'handshake_with_body' });
  return head;
}

/** True for `OPTIONS *`, which applies to the server and not to a route (RFC 9110 section 9.3.7). */
function isServerOptions({ request }: Exchange): boolean {
  return request.url === '*' && request.method === 'OPTIONS';
}

function respondToServerOptions(exchange: Exchange): void {
  exchange.writeHead(204, 'No Content', ['Allow', HTTP_METHODS.join(', ')]);
  exchange.response.end();
}

function findRoute(plan: Plan, method: string, path: string): Route {
  const route = plan.router.match(method, path);
  if (route !== undefined) return route;
  if (hasEncodedSlash(path)) throw new Refusal('path_ambiguous', { reason: 'path_encoded_slash' });
  const allowed = plan.router.allowedMethods(path);
  if (allowed.length === 0) throw new Refusal('route_unknown');
  throw new Refusal('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
}

function requireAuth({ auth }: Route): Auth {
  // The compiler rejects such a route. If one exists all the same, refuse its requests.
  if (auth === undefined) throw new Refusal('internal_error', { reason: 'auth_missing' });
  return auth;
}

/** Applies the rate limits of a step. Returns a promise only if a store has to be asked. */
function applyRateLimits(
  stage: RateLimitStage,
  exchange: RoutedExchange,
  { rateLimiter }: ServerState,
): void | Promise<void> {
  const limits = exchange.route.rateLimits?.[stage];
  return limits === undefined || limits.length === 0 ? undefined : rateLimiter.apply(limits, exchange);
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
  recorder.record(exchange, plan.sample2xx);
  connection.completeRequest();
  // The response may have promised keep-alive before the server began to close.
  if (isClosing && connection.isIdle) connection.closeGracefully();
}
