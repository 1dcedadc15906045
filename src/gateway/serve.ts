import type { Plan, Route } from '../plan/plan.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { Exchange } from './exchange.ts';
import type { Forwarder } from './forward.ts';
import { HeldAnswer } from './held-answer.ts';
import { judgeLogin } from './login.ts';
import { readHead } from './message.ts';
import { METHODS } from './methods.ts';
import { readTarget } from './path.ts';
import { takeBody } from './read-body.ts';
import { Refusal } from './refusal.ts';
import { refuse } from './refuse.ts';
import { StreamedAnswer } from './streamed-answer.ts';
import { TunnelAnswer } from './tunnel.ts';

/**
 * The whole life of a request, by the plan that was in force when it came. Never rejects: what is refused on
 * the way, by whatever step, is answered here.
 */
export async function serve(plan: Plan, exchange: Exchange, forwarder: Forwarder): Promise<void> {
  const { request, response } = exchange;
  try {
    const head = readHead(request);
    exchange.head = head;
    if (exchange.handshake !== undefined && head.body !== undefined) {
      throw new Refusal('message_malformed', { reason: 'handshake_with_body' });
    }
    if (request.url === '*' && request.method === 'OPTIONS') {
      exchange.writeHead(204, 'No Content', ['Allow', METHODS.join(', ')]);
      response.end();
      return;
    }
    const target = readTarget(request.url ?? '', head.host);
    exchange.target = target;
    const route = findRoute(plan, request.method ?? '', target.path);
    exchange.route = route;
    if (route.access === 'protected') {
      const auth = authOf(plan);
      authorize(auth, await authenticate(auth, head));
    }
    if (route.parameters !== undefined) {
      const errors = route.parameters(target.path, target.query, request.rawHeaders);
      if (errors.length > 0) exchange.refuseInvalid(new Refusal('parameter_invalid', { errors }));
    }
    const body = route.body === undefined ? undefined : await takeBody(exchange, head, route.body);
    // The client may have left while its token was verified or its body read.
    if (response.destroyed) return;
    const limitBytes = route.body?.limitBytes ?? Number.POSITIVE_INFINITY;
    exchange.forwardedAt = exchange.elapsedMs();
    forwarder.send({
      exchange,
      head,
      target,
      upstream: route.upstream,
      body,
      limitBytes,
      inspector: body === undefined ? route.body?.inspect?.(head.contentType ?? '') : undefined,
      receiver: receiverOf(plan, route, exchange),
    });
  } catch (error) {
    refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
  }
}

function findRoute(plan: Plan, method: string, path: string): Route {
  const route = plan.router.match(method, path);
  if (route !== undefined) return route;
  const allowed = plan.router.allowed(path);
  if (allowed.length === 0) throw new Refusal('route_unknown');
  throw new Refusal('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
}

function receiverOf(plan: Plan, route: Route, exchange: Exchange): StreamedAnswer | HeldAnswer {
  const { login } = route;
  if (exchange.handshake !== undefined) return new TunnelAnswer(exchange, exchange.handshake);
  if (login === undefined) return new StreamedAnswer(exchange);
  return new HeldAnswer(exchange, login.limitBytes, (answer) => judgeLogin(authOf(plan), login, answer));
}

function authOf(plan: Plan) {
  // The compiler lets no plan through that needs `auth` and has none: this stays closed if it ever did.
  if (plan.auth === undefined) throw new Refusal('internal_error', { reason: 'auth_missing' });
  return plan.auth;
}
