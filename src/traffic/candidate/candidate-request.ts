import type { Exchange } from '../../engine/gateway/exchange.ts';
import { PlannedRequest } from '../../engine/gateway/request/planned-request.ts';
import type { RequestTarget } from '../../engine/gateway/request/request-head.ts';
import { Refusal, type TokenErrorCode } from '../../engine/gateway/response/refusal.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { RateLimitStage, RouteRateLimits } from '../../engine/rate-limits/rate-limit.ts';
import type { Auth, Principal, Verifier } from '../../engine/tokens/verifier.ts';
import type { BodyRule, CancellablePromise, ValidationResult } from '../../engine/validation/request-rules.ts';
import { UnknownFact } from '../outcome.ts';
import type { CandidateLimits, CountedCandidate } from './candidate-limits.ts';
import type { PlanPair } from './plan-pair.ts';
import { KeptBody } from './shared-comparison.ts';

/** All work for the candidate counts as that of one client, so that it takes no more than the share of one. */
const CANDIDATE_CLIENT = 'candidate';
/** The time limit of a token. */
const TOKEN_TIMEOUT_MS = 2_000;

/** The steps of a request that was served by the active plan, for the candidate. They send nothing to an upstream or a store. */
export class CandidateRequest extends PlannedRequest implements CountedCandidate {
  readonly exchange: Exchange;
  readonly id: string;
  readonly pseudonym: string;
  // The steps that read these members follow the ones that store them.
  declare head: NonNullable<Exchange['head']>;
  declare target: RequestTarget;
  declare route: Route;
  readonly #pair: PlanPair;
  readonly #limits: CandidateLimits;
  readonly #maySendTokens: boolean;

  /** Takes an exchange that the active plan has decided. `maySendTokens` lets its token leave the process. */
  constructor(exchange: Exchange, pair: PlanPair, limits: CandidateLimits, maySendTokens: boolean) {
    super(pair.candidate, exchange.request, exchange.connection, exchange.mayUpgrade);
    this.exchange = exchange;
    this.id = exchange.id;
    this.pseudonym = pair.candidate.server.via ?? exchange.pseudonym;
    this.#pair = pair;
    this.#limits = limits;
    this.#maySendTokens = maySendTokens;
    if (!pair.isHeadEqual) return;
    if (exchange.head !== undefined) this.head = exchange.head;
    if (exchange.target !== undefined) this.target = exchange.target;
  }

  override readHead(plan: Plan): void {
    const { headerLimitBytes } = plan.server;
    if (headerLimitBytes < this.#pair.active.server.headerLimitBytes) checkHeadSize(this.request, headerLimitBytes);
    super.readHead(plan);
  }

  protected beginTrace(): void {}

  applyRateLimits(stage: RateLimitStage, limits: RouteRateLimits): void {
    if (limits[stage].length > 0) this.#limits.apply(limits[stage], this);
  }

  authenticate(auth: Auth): Principal | Promise<Principal> {
    const token = this.readToken(auth);
    if (!this.#pair.areTokensEqual) {
      if (!this.#maySendTokens) throw new UnknownFact('token');
      return this.#verify(auth.verifier, auth, token);
    }
    const { principal, refusal, route } = this.exchange;
    if (route?.access === 'protected' && route.auth !== undefined && route.auth.tokensKey === auth.tokensKey) {
      // At login, the principal is the user of the token in the response.
      if (route.login === undefined && principal !== undefined) return principal;
      // The challenge is that of this plan.
      if (refusal?.code === 'token_invalid') return this.principalOf(auth, { code: refusal.reason as TokenErrorCode });
    }
    return this.#verify(this.#pair.active.auth?.verifier ?? auth.verifier, auth, token);
  }

  validateParameters({ parameters }: Route): void | Promise<void> {
    const { path, query } = this.target;
    const { rawHeaders } = this.request;
    const result = parameters?.validateWithinBudget(path, query, rawHeaders, CANDIDATE_CLIENT) ?? [];
    if (!(result instanceof Promise)) return this.#refuseInvalid('parameter_invalid', { violations: result });
    return cancellable(result, (validated) => this.#refuseInvalid('parameter_invalid', validated));
  }

  readBody({ body: rule }: Route): void | Promise<void> {
    if (rule === undefined) return;
    const isValidated = this.checkBodyHead(rule);
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

  #verify(verifier: Verifier, auth: Auth, token: string): Principal | Promise<Principal> {
    return verifier.cached(token, auth.issuers) ?? this.#verifyUncached(verifier, auth, token);
  }

  async #verifyUncached(verifier: Verifier, auth: Auth, token: string): Promise<Principal> {
    const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
    const result = await verifier.verify(token, { key: CANDIDATE_CLIENT, signal }, auth.issuers);
    if (signal.aborted) throw new UnknownFact('timeout');
    return this.principalOf(auth, result);
  }

  #refuseInvalid(code: 'parameter_invalid' | 'body_invalid', { violations, overload }: Partial<ValidationResult>) {
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
    if (this.head.body !== 'chunked') return;
    const copy = this.#copy;
    if (copy !== undefined && copy.size > limitBytes) throw new Refusal('body_too_large');
    if (copy?.isComplete !== true) throw new UnknownFact('body');
  }

  #validateStream({ streamValidatorFor }: BodyRule): void {
    const validator = streamValidatorFor?.(this.head.contentType ?? '');
    if (validator === undefined || this.head.body === undefined) return;
    const violation = validator.write(this.#bytes()) ?? validator.end();
    if (violation !== undefined) this.refuseOrReport(new Refusal('body_invalid', { errors: [violation] }));
  }

  #bytes(): Buffer {
    if (this.head.body === undefined) return Buffer.alloc(0);
    const bytes = this.#copy?.bytes();
    if (bytes === undefined) throw new UnknownFact('body');
    return bytes;
  }

  get #copy(): KeptBody | undefined {
    const { bodyCopy } = this.exchange;
    return bodyCopy instanceof KeptBody ? bodyCopy : undefined;
  }
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
