import type { RequestSteps } from '../../engine/gateway/decide.ts';
import { type RequestTarget, readRequestTarget } from '../../engine/gateway/request/request-head.ts';
import { Refusal, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { RateLimitStage } from '../../engine/rate-limits/rate-limit.ts';
import type { Auth } from '../../engine/tokens/verifier.ts';
import { UnknownFact, type UnknownReason } from '../outcome.ts';
import { checkRole, checkToken, type LoggedCaller } from './check-caller.ts';
import { type CheckResult, checkBody, checkParameters } from './check-content.ts';
import { checkRateLimits, LimitUse } from './limit-effects.ts';
import { createRefusal, type LoggedFacts, type Step } from './logged-facts.ts';
import {
  hasEqualBody,
  hasEqualParameters,
  haveEqualHandshakes,
  isEqualUntilForwarded,
  type RouteRules,
} from './route-rules.ts';

/**
 * The steps of a logged request for any plan. Each step first uses the facts of the log. If they do not suffice and the plan that
 * wrote the log has an equal rule, the step has its logged result. Otherwise it throws an `UnknownFact`.
 */
export class LoggedSteps implements RequestSteps<LoggedCaller> {
  readonly limits = new LimitUse();
  readonly #facts: LoggedFacts;
  readonly #rulesOf: (route: Route) => RouteRules;
  #rules: RouteRules | undefined;
  #plan: Plan | undefined;

  constructor(facts: LoggedFacts, rulesOf: (route: Route) => RouteRules) {
    this.#facts = facts;
    this.#rulesOf = rulesOf;
  }

  get route(): Route | undefined {
    return this.#rules?.route;
  }

  get method(): string {
    return this.#facts.request.method ?? '';
  }

  /** True if the request may be a handshake. A request with an upgrade has an equal origin whether it is one or not. */
  get isHandshake(): boolean {
    return this.method === 'GET' && this.#rules?.route.websocket === true;
  }

  readHead(plan: Plan): void {
    this.#plan = plan;
    const { request, end, loggedPlan } = this.#facts;
    const before = loggedPlan.server;
    const { maxHeaders, headerLimitBytes } = plan.server;
    const isWider = maxHeaders >= before.maxHeaders && headerLimitBytes >= before.headerLimitBytes;
    const isEqual = maxHeaders === before.maxHeaders && headerLimitBytes === before.headerLimitBytes;
    const isTooLarge = end.kind === 'refused' && end.code === 'headers_too_large';
    if (isTooLarge ? !isEqual : !isWider) throw new UnknownFact('head');
    // The log does not have the path of such a request.
    if (request.reason?.startsWith('handshake_') === true && !haveEqualHandshakes(plan, loggedPlan))
      throw new UnknownFact('head');
    if (end.kind === 'refused' && end.step === 'message') throw this.#loggedRefusal(end.code);
    if (request.path === undefined && end.kind === 'forwarded') throw new UnknownFact('no-decision');
  }

  isServerOptions(): boolean {
    return this.#facts.end.kind === 'server-options';
  }

  readTarget(plan: Plan): RequestTarget {
    const { router } = plan;
    const { request, end, loggedPlan, mayMatchOther } = this.#facts;
    if (mayMatchOther && plan !== loggedPlan) throw new UnknownFact('path');
    const { path, reason } = request;
    if (path !== undefined) return readRequestTarget(path, undefined, router.keepsEncodedSlash);
    if (end.kind !== 'refused') throw new UnknownFact('no-decision');
    // A needless escape may be an encoded slash.
    const isLaxer = router.keepsEncodedSlash && !loggedPlan.router.keepsEncodedSlash;
    if (isLaxer && reason === 'path_needless_escape') throw new UnknownFact('head');
    throw this.#loggedRefusal(end.code);
  }

  isPreflight(): boolean {
    const { request, end, loggedPlan, hasReplayFacts } = this.#facts;
    if (request.method !== 'OPTIONS') return false;
    if (request.kind === 'preflight' || end.kind === 'preflight') return true;
    // The only refusal of a preflight is that of its path.
    const isDecided = hasReplayFacts || request.refusal !== 'route_unknown';
    const isRecognized = loggedPlan.cors !== undefined && isDecided;
    if (isRecognized || request.receivedBytes > 0) return false;
    // Without a route, both have the same result.
    if (this.#plan?.router.allowedMethods(request.path ?? '').length === 0) return false;
    throw new UnknownFact('origin');
  }

  setRoute(route: Route): void {
    this.#rules = this.#rulesOf(route);
    const { mayHaveSkippedSteps, logged, refusalCode } = this.#facts;
    if (!mayHaveSkippedSteps) return;
    if (logged === undefined || !isEqualUntilForwarded(this.#rules, logged)) throw new UnknownFact('rate-limit');
    for (const limit of this.#facts.countingLimits()) this.limits.reached.add(limit);
    throw this.#loggedRefusal(refusalCode);
  }

  checkOrigin(): void {
    const { request, hasReplayFacts, logged } = this.#facts;
    const result = this.#resultOf('origin');
    const isEqual = logged !== undefined && logged.origins === this.#matched.origins;
    if (isEqual && result === 'passed') return;
    if (isEqual && result !== undefined) throw result;
    if (hasReplayFacts && request.kind !== 'websocket' && logged?.route.websocket === true) return;
    throw new UnknownFact('origin');
  }

  applyRateLimits(stage: RateLimitStage): void {
    checkRateLimits(stage, this.#matched.route, this.#facts, this.limits);
  }

  authenticate(auth: Auth): LoggedCaller {
    const { request, logged, hasReplayFacts } = this.#facts;
    const { credential } = request;
    if ((credential !== undefined && credential !== 'bearer') || request.refusal === 'token_missing')
      throw new Refusal('token_missing');
    const result = logged?.route.access === 'protected' ? this.#resultOf('token') : undefined;
    const loggedAuth = logged?.route.auth;
    // At login, the line has the issuer of the token in the response.
    const issuer = logged?.route.login === undefined ? request.issuer : undefined;
    const checked = result && loggedAuth && checkToken(auth, loggedAuth, result, issuer);
    if (checked === undefined || loggedAuth === undefined)
      throw new UnknownFact(hasReplayFacts ? 'token' : 'not-logged');
    if (checked !== 'passed') throw checked;
    const role = this.#resultOf('role');
    const rule = loggedAuth.role;
    return {
      issuer,
      roles: this.#facts.roles,
      applied: role === undefined ? undefined : { rule, isAllowed: role === 'passed' },
    };
  }

  authorize(auth: Auth, caller: LoggedCaller, claims: Route['claims']): void {
    this.#require(checkRole(auth, caller, this.#facts.loggedPlan.auth), 'role_not_allowed');
    if (claims === undefined || claims.headers.length === 0) return;
    const isEqual = this.#facts.logged?.route.claims?.key === claims.key;
    const result = isEqual ? this.#resultOf('claims') : undefined;
    if (result === undefined) throw new UnknownFact('claims');
    if (result !== 'passed') throw result;
  }

  validateParameters(route: Route): void {
    if (route.validation === 'report') return;
    const { logged } = this.#facts;
    const rules = this.#matched;
    const violations = this.#violationsOf('parameters');
    const isSatisfied = violations !== undefined && violations.length === 0;
    const result = checkParameters(rules, this.#facts, isSatisfied ? logged : undefined);
    const isViolated = violations?.includes('parameter_invalid') === true && hasEqualParameters(rules, logged);
    this.#require(isViolated && result !== 'valid' ? 'invalid' : result, 'parameter_invalid');
  }

  readBody(route: Route): void {
    const rules = this.#matched;
    const violations = this.#violationsOf('body');
    let code: RefusalCode | undefined;
    try {
      code = checkBody(rules, this.#facts, violations);
    } catch (error) {
      const isKnown = violations !== undefined && hasEqualBody(rules, this.#facts.logged);
      if (!(error instanceof UnknownFact) || !isKnown) throw error;
      const [first] = violations;
      code = route.validation === 'enforce' || first === 'body_too_large' ? first : undefined;
    }
    if (code !== undefined) throw this.#refusal(code);
  }

  /** Applies the check of the response of a login service, after the request was forwarded. @throws Refusal or UnknownFact */
  checkLogin(route: Route): void {
    const { request, logged, loggedPlan, hasReplayFacts, end } = this.#facts;
    const { login, auth } = route;
    if (login === undefined || auth === undefined) return;
    const isEqual = logged?.login === this.#matched.login && loggedPlan.auth?.verifier.key === auth.verifier.key;
    const result = this.#resultOf('response');
    if (!isEqual || result === undefined) throw new UnknownFact('login-response');
    // The upstream has sent no response.
    if (end.kind === 'forwarded' && request.refusal !== undefined) return;
    if (end.kind === 'refused' && end.code === 'login_response_refused') throw this.#loggedRefusal(end.code);
    const rule = logged?.route.auth?.role;
    // A response without a token passes.
    const { isAny = true, rules } = loggedPlan.auth?.role ?? {};
    const hasNoToken =
      rules === undefined ? hasReplayFacts && request.roles === undefined && !isAny : request.issuer === undefined;
    if (result === 'passed' && hasNoToken) return;
    const { issuer, roles } = request;
    const caller = { issuer, roles, applied: rule && { rule, isAllowed: result === 'passed' } };
    this.#require(checkRole(auth, caller, loggedPlan.auth), 'role_not_allowed');
  }

  get #matched(): RouteRules {
    return this.#rules as RouteRules;
  }

  /** Returns the logged result of a step; `undefined` if the request did not reach it. */
  #resultOf(step: Step): 'passed' | Refusal | undefined {
    const result = this.#facts.resultOf(step);
    return result === 'refused' ? this.#loggedRefusal(this.#facts.refusalCode) : result;
  }

  /** Returns the violations that the log has of a step, reported ones first; `undefined` if the request did not reach it. */
  #violationsOf(step: 'parameters' | 'body'): readonly RefusalCode[] | undefined {
    const { request, refusalCode } = this.#facts;
    const result = this.#facts.resultOf(step);
    if (result === undefined) return undefined;
    const reported = VIOLATIONS[step].filter((code) => request.reported.includes(code));
    return result === 'refused' ? [...reported, refusalCode] : reported;
  }

  #require(result: CheckResult, code: RefusalCode): void {
    if (result === 'invalid') throw this.#refusal(code);
    if (result !== 'valid') throw new UnknownFact(result satisfies UnknownReason);
  }

  /** Returns the refusal with the detail that the client receives. */
  #refusal(code: RefusalCode): Refusal {
    const { issuer } = this.#facts.request;
    return createRefusal(code, this.#rules?.route, { issuer });
  }

  #loggedRefusal(code: RefusalCode): Refusal {
    return createRefusal(code, this.#rules?.route, this.#facts.request);
  }
}

const VIOLATIONS: Readonly<Record<'parameters' | 'body', readonly RefusalCode[]>> = {
  parameters: ['parameter_invalid'],
  body: ['media_type_unsupported', 'body_invalid'],
};
