import type { ClientRequest } from '../../http1/client-request.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { RateLimitStage, RouteRateLimits } from '../../rate-limits/rate-limit.ts';
import type { AppliedLimit } from '../../rate-limits/rate-limiter.ts';
import type { ForwardedClaims } from '../../tokens/forwarded-claims.ts';
import type { Auth, Principal, VerificationResult } from '../../tokens/verifier.ts';
import type { BodyRule } from '../../validation/request-rules.ts';
import type { RequestSteps } from '../decide.ts';
import { clientKey } from '../fairness/client-key.ts';
import { isPreflight } from '../response/plan-headers.ts';
import { Refusal } from '../response/refusal.ts';
import type { GatewayConnection } from '../server/gateway-connection.ts';
import { checkHandshake, isWebSocketHandshake, isWebSocketOriginAllowed } from '../server/websocket-handshake.ts';
import { type ForwardedInfo, readForwardedInfo } from './forwarded-info.ts';
import { checkBodyHead } from './read-body.ts';
import {
  isServerOptions,
  type RequestHead,
  type RequestTarget,
  readRequestHead,
  readRequestTarget,
  refuseLoop,
} from './request-head.ts';

/** `continue`: the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
type Expectation = 'continue' | 'unknown';

/**
 * The request of a client as a plan reads it: one that is served, or one that the candidate compares. It has the steps of the decision
 * that both share, which store their results in it. A subclass has the steps that need tokens, counters or the body.
 */
export abstract class PlannedRequest implements RequestSteps {
  abstract readonly id: string;
  /** The name of this gateway in `Via`. */
  abstract readonly pseudonym: string;
  readonly plan: Plan;
  readonly request: ClientRequest;
  readonly connection: GatewayConnection;
  readonly method: string;
  /** False if the client had closed its side before: it cannot use a WebSocket. */
  readonly mayUpgrade: boolean;
  /** True if the request is a WebSocket handshake. */
  readonly isHandshake: boolean;
  readonly expectation: Expectation | undefined;
  /** The forwarding headers of a trusted proxy; `undefined` if the peer is not trusted. */
  readonly forwardedInfo: ForwardedInfo | undefined;
  /** The key of the client for its share of limited resources. */
  readonly client: string;
  head: RequestHead | undefined;
  target: RequestTarget | undefined;
  route: Route | undefined;
  /** The verified caller; at login, the user of the token in the response. */
  principal: Principal | undefined;
  /** The validated body; `undefined` if the body is streamed. */
  body: Buffer | undefined;
  /** The rate limits that have counted the request. */
  appliedLimits: AppliedLimit[] | undefined;

  constructor(plan: Plan, request: ClientRequest, connection: GatewayConnection, mayUpgrade: boolean) {
    const { trustedProxies } = plan.server;
    this.plan = plan;
    this.request = request;
    this.connection = connection;
    this.method = request.method;
    this.mayUpgrade = mayUpgrade;
    this.isHandshake = mayUpgrade && request.known.upgrade !== undefined && isWebSocketHandshake(plan, request);
    const { expect } = request.known;
    // HTTP/1.0 has no expectations (RFC 9110 section 10.1.1).
    if (expect !== undefined && request.httpVersion === '1.1')
      this.expectation = expect.toLowerCase() === '100-continue' ? 'continue' : 'unknown';
    if (trustedProxies !== undefined && connection.isTrustedProxy(trustedProxies))
      this.forwardedInfo = readForwardedInfo(request.rawHeaders, trustedProxies);
    const client = this.forwardedInfo?.client;
    this.client = client === undefined ? connection.client : clientKey(client);
  }

  abstract applyRateLimits(stage: RateLimitStage, limits: RouteRateLimits): void | Promise<void>;
  abstract authenticate(auth: Auth): Principal | Promise<Principal>;
  abstract validateParameters(route: Route): void | Promise<void>;
  abstract readBody(route: Route): void | Promise<void>;

  /** The address of the client, as a trusted proxy reports it; otherwise that of the connection. */
  get clientAddress(): string {
    return this.forwardedInfo?.client ?? this.connection.peer ?? '';
  }

  readHead({ server }: Plan): void {
    if (this.expectation === 'unknown') throw new Refusal('expectation_failed');
    const { request } = this;
    this.head ??= readRequestHead(request, server.maxHeaders);
    this.beginTrace();
    const { via } = request.known;
    if (via !== undefined) refuseLoop(via, this.pseudonym);
    if (this.isHandshake) checkHandshake(this.head, request.rawHeaders);
  }

  /** Called once the head is valid. */
  protected abstract beginTrace(): void;

  isServerOptions(): boolean {
    return isServerOptions(this.request);
  }

  readTarget({ router }: Plan): RequestTarget {
    this.target ??= readRequestTarget(this.request.url, this.head?.host, router.keepsEncodedSlash);
    return this.target;
  }

  isPreflight(): boolean {
    return isPreflight(this);
  }

  setRoute(route: Route): void {
    this.route = route;
  }

  checkOrigin(route: Route): void {
    if (!isWebSocketOriginAllowed(this, route)) throw new Refusal('origin_not_allowed');
  }

  /**
   * Returns the bearer token in the `Authorization` header (RFC 6750 section 2.1). Ignores tokens in the body or the query.
   *
   * @throws Refusal `token_missing`
   */
  protected readToken({ challengePrefix }: Auth): string {
    const authorization = this.head?.authorization;
    if (authorization === undefined || !BEARER.test(authorization))
      throw new Refusal('token_missing', { headers: { 'WWW-Authenticate': challengePrefix } });
    return authorization.slice('bearer '.length);
  }

  /** Returns the caller of a verified token. @throws Refusal `token_invalid` or `keys_unavailable` */
  protected principalOf({ challengePrefix }: Auth, result: VerificationResult): Principal {
    if ('principal' in result) return result.principal;
    if (result.code === 'keys_unavailable') {
      const reason = result.cause ?? result.code;
      throw new Refusal('keys_unavailable', { headers: { 'Retry-After': '5' }, reason });
    }
    // RFC 6750 section 3.1. Only the log has the exact reason, because it would help an attacker who tries tokens.
    const challenge = `${challengePrefix}, error="invalid_token", error_description="the bearer token is not valid"`;
    throw new Refusal('token_invalid', { headers: { 'WWW-Authenticate': challenge }, reason: result.code });
  }

  /** Refuses a caller without an allowed role, or with a claim that cannot be forwarded. @throws Refusal `role_not_allowed`, `claim_unusable` */
  authorize({ role, challengePrefix }: Auth, principal: Principal, claims?: ForwardedClaims): void {
    this.principal = principal;
    if (principal.allowedBy !== role.key) {
      if (!role.allows(principal)) {
        const headers = { 'WWW-Authenticate': `${challengePrefix}, error="insufficient_scope"` };
        const detail = role.messageFor(principal.issuer);
        throw new Refusal('role_not_allowed', { ...(detail !== undefined && { detail }), headers });
      }
      principal.allowedBy = role.key;
    }
    const lines = claims?.linesOf(principal);
    if (typeof lines === 'string') throw new Refusal('claim_unusable', { reason: lines });
  }

  /** Applies the part of a body rule that needs no body. Returns true if the rule also applies to the bytes. @throws Refusal */
  protected checkBodyHead(rule: BodyRule): boolean {
    return checkBodyHead(this, this.head as RequestHead, rule);
  }

  /** Refuses the request. A route with `validation: report` only logs the refusal instead. @throws Refusal */
  abstract refuseOrReport(refusal: Refusal): void;
}

const BEARER = /^bearer /i;

/** True if an `Authorization` header has a bearer token. */
export function isBearer(authorization: string): boolean {
  return BEARER.test(authorization);
}
