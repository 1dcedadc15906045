import { Refusal, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { RateLimit } from '../../engine/rate-limits/rate-limit.ts';
import type { LoggedRequest } from '../access-log/logged-request.ts';
import type { KeyedPaths } from './keyed-paths.ts';
import { endOf, type LoggedEnd, STEPS, type Step } from './logged-end.ts';
import type { RouteRules } from './route-rules.ts';

/** The manifest that wrote a log. */
export interface LogManifest {
  readonly plan: Plan;
  readonly routes: ReadonlyMap<string, Route>;
  readonly rulesOf: (route: Route) => RouteRules;
  readonly keyedPaths: KeyedPaths;
  /** True for a media type that the log names. It writes `other` for the others. */
  readonly isNamedType: (mediaType: string) => boolean;
}

/** The facts that a log has about one request. */
export class LoggedFacts {
  readonly request: LoggedRequest;
  readonly end: LoggedEnd;
  readonly loggedPlan: Plan;
  /** The rules of the logged route; `undefined` if the request had none. */
  readonly logged: RouteRules | undefined;
  readonly isNamedType: LogManifest['isNamedType'];
  /** True if the path without surrogates may match another route of the new plan. */
  readonly mayMatchOther: boolean;
  /** The path without surrogates. */
  readonly knownPath: string | undefined;

  constructor(request: LoggedRequest, { plan, routes, rulesOf, keyedPaths, isNamedType }: LogManifest) {
    const route = routes.get(request.route ?? '');
    const isPathKeyed = request.isKeyed || keyedPaths.isKeyed(route);
    this.request = request;
    this.end = endOf(request, plan);
    this.loggedPlan = plan;
    this.logged = route && rulesOf(route);
    this.isNamedType = isNamedType;
    this.mayMatchOther = isPathKeyed && keyedPaths.mayMatchOther(request.path ?? '', route);
    this.knownPath = isPathKeyed ? undefined : request.path;
  }

  /** True if the log has the facts that `log.replay` adds. */
  get hasReplayFacts(): boolean {
    return this.request.manifest !== undefined;
  }

  get refusalCode(): RefusalCode {
    return this.request.refusal as RefusalCode;
  }

  /** The roles of the caller. A response of a login service has replaced them by those of its token. */
  get roles(): readonly string[] | undefined {
    const isReplaced = this.logged?.route.login !== undefined && this.request.isForwarded;
    return isReplaced ? undefined : this.request.roles;
  }

  /** True if the gateway has read the complete body. */
  get isBodyComplete(): boolean {
    const { request, end, logged } = this;
    const isBuffered = logged?.route.body?.validate !== undefined;
    if (end.kind === 'refused') return isBuffered && end.code === 'body_invalid';
    const { isForwarded, isAborted, status = 0 } = request;
    // A service may respond before it has read the body, but not with success.
    return isForwarded && (isBuffered || (!isAborted && status >= 200 && status < 300));
  }

  /** The rate limits that have counted the request. */
  get countingLimits(): readonly RateLimit[] {
    const { end, logged, request } = this;
    if (end.kind === 'refused' && LIMIT_STAGES.some((stage) => stage === end.step)) return [];
    const reached = LIMIT_STAGES.flatMap((stage) =>
      this.resultOf(stage) === undefined ? [] : (logged?.route.rateLimits?.[stage] ?? []),
    );
    // A limit that only reports does not count a request that it would refuse.
    const isReported = request.reported.includes('rate_limit_exceeded');
    return isReported ? reached.filter(({ mode }) => mode === 'enforce') : reached;
  }

  /** Returns the logged result of a step; `undefined` if the request may not have reached it. */
  resultOf(step: Step): 'passed' | 'refused' | undefined {
    const { end } = this;
    if (end.kind === 'unknown' || this.logged === undefined) return undefined;
    const index = STEPS.indexOf(step);
    const endIndex = STEPS.indexOf(end.step);
    if (index === endIndex) return end.kind === 'refused' ? 'refused' : 'passed';
    return index < endIndex ? 'passed' : undefined;
  }

  /**
   * True if the request may have skipped steps before the one that refused it: on a route with a limit by the body, the body is read
   * and validated even if another limit has refused the request.
   */
  get mayHaveSkippedSteps(): boolean {
    const { end, logged } = this;
    const limits = logged?.route.rateLimits;
    if (end.kind !== 'refused' || end.step !== 'body' || limits === undefined) return false;
    return limits.validate.length > 0 && limits.match.length + limits.authorize.length > 0;
  }
}

const LIMIT_STAGES = ['match', 'authorize', 'validate'] as const;

/** Returns a refusal with the detail that a route gives to it. */
export function createRefusal(
  code: RefusalCode,
  route: Route | undefined,
  { reason, limit }: { readonly reason?: string | undefined; readonly limit?: string | undefined } = {},
): Refusal {
  const detail =
    code === 'role_not_allowed'
      ? route?.auth?.role.message
      : code === 'media_type_unsupported'
        ? route?.body?.types?.refusalDetail
        : undefined;
  return new Refusal(code, {
    ...(detail !== undefined && { detail }),
    ...(reason !== undefined && { reason }),
    ...(limit !== undefined && { limit }),
  });
}
