import { type Decision, decide } from '../../engine/gateway/decide.ts';
import type { Refusal } from '../../engine/gateway/response/refusal.ts';
import type { RequestHeaderRules } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { rateLimitFields } from '../../engine/rate-limits/rate-limiter.ts';
import { forwardedOutcome, type Outcome, refusedOutcome, thrownOutcome, UnknownFact } from '../outcome.ts';
import { createRefusal, type LoggedFacts } from './logged-facts.ts';
import { LoggedSteps } from './logged-steps.ts';
import type { RouteRules } from './route-rules.ts';

/** Returns what the gateway did, as the log has it. */
export function loggedOutcome({ request, end, logged, loggedPlan, refusalCode }: LoggedFacts): Outcome {
  const { route, upstream = '', path = '', reason, limit } = request;
  if (end.kind === 'unknown') return { kind: 'unknown', route, reason: end.reason };
  if (end.kind === 'refused')
    return refusedOutcome(createRefusal(refusalCode, logged?.route, { reason, limit }), route);
  if (end.kind !== 'forwarded') return respondedOutcome(end.kind, path, loggedPlan);
  if (logged !== undefined)
    return forwardedOutcome(
      logged.route,
      messageOf(logged.route, path, () => []),
    );
  // The plan that is said to have written the log has no such route.
  return { kind: 'forwarded', route: route ?? '', upstream, endpoints: '', message: () => ({ path, headers: [] }) };
}

export type ReplayedOutcome = ReturnType<typeof replayOutcome>;

/** Returns the outcome of a logged request by a plan, with the matched route. */
export function replayOutcome(facts: LoggedFacts, plan: Plan, rulesOf: (route: Route) => RouteRules) {
  const steps = new LoggedSteps(facts, rulesOf);
  const outcome = outcomeOf(steps, facts, plan, rulesOf);
  return { outcome, limits: steps.limits, route: steps.route };
}

function outcomeOf(steps: LoggedSteps, facts: LoggedFacts, plan: Plan, rulesOf: (route: Route) => RouteRules): Outcome {
  try {
    // No step waits, because a log has all its facts at once.
    const decision = decide(plan, steps).next().value as Decision;
    const { path = '' } = facts.request;
    if (typeof decision === 'string') return respondedOutcome(decision, path, plan, facts.loggedPlan);
    steps.checkLogin(decision);
    const headers = () => headerChanges(facts, rulesOf(decision), plan);
    return forwardedOutcome(decision, messageOf(decision, path, headers));
  } catch (error) {
    const { route } = steps;
    return thrownOutcome(error, route?.id, (refusal) => describeResponse(refusal, plan, route, facts.loggedPlan));
  }
}

/** Describes what depends on the plan. @throws UnknownFact, because a log does not have the origin */
function describeResponse(
  { code, headers }: Refusal,
  { auth, cors, server }: Plan,
  route: Route | undefined,
  logged: Plan,
): string {
  if (cors?.key !== logged.cors?.key) throw new UnknownFact('origin');
  const challenge = CHALLENGED.has(code) ? auth?.challengePrefix : undefined;
  return JSON.stringify([challenge, headers['Allow'], rateLimitFields(server, route?.rateLimits)]);
}

/** The refusals with `WWW-Authenticate`. */
const CHALLENGED: ReadonlySet<string> = new Set(['token_missing', 'token_invalid', 'role_not_allowed']);

/** @param headers returns what differs from the headers that the plan of the log sends */
function messageOf({ upstreamPath }: Route, path: string, headers: () => readonly string[]) {
  return () => ({ path: upstreamPath?.(path) ?? path, headers: headers() });
}

/** @param other the plan of the log, whose permissions the origin of the request had or not */
function respondedOutcome(kind: 'server-options' | 'preflight', path: string, plan: Plan, other = plan): Outcome {
  const permissionsOf = ({ cors, router }: Plan) => `${cors?.key} ${cors?.methods ?? router.allowedMethods(path)}`;
  if (kind === 'preflight' && permissionsOf(plan) !== permissionsOf(other)) throw new UnknownFact('origin');
  return { kind: 'responded', status: 204, headers: [] };
}

/** Returns the changes of the headers that the upstream receives. @throws UnknownFact */
function headerChanges({ logged, loggedPlan, request }: LoggedFacts, rules: RouteRules, plan: Plan): readonly string[] {
  const before = logged?.entry.requestHeaders;
  const after = rules.entry.requestHeaders;
  const isUpgraded = (websocket: boolean | undefined) => request.kind === 'websocket' && websocket === true;
  if (isUpgraded(logged?.route.websocket) !== isUpgraded(rules.route.websocket)) return ['Upgrade', ''];
  const set = changedSets(before, after);
  if (set.length > 0) return set;
  const isEqual = JSON.stringify(before) === JSON.stringify(after);
  const mayUpgrade = request.method === 'GET' && logged?.route.websocket !== true && rules.route.websocket;
  const isProxyEqual = loggedPlan.server.keys.trustedProxies === plan.server.keys.trustedProxies;
  if (!isEqual || mayUpgrade || !isProxyEqual) throw new UnknownFact('headers');
  return [];
}

/** Returns the headers that only one of two rules sets, or that they set to different values. */
function changedSets(before: RequestHeaderRules | undefined, after: RequestHeaderRules | undefined): readonly string[] {
  const [one, other] = [before?.set ?? {}, after?.set ?? {}];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name]);
}
