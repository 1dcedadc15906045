import type { Planned } from '../load.ts';
import { createOffline, type Outcome } from '../offline/offline.ts';
import type { Asked } from '../offline/request-bytes.ts';
import { type Claims, StatedTokens } from '../offline/stated-tokens.ts';
import { parsePattern } from '../plan/pattern.ts';
import type { Route } from '../plan/plan.ts';
import { pointerStep } from '../plan/pointer.ts';
import { finish, type Steps } from '../plan/steps.ts';
import type { Path } from '../problem/finding.ts';
import { losersOf } from './candidates.ts';
import type { Candidate, Explanation, MatchedRoute, Place, Step } from './explanation.ts';
import { STEP_OF, STEPS } from './steps.ts';
import { upstreamRequestOf } from './upstream-request.ts';
import { type Walk, walkOf } from './walk.ts';

/** Stands for the caller's token, which is nobody's to see. */
const TOKEN = '<token>';

/**
 * Lets the gateway of a manifest answer a request, without a network, and tells its whole way.
 *
 * @param claims of the caller's token, which is taken for verified; `undefined`: no token is added
 * @param run does the work that grows with the number of routes; at once by default
 */
export async function explain(
  loaded: Planned,
  asked: Asked,
  claims: Claims | undefined,
  run: <Made>(steps: Steps<Made>) => Made | Promise<Made> = finish,
): Promise<Explanation> {
  const tokens = new StatedTokens();
  if (claims !== undefined) tokens.state(TOKEN, { claims });
  const authorization = claims === undefined ? [] : ['Authorization', `Bearer ${TOKEN}`];
  const outcome = await createOffline(loaded.plan, tokens)({ ...asked, headers: [...asked.headers, ...authorization] });
  const upstream = upstreamRequestOf(loaded, outcome);
  const walk = walkOf(loaded, asked, claims, outcome, upstream?.url);
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
function stepsOf(walk: Walk): Step[] {
  const steps: Step[] = [];
  const end = endOf(walk);
  for (const { name, tell } of STEPS) {
    const isEnd = name === end;
    // What is told of a refusal is told where it fell.
    const told = tell(isEnd || walk.refusal === undefined ? walk : { ...walk, refusal: undefined });
    if (told === undefined) continue;
    const isReported = walk.reported.some(({ code }) => STEP_OF[code] === name);
    const verdict = isEnd ? (walk.isAnswered ? 'answered' : 'refused') : isReported ? 'reported' : 'passed';
    steps.push({ step: name, verdict, because: told.because, lines: told.paths.map((path) => placeOf(walk, path)) });
    if (isEnd) break;
  }
  return steps;
}

function endOf({ refusal, isAnswered, outcome }: Walk): Step['step'] | undefined {
  if (isAnswered) return 'preflight';
  if (refusal === undefined) return undefined;
  const step = STEP_OF[refusal.code];
  // The role of a token that an answer carried.
  return step === 'role' && outcome.received !== undefined ? 'answer' : step;
}

function placeOf({ loaded: { document } }: Walk, path: Path): Place {
  const where = { path, at: 'value' } as const;
  const { line, column } = document.locate(where);
  const file = document.fileOf(where);
  return { ...(file !== document.file && { file }), line, column, pointer: path.map(pointerStep).join('') };
}

function matchedRoute(walk: Walk, { id, methods, path, access }: Route): MatchedRoute {
  const sent = (walk.outcome.decision.path ?? '').split('/').slice(1);
  const parameters = parsePattern(path).flatMap((segment, index) =>
    segment.kind === 'parameter' ? [[segment.name, sent[index] ?? ''] as const] : [],
  );
  const { pointer: _pointer, column: _column, ...place } = placeOf(walk, walk.routePath);
  return { id, methods, path, access, parameters: Object.fromEntries(parameters), ...place };
}

function* candidatesOf(walk: Walk): Steps<Candidate[]> {
  const { loaded, asked, route: winner, outcome } = walk;
  const { path } = outcome.decision as Outcome['decision'];
  if (path === undefined) return [];
  const losers = yield* losersOf(loaded.plan, asked.method, path, winner);
  return losers.map(({ route, lost, to }) => {
    const {
      pointer: _pointer,
      column: _column,
      ...place
    } = placeOf(walk, ['routes', loaded.plan.routes.indexOf(route)]);
    return { id: route.id, methods: route.methods, path: route.path, ...place, lost, to: to?.id ?? null };
  });
}
