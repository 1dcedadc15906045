import { type RawHeaders, withMissing, withoutHeaders } from '../../http1/raw-headers.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { RateLimitStage } from '../../rate-limits/rate-limit.ts';
import { type AppliedLimit, rateLimitFields } from '../../rate-limits/rate-limiter.ts';
import type { ForwardedClaims } from '../../tokens/forwarded-claims.ts';
import type { Auth, Principal, VerificationResult } from '../../tokens/verifier.ts';
import type { BodyRule } from '../../validation/body-rule.ts';
import type { RequestSteps } from '../decide.ts';
import type { Exchange } from '../exchange.ts';
import { clientKey } from '../fairness/client-key.ts';
import { isPreflight, preflightHeaders, withCorsHeaders } from '../response/cors.ts';
import { ownHeaders } from '../response/own-response.ts';
import { Refusal } from '../response/refusal.ts';
import { checkHandshake, checkWebSocketOrigin, isWebSocketHandshake } from '../server/websocket-handshake.ts';
import {
  applyHeaderRules,
  type ForwardedRequest,
  forwardRequestHeaders,
  keepsClientHost,
} from '../upstream/proxy-headers.ts';
import { principalOf, readBearerToken } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { type ForwardedInfo, readForwardedInfo } from './forwarded-info.ts';
import { checkBodyHead } from './read-body.ts';
import { type RequestHead, readRequestHead, refuseLoop } from './request-head.ts';
import { isServerOptions, type RequestTarget, readRequestTarget, upstreamTarget } from './request-target.ts';

/**
 * The steps of a request that one plan has served, by another plan. They read what the exchange has kept, and send nothing. A subclass
 * decides the steps that need tokens, counters or the body.
 */
export abstract class ObservedRequest implements RequestSteps {
  readonly exchange: Exchange;
  readonly id: string;
  readonly request: Exchange['request'];
  readonly connection: Exchange['connection'];
  readonly forwardedInfo: ForwardedInfo | undefined;
  readonly pseudonym: string;
  readonly client: string;
  readonly clientAddress: string;
  readonly isHandshake: boolean;
  appliedLimits: AppliedLimit[] | undefined;
  principal: Principal | undefined;
  body: Buffer | undefined;
  // The steps that read these members follow the ones that store them.
  head!: RequestHead;
  target!: RequestTarget;
  route!: Route;
  readonly #isHeadEqual: boolean;

  /** @param isHeadEqual true if both plans read the head and the target alike */
  constructor(exchange: Exchange, plan: Plan, isHeadEqual: boolean) {
    const { request, connection } = exchange;
    const { trustedProxies } = plan.server;
    this.exchange = exchange;
    this.id = exchange.id;
    this.request = request;
    this.connection = connection;
    this.pseudonym = plan.server.via ?? exchange.pseudonym;
    const isTrusted = trustedProxies?.(connection.peer ?? '') === true;
    this.forwardedInfo = isTrusted ? readForwardedInfo(request.rawHeaders, trustedProxies) : undefined;
    const client = this.forwardedInfo?.client;
    this.client = client === undefined ? connection.client : clientKey(client);
    this.clientAddress = client ?? connection.peer ?? '';
    // The serving plan does not accept a handshake of a client that has closed its side.
    this.isHandshake =
      isWebSocketHandshake(plan, request) && (exchange.isHandshake || !isWebSocketHandshake(exchange.plan, request));
    this.#isHeadEqual = isHeadEqual;
  }

  abstract applyRateLimits(stage: RateLimitStage, route: Route): void;
  abstract authenticate(auth: Auth): Principal | Promise<Principal>;
  abstract validateParameters(route: Route): void | Promise<void>;
  abstract readBody(route: Route): void | Promise<void>;

  get method(): string {
    return this.request.method;
  }

  readHead({ server }: Plan): void {
    if (this.exchange.expectation === 'unknown') throw new Refusal('expectation_failed');
    const kept = this.#isHeadEqual ? this.exchange.head : undefined;
    this.head = kept ?? readRequestHead(this.request, server.maxHeaders);
    const { via } = this.request.known;
    if (via !== undefined) refuseLoop(via, this.pseudonym);
    if (this.isHandshake) checkHandshake(this.head, this.request.rawHeaders);
  }

  isServerOptions(): boolean {
    return isServerOptions(this.request);
  }

  readTarget({ router }: Plan): RequestTarget {
    const kept = this.#isHeadEqual ? this.exchange.target : undefined;
    this.target = kept ?? readRequestTarget(this.request.url, this.head.host, router.keepsEncodedSlash);
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

  authorize(auth: Auth, principal: Principal, claims?: ForwardedClaims): void {
    this.principal = principal;
    authorize(auth, principal, claims);
  }

  refuseOrReport(refusal: Refusal): void {
    if (this.route.validation === 'enforce') throw refusal;
  }

  /** A rate limit that only reports changes no outcome. */
  addReport(): void {}

  /** @throws Refusal `token_missing` */
  protected readToken(auth: Auth): string {
    return readBearerToken(auth, this.head);
  }

  /** @throws Refusal `token_invalid` or `keys_unavailable` */
  protected principalOf(auth: Auth, result: VerificationResult): Principal {
    return principalOf(auth, result);
  }

  /** Applies the part of a body rule that needs no body. Returns true if the rule also applies to the bytes. @throws Refusal */
  protected checkBodyHead(rule: BodyRule): boolean {
    return checkBodyHead(this, this.head, rule);
  }
}

/** The request that a plan sends to an upstream, without trace headers: these depend on the trace and not on the plan. */
export function forwardedMessage(
  request: ForwardedRequest & { readonly target: RequestTarget },
  isHandshake: boolean,
): { readonly path: string; readonly headers: readonly string[] } {
  const { upstream } = request.route;
  const forwarded = forwardRequestHeaders(request, undefined);
  const headers = keepsClientHost(request.route) ? forwarded : ['Host', upstream.host, ...forwarded];
  return {
    path: upstreamTarget(request.route, request.target),
    headers: isHandshake ? [...headers, 'Upgrade', 'websocket'] : headers,
  };
}

/**
 * Describes the response of a route without an upstream: equal for equal responses, apart from the counters of rate limits.
 *
 * @throws Refusal `path_ambiguous`
 */
export function describeOwnResponse(plan: Plan, route: Route, target: RequestTarget, origin?: string): RawHeaders {
  const { ownResponse, responseHeaders: rules, rateLimits } = route;
  if (ownResponse === undefined) return [];
  const own = applyHeaderRules([...ownHeaders(ownResponse, target)], rules);
  const headers = commonHeaders(plan, origin, [...own, ...rateLimitFields(plan.server, rateLimits)], rules?.drops);
  return [...headers, 'body', ownResponse.body.toString()];
}

/** Returns what the headers of the response to a refused request owe to a plan, so not the time to wait. */
export function refusalHeaders(
  plan: Plan,
  request: Exchange['request'],
  refusal: Refusal,
  route: Route | undefined,
): readonly string[] {
  const own = Object.entries(refusal.headers).filter(([name]) => name !== 'Retry-After');
  return commonHeaders(plan, request.known.origin, [...own.flat(), ...rateLimitFields(plan.server, route?.rateLimits)]);
}

/** Returns the headers of the response to a preflight, by a plan. */
export function preflightResponse(
  plan: Plan,
  request: Exchange['request'],
  target: RequestTarget | undefined,
): readonly string[] {
  return commonHeaders(plan, request.known.origin, preflightHeaders({ plan, request, target }));
}

function commonHeaders(
  { cors, server }: Plan,
  origin: string | undefined,
  headers: RawHeaders,
  isRemoved: (name: string) => boolean = () => false,
): RawHeaders {
  const permitted = cors === undefined ? headers : withCorsHeaders(cors, origin, headers);
  return withMissing(permitted, withoutHeaders(server.responseHeaders, isRemoved));
}
