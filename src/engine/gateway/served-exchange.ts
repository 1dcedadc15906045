import type { RequestErrorKind } from '../http1/message-head.ts';
import type { ResponseOwner } from '../http1/response-writer.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import type { RateLimitStage } from '../rate-limits/rate-limit.ts';
import type { ForwardedClaims } from '../tokens/forwarded-claims.ts';
import type { Auth, Principal } from '../tokens/verifier.ts';
import type { RequestSteps } from './decide.ts';
import { Exchange, type ExchangeServer, type RoutedExchange } from './exchange.ts';
import { authenticate } from './request/authenticate.ts';
import { authorize } from './request/authorize.ts';
import { awaitValidation } from './request/await-validation.ts';
import { readBody } from './request/read-body.ts';
import { type RequestHead, readRequestHead, refuseLoop } from './request/request-head.ts';
import { isServerOptions, type RequestTarget, readRequestTarget } from './request/request-target.ts';
import { isPreflight } from './response/cors.ts';
import { Refusal } from './response/refusal.ts';
import { refuseRest } from './response/refuse.ts';
import { checkHandshake, checkWebSocketOrigin } from './server/websocket-handshake.ts';
import type { RequestRecorder } from './telemetry/request-recorder.ts';
import type { LiveUpstreams } from './upstream/live-upstreams.ts';

/** The parts of a server that serve its requests. */
export interface ServerState extends ExchangeServer {
  readonly recorder: RequestRecorder;
  readonly upstreams: LiveUpstreams;
}

/**
 * An exchange with the steps of its request, which store their results in it, and with its end. It is one object: two more for each
 * request would cost throughput.
 */
export class ServedExchange extends Exchange implements RequestSteps, ResponseOwner {
  declare protected readonly server: ServerState;
  // The steps that read it follow the one that stores it.
  declare head: RequestHead;

  readHead(plan: Plan): void {
    if (this.expectation === 'unknown') throw new Refusal('expectation_failed');
    const { request } = this;
    const { traceparent, via } = request.known;
    this.head = readRequestHead(request, plan.server.maxHeaders);
    this.trace = this.server.beginTrace(this, traceparent);
    if (via !== undefined) refuseLoop(via, this.pseudonym);
    if (this.isHandshake) checkHandshake(this.head, request.rawHeaders);
  }

  isServerOptions(): boolean {
    return isServerOptions(this.request);
  }

  readTarget({ router }: Plan): RequestTarget {
    this.target = readRequestTarget(this.request.url, this.head.host, router.keepsEncodedSlash);
    return this.target;
  }

  isPreflight(): boolean {
    return isPreflight(this.request, this.head);
  }

  setRoute(route: Route): void {
    this.route = route;
  }

  checkOrigin(route: Route): void {
    checkWebSocketOrigin(this, route);
  }

  applyRateLimits(stage: RateLimitStage, { rateLimits }: Route): void | Promise<void> {
    const limits = rateLimits?.[stage];
    if (limits === undefined || limits.length === 0) return;
    return this.server.rateLimiter.apply(limits, this as RoutedExchange);
  }

  authenticate(auth: Auth): Principal | Promise<Principal> {
    return authenticate(auth, this.head, this);
  }

  authorize(auth: Auth, principal: Principal, claims?: ForwardedClaims): void {
    this.principal = principal;
    authorize(auth, principal, claims);
  }

  validateParameters({ parameters }: Route): void | Promise<void> {
    const { target, request, client } = this as RoutedExchange;
    const result = parameters?.validateWithinBudget(target.path, target.query, request.rawHeaders, client) ?? [];
    if (!(result instanceof Promise)) return this.refuseInvalidParameters(result);
    return awaitValidation(this, result).then(({ violations }) => this.refuseInvalidParameters(violations));
  }

  readBody({ body: rule }: Route): void | Promise<void> {
    return (
      rule &&
      readBody(this, this.head, rule)?.then((bytes) => {
        this.body = bytes;
      })
    );
  }

  onRequestError(kind: RequestErrorKind): void {
    refuseRest(this, kind);
  }

  /** Releases everything that the exchange holds, and records it: log line, metrics, trace and request event. */
  onResponseOver(): void {
    const { connection, server } = this;
    this.end();
    server.recorder.record(this, server.plan.log);
    this.observe();
    // The response may have promised keep-alive before the server began to close.
    if (server.isClosing && connection.isIdle) connection.closeGracefully();
  }
}
