import { Refusal } from '../../engine/gateway/response/refusal.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { limitDefinition, type RateLimit, type RateLimitStage } from '../../engine/rate-limits/rate-limit.ts';
import type { LoggedRequest } from '../access-log/logged-request.ts';
import { UnknownFact } from '../outcome.ts';
import type { LimitUse } from './limit-effects.ts';
import type { LoggedFacts } from './logged-facts.ts';

/**
 * Applies the rate limits of a stage to a logged request. The log shows the decisions of the limits that applied to the request.
 *
 * @throws Refusal or UnknownFact
 */
export function checkRateLimits(stage: RateLimitStage, route: Route, facts: LoggedFacts, use: LimitUse): void {
  for (const limit of route.rateLimits?.[stage] ?? []) use.reached.add(limit);
  const limits = (route.rateLimits?.[stage] ?? []).filter(({ mode }) => mode === 'enforce');
  if (limits.length === 0) return;
  const { request, logged } = facts;
  const result = facts.resultOf(stage);
  if (logged === undefined || result === undefined) throw new UnknownFact('rate-limit');
  const before = logged.route.rateLimits?.[stage] ?? [];
  const twins = limits.map((limit) => before.find((one) => isEqual(one, limit, logged.route.id === route.id)));
  if (result === 'refused') {
    // A limit that is not known can refuse the request only with the same code, unless its key is missing.
    const isDecided =
      limits.some(({ id }) => id === request.limit) &&
      limits.every(({ missing }, index) => twins[index] !== undefined || missing !== 'refuse');
    const refusing = twins.find((twin) => twin?.id === request.limit);
    if (!isDecided || refusing === undefined) throw new UnknownFact('rate-limit');
    use.relied.set(refusing, true);
    throw refusalOf(request.refusal, refusing);
  }
  for (const twin of twins) checkReported(twin, request, logged.route, use);
}

/** Applies a limit that only reported. @throws Refusal or UnknownFact */
function checkReported(twin: RateLimit | undefined, request: LoggedRequest, route: Route, use: LimitUse): void {
  if (twin === undefined) throw new UnknownFact('rate-limit');
  const code = REPORTED_CODES.find((reported) => request.reported.includes(reported));
  use.relied.set(twin, false);
  if (twin.mode === 'enforce' || code === undefined) return;
  const reporting = Object.values(route.rateLimits ?? {})
    .flat()
    .filter(({ mode }) => mode === 'report');
  // A refused request would not have counted as a failure.
  if (reporting.length > 1 || twin.failures !== undefined) throw new UnknownFact('rate-limit');
  use.relied.set(twin, true);
  throw refusalOf(code, twin);
}

const REPORTED_CODES = ['rate_limit_exceeded', 'rate_limit_key_missing', 'rate_limit_unavailable'] as const;

function refusalOf(code: string | undefined, { id }: RateLimit): Refusal {
  if (code === 'rate_limit_unavailable') throw new UnknownFact('no-decision');
  return new Refusal(code === 'rate_limit_key_missing' ? code : 'rate_limit_exceeded', { limit: id });
}

/** True if two limits count alike and allow the same. */
function isEqual(one: RateLimit, other: RateLimit, isSameRoute: boolean): boolean {
  if (other.kinds.includes('route') && !isSameRoute) return false;
  return rateOf(one) === rateOf(other);
}

function rateOf(limit: RateLimit): string {
  return limitDefinition({ ...limit, mode: 'enforce', reportUntil: undefined });
}
