import { pointerStep } from '../json-pointer.ts';
import type { PlannedManifest } from '../load.ts';
import { createOfflineGateway, type OfflineOutcome } from '../offline/offline-gateway.ts';
import type { OfflineRequest } from '../offline/request-bytes.ts';
import { type CallerClaims, StubVerifier } from '../offline/stub-verifier.ts';
import type { Route } from '../plan/route-definition.ts';
import { parsePattern } from '../plan/routing/pattern.ts';
import { runToEnd, type SlicedWork } from '../plan/sliced-work.ts';
import type { Path } from '../problem/finding.ts';
import { createExplainContext, type ExplainContext } from './explain-context.ts';
import { explainUpstreamRequest } from './explain-upstream-request.ts';
import type { CandidateRoute, Explanation, ExplanationLocation, ExplanationStep, MatchedRoute } from './explanation.ts';
import { findSkippedRoutes } from './skipped-routes.ts';
import { STEP_OF_REFUSAL, STEPS } from './steps.ts';

/** Stands for the caller's token, which is nobody's to see. */
const TOKEN = '<token>';

/**
 * Lets the gateway of a manifest answer a request, without a network, and tells its whole way.
 *
 * @param claims of the caller's token, which is taken for verified; `undefined`: no token is added
 * @param run does the work that grows with the number of routes; at once by default
 */
export async function explain(
  loaded: PlannedManifest,
  asked: OfflineRequest,
  claims: CallerClaims | undefined,
  run: <Made>(steps: SlicedWork<Made>) => Made | Promise<Made> = runToEnd,
): Promise<Explanation> {
  const tokens = new StubVerifier();
  if (claims !== undefined) tokens.setToken(TOKEN, { claims });
  const authorization = claims === undefined ? [] : ['Authorization', `Bearer ${TOKEN}`];
  const outcome = await createOfflineGateway(
    loaded.plan,
    tokens,
  )({ ...asked, headers: [...asked.headers, ...authorization] });
  const upstream = explainUpstreamRequest(loaded, outcome);
  const walk = createExplainContext(loaded, asked, claims, outcome, upstream?.url);
  return {
    version: 1,
    manifest: loaded.document.file,
    request: { method: asked.method, target: asked.target, claims: claims ?? null },
    outcome: walk.refusal !== undefined ? 'refused' : upstream === undefined ? 'answered' : 'forwarded',
    refusal: walk.refusal ?? null,
    reported: walk.reported,
    steps: stepsOf(walk),
    route: walk.route === undefined ? null : matchedRoute(walk, walk.route),
    candidates: await run(candidatesOf(walk)),
    upstream: upstream ?? null,
  };
}

/** The steps up to the one where the request was refused or answered. */
function stepsOf(walk: ExplainContext): ExplanationStep[] {
  const steps: ExplanationStep[] = [];
  const end = lastStepOf(walk);
  for (const { name, explain } of STEPS) {
    const isEnd = name === end;
    // What is told of a refusal is told where it fell.
    const told = explain(isEnd || walk.refusal === undefined ? walk : { ...walk, refusal: undefined });
    if (told === undefined) continue;
    const isReported = walk.reported.some(({ code }) => STEP_OF_REFUSAL[code] === name);
    const verdict = isEnd ? (walk.isLocalResponse ? 'answered' : 'refused') : isReported ? 'reported' : 'passed';
    steps.push({ step: name, verdict, because: told.message, lines: told.paths.map((path) => locationOf(walk, path)) });
    if (isEnd) break;
  }
  return steps;
}

function lastStepOf({ refusal, isLocalResponse, outcome }: ExplainContext): ExplanationStep['step'] | undefined {
  if (isLocalResponse) return 'preflight';
  if (refusal === undefined) return undefined;
  const step = STEP_OF_REFUSAL[refusal.code];
  // The role of a token that an answer carried.
  return step === 'role' && outcome.upstreamRequest !== undefined ? 'answer' : step;
}

function locationOf({ planned: { document } }: ExplainContext, path: Path): ExplanationLocation {
  const where = { path, at: 'value' } as const;
  const { line, column } = document.locate(where);
  const file = document.fileOf(where);
  return { ...(file !== document.file && { file }), line, column, pointer: path.map(pointerStep).join('') };
}

function matchedRoute(walk: ExplainContext, { id, methods, path, access }: Route): MatchedRoute {
  const sent = (walk.outcome.logEntry.path ?? '').split('/').slice(1);
  const parameters = parsePattern(path).flatMap((segment, index) =>
    segment.kind === 'parameter' ? [[segment.name, sent[index] ?? ''] as const] : [],
  );
  const { pointer: _pointer, column: _column, ...place } = locationOf(walk, walk.routePath);
  return { id, methods, path, access, parameters: Object.fromEntries(parameters), ...place };
}

function* candidatesOf(walk: ExplainContext): SlicedWork<CandidateRoute[]> {
  const { planned, request, route: winner, outcome } = walk;
  const { path } = outcome.logEntry as OfflineOutcome['logEntry'];
  if (path === undefined) return [];
  const losers = yield* findSkippedRoutes(planned.plan, request.method, path, winner);
  return losers.map(({ route, reason: lost, otherRoute }) => {
    const {
      pointer: _pointer,
      column: _column,
      ...place
    } = locationOf(walk, ['routes', planned.plan.routes.indexOf(route)]);
    return { id: route.id, methods: route.methods, path: route.path, ...place, lost, to: otherRoute?.id ?? null };
  });
}
