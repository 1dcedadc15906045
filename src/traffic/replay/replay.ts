import { type Decision, decide } from '../../engine/gateway/decide.ts';
import type { Refusal } from '../../engine/gateway/response/refusal.ts';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { createMediaTypeNames } from '../../engine/log/plain-names.ts';
import type { RequestHeaderRules } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { ForwardingRoute, Route } from '../../engine/plan/route-definition.ts';
import type { RateLimit } from '../../engine/rate-limits/rate-limit.ts';
import { rateLimitFields } from '../../engine/rate-limits/rate-limiter.ts';
import type { LoggedRequest, LogLine } from '../access-log/logged-request.ts';
import { type ComparisonResult, compareOutcomes } from '../compare-outcomes.ts';
import { OutcomeComparison } from '../comparison.ts';
import { forwardedOutcome, type Outcome, ownOutcome, refusedOutcome, thrownOutcome, UnknownFact } from '../outcome.ts';
import { type CounterEffects, isIn, LimitEffects } from './limit-effects.ts';
import { createLoggedFacts, createRefusal, type LoggedFacts, type LogManifest } from './logged-facts.ts';
import { LoggedSteps } from './logged-steps.ts';
import { createKeyedPaths, createRulesOf, type ReplaySide, type RouteRules } from './route-rules.ts';
import { createUnusedRoutes } from './unused-routes.ts';

/** The lines of a log that another manifest wrote. */
export interface OtherManifest {
  /** The first 16 hex digits of its SHA-256. */
  readonly hash: string;
  lines: number;
  readonly first: LogLine;
}

interface ReadLines {
  lines: number;
  /** Milliseconds since the Unix epoch; `undefined` without a request. */
  firstTime: number | undefined;
  lastTime: number | undefined;
  /** Lines without the facts that `log.replay` adds. */
  linesWithoutFacts: number;
}

export type ReplayReport = ReturnType<Replay['report']>;

const MAX_WITNESSES = 3;
const MAX_OTHER_MANIFESTS = 20;
const NOT_REPRODUCED: ComparisonResult = { result: 'unknown', reason: 'not-reproduced' };

export type Replay = ReturnType<typeof createReplay>;

/** Decides about the requests of a log by the manifest that wrote it, `old`, and by a new one, and compares the decisions. */
export function createReplay(old: ReplaySide, next: ReplaySide) {
  const { plan, manifest, secrets } = old;
  const nameOf = createMediaTypeNames(manifest.routes, secrets);
  const log: LogManifest = {
    plan,
    routes: new Map(plan.routes.map((route) => [route.id, route])),
    rulesOf: createRulesOf(old),
    keyedPaths: createKeyedPaths(old, next.plan),
    isNamedType: (mediaType) => nameOf(mediaType) === mediaType.toLowerCase(),
  };
  const nextRules = createRulesOf(next);
  const calibration = new OutcomeComparison<LogLine>(MAX_WITNESSES);
  const comparison = new OutcomeComparison<LogLine>(MAX_WITNESSES);
  const limitEffects = new LimitEffects();
  const unused = createUnusedRoutes(plan);
  const otherManifests = new Map<string, OtherManifest>();
  const read: ReadLines = { lines: 0, firstTime: undefined, lastTime: undefined, linesWithoutFacts: 0 };
  return { add, report };

  function add(request: LoggedRequest): void {
    count(request);
    unused.add(request);
    const { effects, ...result } = replay(request);
    const caller = () => request.subject ?? request.client;
    const witness = () => ({ source: request.source, line: request.line });
    calibration.add(result.calibration, request.weight, caller, witness);
    if (effects !== undefined) limitEffects.mark(effects, request);
    if (effects === undefined || effects.relied.size === 0)
      comparison.add(result.comparison, request.weight, caller, witness);
    else limitEffects.hold(result.comparison, effects, request, caller());
  }

  /** Ends the replay. */
  function report() {
    limitEffects.release(comparison);
    return {
      ...read,
      otherManifests: [...otherManifests.values()],
      /** Compares the log with the manifest that is said to have written it. */
      calibration: calibration.report(),
      /** Compares the log with the new manifest, except lines that the calibration did not reproduce. */
      comparison: comparison.report(),
      unused: unused.report(),
    };
  }

  function count({ time, method, manifest, source, line }: LoggedRequest): void {
    read.lines += 1;
    read.firstTime = Math.min(read.firstTime ?? time, time);
    read.lastTime = Math.max(read.lastTime ?? time, time);
    // Bytes that are no request have no facts to log.
    if (manifest === undefined && method !== undefined) read.linesWithoutFacts += 1;
    if (manifest === undefined || plan.hash.startsWith(manifest)) return;
    if (otherManifests.size < MAX_OTHER_MANIFESTS || otherManifests.has(manifest))
      getOrCreate(otherManifests, manifest, () => ({ hash: manifest, lines: 0, first: { source, line } })).lines += 1;
  }

  function replay(request: LoggedRequest) {
    const facts = createLoggedFacts(request, log);
    const logged = loggedOutcome(facts);
    const before = replayOutcome(facts, plan, log.rulesOf);
    const calibration = withSameRoute(compare(logged, before.outcome), request, logged, before.route);
    const after = replayOutcome(facts, next.plan, nextRules);
    const isReproduced = calibration.result !== 'changed';
    const comparison = isReproduced ? compare(withResponse(logged, before.outcome), after.outcome) : NOT_REPRODUCED;
    return { calibration, comparison, effects: effectsOf(facts, after, comparison) };
  }
}

/** Adds the response that the manifest of the log gives to a refused request. */
function withResponse(logged: Outcome, before: Outcome): Outcome {
  return logged.kind === 'refused' && before.kind === 'refused' ? { ...logged, response: before.response } : logged;
}

function compare(from: Outcome, to: Outcome): ComparisonResult {
  try {
    return compareOutcomes(from, to);
  } catch (error) {
    // The message to the upstream is only computed if all else is equal.
    if (error instanceof UnknownFact) return { result: 'unknown', reason: error.reason };
    throw error;
  }
}

/** Returns the result; a change if the old plan matches another route than the logged one. */
function withSameRoute(
  result: ComparisonResult,
  { route: loggedRoute }: LoggedRequest,
  from: Outcome,
  route: Route | undefined,
): ComparisonResult {
  const isOther = route !== undefined && loggedRoute !== undefined && route.id !== loggedRoute;
  if (!isOther || result.result === 'changed' || from.kind === 'unknown') return result;
  const to = { ...from, route: route.id };
  return { result: 'changed', kind: 'other-route', from, to };
}

/** Returns how the new plan changes the counters of rate limits; `undefined` without a limit. */
function effectsOf(
  facts: LoggedFacts,
  { outcome, limits: { reached, relied }, route }: ReplayedOutcome,
  comparison: ComparisonResult,
): CounterEffects | undefined {
  const before = facts.countingLimits();
  const isRefusedByLimit = outcome.kind === 'refused' && outcome.limit !== undefined;
  const isKnown = comparison.result !== 'unknown' || outcome.kind !== 'unknown';
  const possible = isKnown ? [...reached] : Object.values(route?.rateLimits ?? {}).flat();
  const after = isRefusedByLimit ? [] : possible;
  if (before.length === 0 && after.length === 0 && relied.size === 0) return undefined;
  // An outcome that is not known may be counted or not.
  if (!isKnown) return { more: [...before, ...after], fewer: [...before, ...after], reached, relied };
  // A limit that counts failures counts a request by its outcome.
  const isUncertain = ({ failures }: RateLimit) => comparison.result !== 'same' && failures !== undefined;
  const more = [...after.filter((limit) => !isIn(limit, before)), ...before.filter(isUncertain)];
  const fewer = [...before.filter((limit) => !isIn(limit, after)), ...after.filter(isUncertain)];
  return { more, fewer, reached, relied };
}

/** Returns what the gateway did, as the log has it. */
function loggedOutcome({ request, end, logged, loggedPlan, refusalCode }: LoggedFacts): Outcome {
  const { route, upstream = '', path = '', reason, limit, issuer } = request;
  if (end.kind === 'unknown') return { kind: 'unknown', route, reason: end.reason };
  if (end.kind === 'refused')
    return refusedOutcome(createRefusal(refusalCode, logged?.route, { reason, limit, issuer }), route);
  if (end.kind === 'own')
    return routeOutcome(logged?.route, path, loggedPlan) ?? { kind: 'unknown', route, reason: 'no-decision' };
  if (end.kind !== 'forwarded') return respondedOutcome(end.kind, path, loggedPlan);
  if (logged?.route.upstream !== undefined)
    return forwardedOutcome(
      logged.route as ForwardingRoute,
      messageOf(logged.route, path, () => []),
    );
  // The plan that is said to have written the log has no such route.
  return { kind: 'forwarded', route: route ?? '', upstream, endpoints: '', message: () => ({ path, headers: [] }) };
}

type ReplayedOutcome = ReturnType<typeof replayOutcome>;

/** Returns the outcome of a logged request by a plan, with the matched route. */
function replayOutcome(facts: LoggedFacts, plan: Plan, rulesOf: (route: Route) => RouteRules) {
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
    const own = routeOutcome(decision, path, plan, facts.loggedPlan);
    if (own !== undefined) return own;
    steps.checkLogin(decision);
    const headers = () => headerChanges(facts, rulesOf(decision), plan);
    return forwardedOutcome(decision as ForwardingRoute, messageOf(decision, path, headers));
  } catch (error) {
    const { route } = steps;
    return thrownOutcome(error, route?.id, (refusal) => describeResponse(refusal, plan, route, facts.loggedPlan));
  }
}

/** Returns the outcome of a route without an upstream. A log does not have the query, so a text stands for it. @throws UnknownFact */
function routeOutcome(route: Route | undefined, path: string, plan: Plan, logged = plan): Outcome | undefined {
  if (route?.ownResponse !== undefined) requireEqualCors(plan, logged);
  return route && ownOutcome(plan, route, { path, query: '?query' });
}

/** @throws UnknownFact, because a log does not have the origin */
function requireEqualCors({ cors }: Plan, logged: Plan): void {
  if (cors?.key !== logged.cors?.key) throw new UnknownFact('origin');
}

/** Describes what depends on the plan. @throws UnknownFact */
function describeResponse({ code, headers }: Refusal, plan: Plan, route: Route | undefined, logged: Plan): string {
  requireEqualCors(plan, logged);
  const { auth, server } = plan;
  const challenge = CHALLENGED.has(code) ? auth?.challengePrefix : undefined;
  return JSON.stringify([
    challenge,
    headers['Allow'],
    server.hasRateLimitHeaders ? rateLimitFields(route?.rateLimits, undefined) : [],
    server.responseHeaders,
  ]);
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
  return { kind: 'responded', status: 204, headers: plan.server.responseHeaders };
}

/** Returns the changes of the headers that the upstream receives. @throws UnknownFact */
function headerChanges({ logged, loggedPlan, request }: LoggedFacts, rules: RouteRules, plan: Plan): readonly string[] {
  const before = logged?.entry.requestHeaders;
  const after = rules.entry.requestHeaders;
  const isUpgraded = (websocket: boolean | undefined) => request.kind === 'websocket' && websocket === true;
  if (isUpgraded(logged?.route.websocket) !== isUpgraded(rules.route.websocket)) return ['Upgrade', ''];
  const { host = '' } = rules.route.upstream ?? {};
  if (logged !== undefined && logged.route.upstream?.host !== host) return ['Host', host];
  const set = changedSets(before, after);
  if (set.length > 0) return set;
  const isEqual = JSON.stringify(before) === JSON.stringify(after);
  const mayUpgrade = request.method === 'GET' && logged?.route.websocket !== true && rules.route.websocket;
  const isProxyEqual = loggedPlan.server.keys.trustedProxies === plan.server.keys.trustedProxies;
  const areClaimsEqual = logged?.route.claims?.key === rules.route.claims?.key;
  if (!isEqual || mayUpgrade || !isProxyEqual || !areClaimsEqual) throw new UnknownFact('headers');
  return [];
}

/** Returns the headers that only one of two rules sets, or that they set to different values. */
function changedSets(before: RequestHeaderRules | undefined, after: RequestHeaderRules | undefined): readonly string[] {
  const [one, other] = [before?.set ?? {}, after?.set ?? {}];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name]);
}
