import { REFUSALS, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { RateLimitStage } from '../../engine/rate-limits/rate-limit.ts';
import { stepOfRefusal } from '../../prove/testing/route-refusals.ts';
import type { LoggedRequest } from '../access-log/logged-request.ts';
import { UNDECIDED_REFUSALS, type UnknownReason, UPSTREAM_REFUSALS } from '../outcome.ts';

/** The steps of a request at which a gateway can refuse it, in their order. */
export const STEPS = [
  'message',
  'path',
  'route',
  'origin',
  'match',
  'token',
  'role',
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
export type LoggedEnd =
  | { readonly kind: 'refused'; readonly step: Step; readonly code: RefusalCode }
  | { readonly kind: 'forwarded' | 'server-options' | 'preflight'; readonly step: Step }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason };

/** Returns the step at which a logged request was refused, or how it ended without a refusal. */
export function endOf(request: LoggedRequest, plan: Plan): LoggedEnd {
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

function endWithoutRefusal({ kind, route, path, method, status, isForwarded }: LoggedRequest): LoggedEnd {
  if (route !== undefined) return isForwarded ? FORWARDED : CLIENT_LEFT;
  if (status !== 204 || method !== 'OPTIONS') return CLIENT_LEFT;
  if (kind === 'server-options' || path === undefined) return { kind: 'server-options', step: 'path' };
  return { kind: 'preflight', step: 'route' };
}
