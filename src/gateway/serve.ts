import { HTTP_METHODS } from '../http-methods.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import type { Auth } from '../plan/tokens/auth.ts';
import type { Exchange } from './exchange.ts';
import { authenticate } from './request/authenticate.ts';
import { authorize } from './request/authorize.ts';
import { awaitValidation } from './request/await-validation.ts';
import { readBody } from './request/read-body.ts';
import { readRequestHead } from './request/request-head.ts';
import { hasEncodedSlash, type RequestTarget, readRequestTarget } from './request/request-target.ts';
import { BufferedResponse } from './response/buffered-response.ts';
import { isPreflight, respondToPreflight } from './response/cors.ts';
import { Refusal } from './response/refusal.ts';
import { refuse } from './response/refuse.ts';
import { StreamedResponse } from './response/streamed-response.ts';
import { TunnelResponse } from './response/tunnel-response.ts';
import { verifyLogin } from './response/verify-login.ts';
import { checkWebSocketOrigin } from './server/websocket-origin.ts';
import type { Forwarder } from './upstream/forwarder.ts';
import { ClientDisconnected } from './upstream/upstream-error.ts';

/**
 * The whole life of a request, by the plan that was in force when it came. Never rejects: what is refused on
 * the way, by whatever step, is answered here.
 */
export async function serve(plan: Plan, exchange: Exchange, forwarder: Forwarder): Promise<void> {
  const { request, response } = exchange;
  try {
    const head = readRequestHead(request, plan.server.maxHeaders);
    exchange.setHead(head, plan.sampledTraces);
    if (exchange.handshake !== undefined && head.body !== undefined) {
      throw new Refusal('message_malformed', { reason: 'handshake_with_body' });
    }
    if (request.url === '*' && request.method === 'OPTIONS') {
      exchange.writeHead(204, 'No Content', ['Allow', HTTP_METHODS.join(', ')]);
      response.end();
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
    if (exchange.handshake !== undefined) checkWebSocketOrigin(exchange, route);
    if (route.access === 'protected') {
      const auth = requireAuth(route);
      const caller = authenticate(auth, head, exchange);
      // To wait for what is there already would cost a turn of the loop's queue.
      const principal = caller instanceof Promise ? await caller : caller;
      exchange.principal = principal;
      authorize(auth, principal);
    }
    if (route.parameters !== undefined) {
      const checked = route.parameters.validateWithinBudget(
        target.path,
        target.query,
        request.rawHeaders,
        exchange.client,
      );
      const errors = checked instanceof Promise ? (await awaitValidation(exchange, checked)).violations : checked;
      if (errors.length > 0) exchange.refuseOrReport(new Refusal('parameter_invalid', { errors }));
    }
    const body = route.body === undefined ? undefined : await readBody(exchange, head, route.body);
    // The client may have left while its token was verified or its body read.
    if (response.destroyed) return;
    const limitBytes = route.body?.limitBytes ?? Number.POSITIVE_INFINITY;
    exchange.forwardedAfterMs = exchange.elapsedMs();
    forwarder.send({
      exchange,
      head,
      target: upstreamTargetOf(route, target),
      route,
      body,
      limitBytes,
      streamValidator: body === undefined ? route.body?.streamValidatorFor?.(head.contentType ?? '') : undefined,
      clientResponse: createClientResponse(route, exchange),
    });
  } catch (error) {
    // Nobody is there to read a response.
    if (error instanceof ClientDisconnected) return;
    refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
  }
}

function findRoute(plan: Plan, method: string, path: string): Route {
  const route = plan.router.match(method, path);
  if (route !== undefined) return route;
  if (hasEncodedSlash(path)) throw new Refusal('path_ambiguous', { reason: 'path_encoded_slash' });
  const allowed = plan.router.allowedMethods(path);
  if (allowed.length === 0) throw new Refusal('route_unknown');
  throw new Refusal('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
}

function upstreamTargetOf({ upstreamPath }: Route, target: RequestTarget): RequestTarget {
  return upstreamPath === undefined ? target : { path: upstreamPath(target.path), query: target.query };
}

function createClientResponse(route: Route, exchange: Exchange): StreamedResponse | BufferedResponse {
  const { login } = route;
  if (exchange.handshake !== undefined) return new TunnelResponse(exchange, exchange.handshake);
  if (login === undefined) return new StreamedResponse(exchange);
  return new BufferedResponse(exchange, login.limitBytes, (answer) =>
    verifyLogin({ auth: requireAuth(route), login, exchange }, answer),
  );
}

function requireAuth({ auth }: Route): Auth {
  // The compiler lets no route through that needs `auth` and has none: this stays closed if it ever did.
  if (auth === undefined) throw new Refusal('internal_error', { reason: 'auth_missing' });
  return auth;
}
