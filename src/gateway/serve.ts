import type { Auth, Plan, Route } from '../plan/plan.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { answerPreflight, isPreflight } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { ClientGone } from './failure.ts';
import type { Forwarder } from './forward.ts';
import { checkOrigin } from './handshake-origin.ts';
import { HeldAnswer } from './held-answer.ts';
import { judgeLogin } from './login.ts';
import { readHead } from './message.ts';
import { METHODS } from './methods.ts';
import { resultOf } from './other-thread.ts';
import { hasEncodedSlash, readTarget, type Target } from './path.ts';
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
    const head = readHead(request, plan.server.maxHeaders);
    exchange.begin(head, plan.sampledTraces);
    if (exchange.handshake !== undefined && head.body !== undefined) {
      throw new Refusal('message_malformed', { reason: 'handshake_with_body' });
    }
    if (request.url === '*' && request.method === 'OPTIONS') {
      exchange.writeHead(204, 'No Content', ['Allow', METHODS.join(', ')]);
      response.end();
      return;
    }
    const target = readTarget(request.url ?? '', head.host, plan.router.keepsEncodedSlash);
    exchange.target = target;
    if (exchange.cors !== undefined && isPreflight(request, head)) {
      answerPreflight(exchange.cors, exchange, plan.router.allowed(target.path));
      return;
    }
    const route = findRoute(plan, request.method ?? '', target.path);
    exchange.route = route;
    if (exchange.handshake !== undefined) checkOrigin(exchange, route);
    if (route.access === 'protected') {
      const auth = authOf(route);
      const caller = authenticate(auth, head, exchange);
      // To wait for what is there already would cost a turn of the loop's queue.
      const principal = caller instanceof Promise ? await caller : caller;
      exchange.principal = principal;
      authorize(auth, principal);
    }
    if (route.parameters !== undefined) {
      const checked = route.parameters.serve(target.path, target.query, request.rawHeaders, exchange.client);
      const errors = checked instanceof Promise ? (await resultOf(exchange, checked)).faults : checked;
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
      target: targetAt(route, target),
      route,
      body,
      limitBytes,
      inspector: body === undefined ? route.body?.inspect?.(head.contentType ?? '') : undefined,
      receiver: receiverOf(route, exchange),
    });
  } catch (error) {
    // Nobody is there to read a response.
    if (error instanceof ClientGone) return;
    refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
  }
}

function findRoute(plan: Plan, method: string, path: string): Route {
  const route = plan.router.match(method, path);
  if (route !== undefined) return route;
  if (hasEncodedSlash(path)) throw new Refusal('path_ambiguous', { reason: 'path_encoded_slash' });
  const allowed = plan.router.allowed(path);
  if (allowed.length === 0) throw new Refusal('route_unknown');
  throw new Refusal('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
}

function targetAt({ upstreamPath }: Route, target: Target): Target {
  return upstreamPath === undefined ? target : { path: upstreamPath(target.path), query: target.query };
}

function receiverOf(route: Route, exchange: Exchange): StreamedAnswer | HeldAnswer {
  const { login } = route;
  if (exchange.handshake !== undefined) return new TunnelAnswer(exchange, exchange.handshake);
  if (login === undefined) return new StreamedAnswer(exchange);
  return new HeldAnswer(exchange, login.limitBytes, (answer) =>
    judgeLogin({ auth: authOf(route), login, exchange }, answer),
  );
}

function authOf({ auth }: Route): Auth {
  // The compiler lets no route through that needs `auth` and has none: this stays closed if it ever did.
  if (auth === undefined) throw new Refusal('internal_error', { reason: 'auth_missing' });
  return auth;
}
