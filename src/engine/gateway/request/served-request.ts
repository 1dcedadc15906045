import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { RateLimitStage } from '../../rate-limits/rate-limit.ts';
import type { ForwardedClaims } from '../../tokens/forwarded-claims.ts';
import type { Auth, Principal } from '../../tokens/verifier.ts';
import type { RequestSteps } from '../decide.ts';
import type { Exchange, RoutedExchange } from '../exchange.ts';
import { isPreflight } from '../response/cors.ts';
import { Refusal } from '../response/refusal.ts';
import { checkWebSocketOrigin } from '../server/websocket-origin.ts';
import type { ServerState } from '../server-state.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { awaitValidation } from './await-validation.ts';
import { readBody } from './read-body.ts';
import { checkHandshake, type RequestHead, readRequestHead, refuseLoop } from './request-head.ts';
import { isServerOptions, type RequestTarget, readRequestTarget } from './request-target.ts';

/** The steps of a request that is served. They store their results in the exchange. */
export class ServedRequest implements RequestSteps {
  readonly #exchange: Exchange;
  readonly #server: ServerState;

  constructor(exchange: Exchange, server: ServerState) {
    this.#exchange = exchange;
    this.#server = server;
  }

  get method(): string {
    return this.#exchange.request.method;
  }

  get isHandshake(): boolean {
    return this.#exchange.isHandshake;
  }

  get #head(): RequestHead {
    return (this.#exchange as RoutedExchange).head;
  }

  readHead(plan: Plan): void {
    const { request, expectation } = this.#exchange;
    if (expectation === 'unknown') throw new Refusal('expectation_failed');
    const head = readRequestHead(request, plan.server.maxHeaders);
    this.#exchange.setHead(head);
    refuseLoop(head, this.#exchange.pseudonym);
    if (this.isHandshake) checkHandshake(head, request.rawHeaders);
  }

  isServerOptions(): boolean {
    return isServerOptions(this.#exchange.request);
  }

  readTarget({ router }: Plan): RequestTarget {
    const target = readRequestTarget(this.#exchange.request.url, this.#head.host, router.keepsEncodedSlash);
    this.#exchange.target = target;
    return target;
  }

  isPreflight(): boolean {
    return isPreflight(this.#exchange.request, this.#head);
  }

  setRoute(route: Route): void {
    this.#exchange.route = route;
  }

  checkOrigin(route: Route): void {
    checkWebSocketOrigin(this.#exchange, route);
  }

  applyRateLimits(stage: RateLimitStage, { rateLimits }: Route): void | Promise<void> {
    const limits = rateLimits?.[stage];
    if (limits === undefined || limits.length === 0) return;
    return this.#server.rateLimiter.apply(limits, this.#exchange as RoutedExchange);
  }

  authenticate(auth: Auth): Principal | Promise<Principal> {
    return authenticate(auth, this.#head, this.#exchange);
  }

  authorize(auth: Auth, principal: Principal, claims?: ForwardedClaims): void {
    this.#exchange.principal = principal;
    authorize(auth, principal, claims);
  }

  validateParameters({ parameters }: Route): void | Promise<void> {
    const { target, request, client } = this.#exchange as RoutedExchange;
    const result = parameters?.validateWithinBudget(target.path, target.query, request.rawHeaders, client) ?? [];
    if (!(result instanceof Promise)) return this.#exchange.refuseInvalidParameters(result);
    return awaitValidation(this.#exchange, result).then(({ violations }) =>
      this.#exchange.refuseInvalidParameters(violations),
    );
  }

  readBody({ body: rule }: Route): void | Promise<void> {
    const body = rule && readBody(this.#exchange, this.#head, rule);
    return body?.then((bytes) => {
      this.#exchange.body = bytes;
    });
  }
}
