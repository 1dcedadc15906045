import type { RequestSteps } from '../../engine/gateway/decide.ts';
import type { Exchange } from '../../engine/gateway/exchange.ts';
import { clientKey } from '../../engine/gateway/fairness/client-key.ts';
import { principalOf, readBearerToken } from '../../engine/gateway/request/authenticate.ts';
import { authorize } from '../../engine/gateway/request/authorize.ts';
import { type ForwardedInfo, readForwardedInfo } from '../../engine/gateway/request/forwarded-info.ts';
import { checkBodyHead } from '../../engine/gateway/request/read-body.ts';
import { type RequestHead, readRequestHead } from '../../engine/gateway/request/request-head.ts';
import { isServerOptions, type RequestTarget, readRequestTarget } from '../../engine/gateway/request/request-target.ts';
import { isPreflight } from '../../engine/gateway/response/cors.ts';
import { Refusal } from '../../engine/gateway/response/refusal.ts';
import { isWebSocketHandshake } from '../../engine/gateway/server/websocket-handshake.ts';
import { checkWebSocketOrigin } from '../../engine/gateway/server/websocket-origin.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { RateLimitStage } from '../../engine/rate-limits/rate-limit.ts';
import type { AppliedLimit } from '../../engine/rate-limits/rate-limiter.ts';
import type { Auth } from '../../engine/tokens/auth.ts';
import type { Principal, Verifier } from '../../engine/tokens/verifier.ts';
import type { BodyRule, CancellablePromise, ValidationResult } from '../../engine/validation/body-rule.ts';
import { UnknownFact } from '../outcome.ts';
import type { CandidateLimits, CountedCandidate } from './candidate-limits.ts';
import { KeptBody } from './kept-body.ts';
import type { PlanPair } from './plan-pair.ts';

/** All work for the candidate counts as that of one client, so that it takes no more than the share of one. */
const CANDIDATE_CLIENT = 'candidate';
/** The time limit of a token. */
const TOKEN_TIMEOUT_MS = 2_000;

interface CandidateRequestOptions {
  /** The exchange, which the active plan has decided. */
  readonly exchange: Exchange;
  readonly pair: PlanPair;
  readonly limits: CandidateLimits;
  /** False if some requests are not compared. */
  readonly isEachCounted: boolean;
  /** False if the tokens of the requests must not leave the process. */
  readonly maySendTokens: boolean;
}

/** The steps of a request that was served by the active plan, for the candidate. They send nothing to an upstream or a store. */
export class CandidateRequest implements RequestSteps, CountedCandidate {
  readonly exchange: Exchange;
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
    this.exchange = exchange;
    this.id = exchange.id;
    this.request = request;
    this.connection = connection;
    const isTrusted = trustedProxies?.(connection.peer ?? '') === true;
    this.forwardedInfo = isTrusted ? readForwardedInfo(request.rawHeaders, trustedProxies) : undefined;
    const client = this.forwardedInfo?.client;
    this.client = client === undefined ? connection.client : clientKey(client);
    this.clientAddress = client ?? connection.peer ?? '';
    this.isHandshake = isHandshake(exchange, pair);
  }

  get method(): string {
    return this.request.method ?? '';
  }

  readHead({ server }: Plan): void {
    if (server.headerLimitBytes < this.#options.pair.active.server.headerLimitBytes)
      checkHeadSize(this.request, server.headerLimitBytes);
    if (this.exchange.expectation === 'unknown') throw new Refusal('expectation_failed');
    // Both plans read the head and the target alike if their settings are equal.
    this.head =
      (this.#isHeadEqual ? this.exchange.head : undefined) ?? readRequestHead(this.request, server.maxHeaders);
    if (this.isHandshake && this.head.body !== undefined)
      throw new Refusal('message_malformed', { reason: 'handshake_with_body' });
  }

  isServerOptions(): boolean {
    return isServerOptions(this.request);
  }

  readTarget({ router }: Plan): RequestTarget {
    const target = this.#isHeadEqual ? this.exchange.target : undefined;
    this.target = target ?? readRequestTarget(this.request.url ?? '', this.head?.host, router.keepsEncodedSlash);
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

  applyRateLimits(stage: RateLimitStage, { rateLimits }: Route): void {
    const limits = rateLimits?.[stage];
    if (limits === undefined || limits.length === 0) return;
    const { limits: counters, isEachCounted } = this.#options;
    counters.apply(limits, this, isEachCounted);
  }

  authenticate(auth: Auth): Principal | Promise<Principal> {
    const { pair, maySendTokens } = this.#options;
    const token = readBearerToken(auth, this.#head);
    if (!pair.areTokensEqual) {
      if (!maySendTokens) throw new UnknownFact('token');
      return auth.verifier.cached(token) ?? this.#verify(auth.verifier, auth, token);
    }
    const { principal, refusal, route } = this.exchange;
    // At login, the principal is the user of the token in the response.
    if (route?.access === 'protected' && route.login === undefined && principal !== undefined) return principal;
    if (refusal?.code === 'token_invalid') throw refusal;
    const { verifier } = pair.active.auth ?? auth;
    return verifier.cached(token) ?? this.#verify(verifier, auth, token);
  }

  authorize(auth: Auth, principal: Principal): void {
    this.principal = principal;
    authorize(auth, principal);
  }

  validateParameters({ parameters }: Route): void | Promise<void> {
    const { path, query } = this.target as RequestTarget;
    const { rawHeaders } = this.request;
    const result = parameters?.validateWithinBudget(path, query, rawHeaders, CANDIDATE_CLIENT) ?? [];
    if (!(result instanceof Promise)) return this.#refuseInvalid('parameter_invalid', { violations: result });
    return cancellable(result, (validated) => this.#refuseInvalid('parameter_invalid', validated));
  }

  readBody({ body: rule }: Route): void | Promise<void> {
    if (rule === undefined) return;
    const isValidated = checkBodyHead(this, this.#head, rule);
    this.#checkSize(rule);
    if (!isValidated) return;
    if (rule.validate === undefined) return this.#validateStream(rule);
    const result = rule.validate(this.#bytes(), CANDIDATE_CLIENT);
    if (!(result instanceof Promise)) return this.#acceptBody(result);
    return cancellable(result, (validated) => this.#acceptBody(validated));
  }

  refuseOrReport(refusal: Refusal): void {
    if (this.route.validation === 'enforce') throw refusal;
  }

  /** A rate limit that only reports changes no outcome. */
  addReport(): void {}

  get #isHeadEqual(): boolean {
    return this.#options.pair.isHeadEqual;
  }

  get #head(): RequestHead {
    return this.head as RequestHead;
  }

  async #verify(verifier: Verifier, auth: Auth, token: string): Promise<Principal> {
    const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
    const result = await verifier.verify(token, { key: CANDIDATE_CLIENT, signal });
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
    const copy = this.#copy;
    if (copy !== undefined && copy.size > limitBytes) throw new Refusal('body_too_large');
    if (copy?.isComplete !== true) throw new UnknownFact('body');
  }

  #validateStream({ streamValidatorFor }: BodyRule): void {
    const validator = streamValidatorFor?.(this.#head.contentType ?? '');
    if (validator === undefined || this.#head.body === undefined) return;
    const violation = validator.write(this.#bytes()) ?? validator.end();
    if (violation !== undefined) this.refuseOrReport(new Refusal('body_invalid', { errors: [violation] }));
  }

  #bytes(): Buffer {
    if (this.#head.body === undefined) return Buffer.alloc(0);
    const bytes = this.#copy?.bytes();
    if (bytes === undefined) throw new UnknownFact('body');
    return bytes;
  }

  get #copy(): KeptBody | undefined {
    const { bodyCopy } = this.exchange;
    return bodyCopy instanceof KeptBody ? bodyCopy : undefined;
  }
}

/** True if the candidate would accept the request as a handshake. The active plan does not if the client has closed its side. */
function isHandshake({ request, handshake }: Exchange, { active, candidate }: PlanPair): boolean {
  return (
    isWebSocketHandshake(candidate, request) && (handshake !== undefined || !isWebSocketHandshake(active, request))
  );
}

/** Node counts the request target, and the names and values of the headers with some of the white space around them. */
const MAX_SPACE_BYTES = 256;

/** Refuses a head that Node's parser would refuse by a lower limit. @throws Refusal `headers_too_large`; UnknownFact */
function checkHeadSize({ url = '', rawHeaders }: Exchange['request'], limitBytes: number): void {
  const bytes = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  if (bytes >= limitBytes) throw new Refusal('headers_too_large');
  if (bytes + MAX_SPACE_BYTES >= limitBytes) throw new UnknownFact('head');
}

/** Returns a promise that accepts the result of a validation and can be cancelled like it. */
function cancellable(work: CancellablePromise, accept: (result: ValidationResult) => void): Promise<void> {
  return Object.assign(work.then(accept), { cancel: work.cancel });
}
