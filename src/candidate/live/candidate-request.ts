import type { RequestSteps } from '../../gateway/decide.ts';
import type { Exchange } from '../../gateway/exchange.ts';
import type { AppliedLimit, LimitedExchange, RateLimiter } from '../../gateway/rate-limits/rate-limiter.ts';
import { principalOf, readBearerToken } from '../../gateway/request/authenticate.ts';
import { authorize } from '../../gateway/request/authorize.ts';
import { type ForwardedInfo, readForwardedInfo } from '../../gateway/request/forwarded-info.ts';
import { checkBodyHead } from '../../gateway/request/read-body.ts';
import { type RequestHead, readRequestHead } from '../../gateway/request/request-head.ts';
import { type RequestTarget, readRequestTarget } from '../../gateway/request/request-target.ts';
import { isServerOptions } from '../../gateway/request/served-request.ts';
import { isPreflight } from '../../gateway/response/cors.ts';
import { Refusal } from '../../gateway/response/refusal.ts';
import { isWebSocketHandshake } from '../../gateway/server/websocket-handshake.ts';
import { checkWebSocketOrigin } from '../../gateway/server/websocket-origin.ts';
import type { BodyRule } from '../../plan/body/body.ts';
import type { ValidationResult } from '../../plan/body/validation-result.ts';
import type { Plan } from '../../plan/plan.ts';
import type { RateLimit, RateLimitStage } from '../../plan/rate-limits/rate-limit.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Auth } from '../../plan/tokens/auth.ts';
import type { Principal } from '../../plan/tokens/verification-result.ts';
import { UnknownFact } from '../outcome.ts';
import type { PlanPair } from './plan-pair.ts';

/** All work for the candidate counts as that of one client, so that it takes no more than the share of one. */
export const CANDIDATE_CLIENT = 'candidate';
/** The time limit of a token. */
const TOKEN_TIMEOUT_MS = 2_000;

export interface CandidateRequestOptions {
  /** The exchange, which the active plan has decided. */
  readonly exchange: Exchange;
  readonly pair: PlanPair;
  /** The counters of the candidate. */
  readonly limiter: RateLimiter;
  /** The complete body; `undefined` if it was not read or not kept. */
  readonly bytes: Buffer | undefined;
  /** False if the tokens of the requests must not leave the process. */
  readonly maySendTokens: boolean;
}

/** The steps of a request that was served by the active plan, for the candidate. They send nothing to an upstream or a store. */
export class CandidateRequest implements RequestSteps, LimitedExchange {
  readonly id: string;
  readonly request: Exchange['request'];
  readonly connection: Exchange['connection'];
  readonly forwardedInfo: ForwardedInfo | undefined;
  readonly client: string;
  readonly clientAddress: string;
  readonly isHandshake: boolean;
  appliedLimits: AppliedLimit[] | undefined;
  principal: Principal | undefined;
  body: Buffer | undefined;
  head: RequestHead | undefined;
  target: RequestTarget | undefined;
  // The steps that read the route follow the one that stores it.
  route!: Route;
  readonly #options: CandidateRequestOptions;

  constructor(options: CandidateRequestOptions) {
    const { exchange, pair } = options;
    const { request, connection } = exchange;
    const { trustedProxies } = pair.candidate.server;
    this.#options = options;
    this.id = exchange.id;
    this.request = request;
    this.connection = connection;
    const isTrusted = trustedProxies?.(connection.peer ?? '') === true;
    this.forwardedInfo = isTrusted ? readForwardedInfo(request.rawHeaders, trustedProxies) : undefined;
    this.client = exchange.client;
    this.clientAddress = this.forwardedInfo?.client ?? connection.peer ?? '';
    this.isHandshake = isWebSocketHandshake(pair.candidate, request);
  }

  get method(): string {
    return this.request.method ?? '';
  }

  readHead({ server }: Plan): void {
    if (this.#options.exchange.expectation === 'unknown') throw new Refusal('expectation_failed');
    this.head = readRequestHead(this.request, server.maxHeaders);
    if (this.isHandshake && this.head.body !== undefined)
      throw new Refusal('message_malformed', { reason: 'handshake_with_body' });
  }

  isServerOptions(): boolean {
    return isServerOptions(this.request);
  }

  readTarget({ router }: Plan): RequestTarget {
    this.target = readRequestTarget(this.request.url ?? '', this.head?.host, router.keepsEncodedSlash);
    return this.target;
  }

  isPreflight(): boolean {
    return isPreflight(this.request, this.#head);
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
    const counted = limits.filter((limit) => !this.#wasCounted(limit));
    // Only the active plan counts in a store.
    if (counted.some(({ store }) => store !== undefined)) throw new UnknownFact('rate-limit');
    return this.#options.limiter.apply(counted, this);
  }

  authenticate(auth: Auth): Principal | Promise<Principal> {
    const { exchange, pair } = this.#options;
    const token = readBearerToken(auth, this.#head);
    if (pair.areTokensEqual) {
      const { principal, refusal, route } = exchange;
      if (route?.access === 'protected' && principal !== undefined) return principal;
      if (refusal?.code === 'token_invalid') throw refusal;
    } else if (!this.#options.maySendTokens) throw new UnknownFact('token');
    return auth.verifier.cached(token) ?? this.#verify(auth, token);
  }

  authorize(auth: Auth, principal: Principal): void {
    this.principal = principal;
    authorize(auth, principal);
  }

  validateParameters({ parameters }: Route): void | Promise<void> {
    const { path, query } = this.target as RequestTarget;
    const { rawHeaders } = this.request;
    const result = parameters?.validateWithinBudget(path, query, rawHeaders, CANDIDATE_CLIENT) ?? [];
    if (result instanceof Promise)
      return result.then((validated) => this.#refuseInvalid('parameter_invalid', validated));
    this.#refuseInvalid('parameter_invalid', { violations: result });
  }

  readBody({ body: rule }: Route): void | Promise<void> {
    if (rule === undefined || !checkBodyHead(this, this.#head, rule)) return;
    this.#checkSize(rule);
    if (rule.validate === undefined) return this.#validateStream(rule);
    const result = rule.validate(this.#bytes(), CANDIDATE_CLIENT);
    if (result instanceof Promise) return result.then((validated) => this.#acceptBody(validated));
    this.#acceptBody(result);
  }

  refuseOrReport(refusal: Refusal): void {
    if (this.route.validation === 'enforce') throw refusal;
  }

  /** A rate limit that only reports changes no outcome. */
  addReport(): void {}

  get #head(): RequestHead {
    return this.head as RequestHead;
  }

  /** True if the active plan has counted the request by an equal limit and let it through. @throws Refusal if it has refused it */
  #wasCounted(limit: RateLimit): boolean {
    const { exchange, pair } = this.#options;
    if (!pair.isEqualLimit(limit)) return false;
    const { refusal, appliedLimits } = exchange;
    if (refusal?.limit === limit.id) throw refusal;
    return appliedLimits?.some((applied) => applied.limit.id === limit.id) === true;
  }

  async #verify(auth: Auth, token: string): Promise<Principal> {
    const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
    const result = await auth.verifier.verify(token, { key: CANDIDATE_CLIENT, signal });
    if (signal.aborted) throw new UnknownFact('timeout');
    return principalOf(auth, result);
  }

  #refuseInvalid(
    code: 'parameter_invalid' | 'body_invalid',
    { violations, overload }: Partial<ValidationResult>,
  ): void {
    if (overload !== undefined) throw new UnknownFact('no-decision');
    if (violations !== undefined && violations.length > 0)
      this.refuseOrReport(new Refusal(code, { errors: violations }));
  }

  #acceptBody(validated: ValidationResult): void {
    this.#refuseInvalid('body_invalid', validated);
    this.body = validated.body;
  }

  /** Refuses a body of unknown length that is too large. The length in a header was checked before. */
  #checkSize({ limitBytes }: BodyRule): void {
    if (this.#head.body !== 'chunked') return;
    const { exchange, bytes } = this.#options;
    if (Math.max(exchange.receivedBytes, bytes?.length ?? 0) > limitBytes) throw new Refusal('body_too_large');
    if (!this.request.complete || (exchange.forwardedAfterMs === undefined && bytes === undefined))
      throw new UnknownFact('body');
  }

  #validateStream({ streamValidatorFor }: BodyRule): void {
    const validator = streamValidatorFor?.(this.#head.contentType ?? '');
    if (validator === undefined || this.#head.body === undefined) return;
    const violation = validator.write(this.#bytes()) ?? validator.end();
    if (violation !== undefined) this.refuseOrReport(new Refusal('body_invalid', { errors: [violation] }));
  }

  #bytes(): Buffer {
    if (this.#head.body === undefined) return Buffer.alloc(0);
    const { bytes } = this.#options;
    if (bytes === undefined) throw new UnknownFact('body');
    return bytes;
  }
}
