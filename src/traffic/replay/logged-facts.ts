import { REFUSALS, Refusal, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { RateLimit, RateLimitStage } from '../../engine/rate-limits/rate-limit.ts';
import { stepOfRefusal } from '../../prove/testing/route-refusals.ts';
import type { LoggedRequest } from '../access-log/logged-request.ts';
import { UNDECIDED_REFUSALS, type UnknownReason, UPSTREAM_REFUSALS } from '../outcome.ts';
import type { KeyedPaths, RouteRules } from './route-rules.ts';

/** The manifest that wrote a log. */
export interface LogManifest {
  readonly plan: Plan;
  readonly routes: ReadonlyMap<string, Route>;
  readonly rulesOf: (route: Route) => RouteRules;
  readonly keyedPaths: KeyedPaths;
  /** True for a media type that the log names. It writes `other` for the others. */
  readonly isNamedType: (mediaType: string) => boolean;
}

export type LoggedFacts = ReturnType<typeof createLoggedFacts>;

export function createLoggedFacts(request: LoggedRequest, log: LogManifest) {
  const { isForwarded, isAborted, status = 0, reported } = request;
  const route = log.routes.get(request.route ?? '');
  const end = endOf(request, log.plan);
  const logged = route && log.rulesOf(route);
  const limits = route?.rateLimits;
  const isPathKeyed = request.isKeyed || log.keyedPaths.isKeyed(route);
  const isBuffered = route?.body?.validate !== undefined;
  // The refusal of the body would have come first, see `decide`.
  const isBodyValid =
    end.kind === 'refused' && end.code === 'rate_limit_exceeded' && (limits?.validate.length ?? 0) > 0;
  /** Returns the logged result of a step; `undefined` if the request may not have reached it. */
  const resultOf = (step: Step): 'passed' | 'refused' | undefined => {
    if (end.kind === 'unknown' || logged === undefined) return undefined;
    const index = STEPS.indexOf(step);
    const endIndex = STEPS.indexOf(end.step);
    if (step === 'body' && isBodyValid) return 'passed';
    if (index === endIndex) return end.kind === 'refused' ? 'refused' : 'passed';
    return index < endIndex ? 'passed' : undefined;
  };
  return {
    request,
    end,
    /** The rules of the logged route; `undefined` if the request had none. */
    logged,
    loggedPlan: log.plan,
    isNamedType: log.isNamedType,
    /** True if the path without surrogates may match another route of the new plan. */
    mayMatchOther: isPathKeyed && log.keyedPaths.mayMatchOther(request.path ?? '', route),
    /** The path without surrogates. */
    knownPath: isPathKeyed ? undefined : request.path,
    /** True if the log has the facts that `log.replay` adds. */
    hasReplayFacts: request.manifest !== undefined,
    refusalCode: request.refusal as RefusalCode,
    /** The roles of the caller. A response of a login service has replaced them by those of its token. */
    roles: route?.login !== undefined && isForwarded ? undefined : request.roles,
    /** True if the gateway has read the complete body. A service may respond before that, but not with success. */
    isBodyComplete:
      end.kind === 'refused'
        ? isBuffered && end.code === 'body_invalid'
        : isForwarded && (isBuffered || (!isAborted && status >= 200 && status < 300)),
    resultOf,
    countingLimits: (): readonly RateLimit[] => {
      if (end.kind === 'refused' && LIMIT_STAGES.some((stage) => stage === end.step)) return [];
      const reached = LIMIT_STAGES.flatMap((stage) => (resultOf(stage) && limits?.[stage]) ?? []);
      // A limit that only reports does not count a request that it would refuse.
      return reported.includes('rate_limit_exceeded') ? reached.filter(({ mode }) => mode === 'enforce') : reached;
    },
    /** True if steps before the refusing one may be missing: a limit by the body reads a body that another limit has refused. */
    mayHaveSkippedSteps:
      end.kind === 'refused' &&
      end.step === 'body' &&
      limits !== undefined &&
      limits.validate.length > 0 &&
      limits.match.length + limits.authorize.length > 0,
  };
}

const LIMIT_STAGES = ['match', 'authorize', 'validate'] as const;

/** Returns a refusal with the detail that a route gives to it. */
export function createRefusal(
  code: RefusalCode,
  route: Route | undefined,
  { reason, limit, issuer }: Partial<Pick<LoggedRequest, 'reason' | 'limit' | 'issuer'>> = {},
): Refusal {
  const detail =
    code === 'role_not_allowed'
      ? route?.auth?.role.messageFor(issuer)
      : code === 'media_type_unsupported'
        ? route?.body?.types?.refusalDetail
        : undefined;
  return new Refusal(code, {
    ...(detail !== undefined && { detail }),
    ...(reason !== undefined && { reason }),
    ...(limit !== undefined && { limit }),
  });
}

/** The steps of a request at which a gateway can refuse it, in their order. */
const STEPS = [
  'message',
  'path',
  'route',
  'origin',
  'match',
  'token',
  'role',
  'claims',
  'authorize',
  'parameters',
  'body',
  'validate',
  'response',
  'end',
] as const;

/** `match`, `authorize` and `validate` are the rate limits of these stages; `response` is that of a login service. */
export type Step = (typeof STEPS)[number];

/** The result of a logged request. */
type LoggedEnd =
  | { readonly kind: 'refused'; readonly step: Step; readonly code: RefusalCode }
  | { readonly kind: 'forwarded' | 'own' | 'server-options' | 'preflight'; readonly step: Step }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason };

/** Returns the step at which a logged request was refused, or how it ended without a refusal. */
function endOf(request: LoggedRequest, plan: Plan): LoggedEnd {
  const { refusal, reason, path, route, method, isForwarded } = request;
  if (refusal === undefined) return endWithoutRefusal(request);
  if (!Object.hasOwn(REFUSALS, refusal)) return NO_DECISION;
  const code = refusal as RefusalCode;
  if (UPSTREAM_REFUSALS.has(code)) return route === undefined ? NO_DECISION : FORWARDED;
  if (reason === 'client_closed') return CLIENT_LEFT;
  if (UNDECIDED_REFUSALS.has(code)) return NO_DECISION;
  const refusedAt = (step: Step): LoggedEnd => ({ kind: 'refused', step, code });
  // Node's parser refused it, or it is a CONNECT.
  if (method === undefined) return refusedAt('message');
  if (code === 'message_malformed') return refusedAt(reason?.startsWith('target_') === true ? 'path' : 'message');
  if (code === 'path_ambiguous' && path !== undefined) return refusedAt('route');
  if (code === 'role_not_allowed') return refusedAt(isForwarded ? 'response' : 'role');
  if (code === 'rate_limit_exceeded' || code === 'rate_limit_key_missing') {
    const stage: RateLimitStage | undefined = plan.rateLimits.find(({ id }) => id === request.limit)?.stage;
    return stage === undefined ? NO_DECISION : refusedAt(stage);
  }
  const step = STEPS.find((name) => name === stepOfRefusal(code));
  return step === undefined ? NO_DECISION : refusedAt(step);
}

const FORWARDED: LoggedEnd = { kind: 'forwarded', step: 'end' };
const NO_DECISION: LoggedEnd = { kind: 'unknown', reason: 'no-decision' };
const CLIENT_LEFT: LoggedEnd = { kind: 'unknown', reason: 'client-left' };

function endWithoutRefusal({ kind, route, path, method, status, isForwarded, upstream }: LoggedRequest): LoggedEnd {
  if (route !== undefined && upstream === undefined && status !== undefined) return { kind: 'own', step: 'end' };
  if (route !== undefined) return isForwarded ? FORWARDED : CLIENT_LEFT;
  if (status !== 204 || method !== 'OPTIONS') return CLIENT_LEFT;
  if (kind === 'server-options' || path === undefined) return { kind: 'server-options', step: 'path' };
  return { kind: 'preflight', step: 'route' };
}
