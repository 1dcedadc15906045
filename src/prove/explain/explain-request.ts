import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { compileInvariants } from '../../engine/invariants/compile-invariants.ts';
import { invariantsFor } from '../../engine/invariants/prove.ts';
import { formatPointer } from '../../engine/json-pointer.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import { loggedPath } from '../../engine/log/logged-path.ts';
import type { ForwardingRoute, Route } from '../../engine/plan/route-definition.ts';
import { runToEnd, type SlicedWork } from '../../engine/plan/sliced-work.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { createOfflineGateway, type OfflineOutcome, redactedUrl } from '../offline/offline-gateway.ts';
import type { OfflineRequest } from '../offline/request-bytes.ts';
import { methodOf } from '../offline/role-claims.ts';
import { type CallerClaims, StubVerifier } from '../offline/stub-verifier.ts';
import { stepOfRefusal } from '../testing/route-refusals.ts';
import { findNearRoutes, findSkippedRoutes } from './skipped-routes.ts';
import { type ExplainContext, explainRefusal, STEPS, type StepExplainer } from './steps.ts';

/** Each decision about one request. `explain --json` prints it as JSON; docs/explain.md describes each member. */
export type Explanation = Awaited<ReturnType<typeof explain>>;

/** Explains each decision about a request, offline. `claims` are not verified; without any, no token is sent. `run` runs long work. `issuer` names the token method. */
export async function explain(
  planned: PlannedManifest,
  request: OfflineRequest,
  claims: CallerClaims | undefined,
  run: <Result>(steps: SlicedWork<Result>) => Result | Promise<Result> = runToEnd,
  issuer?: string,
) {
  const method = methodOf(planned.manifest.auth, issuer);
  const tokens = new StubVerifier();
  const send = createOfflineGateway(planned.plan, tokens);
  const outcome = await send({
    ...request,
    headers: [...request.headers, ...tokens.authorize(claims && { claims, issuer: method?.issuer })],
  });
  const { record, upstreamRequest } = outcome;
  const { path = '', refusal } = record;
  const near = refusal?.code === 'route_unknown' ? await run(findNearRoutes(planned.plan.routes, path)) : [];
  const index = planned.plan.routes.findIndex(({ id }) => id === record.route?.id);
  const upstream = explainUpstreamRequest(planned, index, upstreamRequest);
  const context: ExplainContext = {
    planned,
    request,
    claims,
    method,
    outcome,
    refusal: explainRefusal(outcome),
    reported: record.reported ?? [],
    isLocalResponse: refusal === undefined && upstreamRequest === undefined && record.route === undefined,
    hasPath: record.path !== undefined || refusal?.code === 'path_ambiguous',
    route: planned.plan.routes[index],
    entry: planned.manifest.routes[index],
    routePath: ['routes', index],
    allowedMethods: record.path === undefined ? [] : planned.plan.router.allowedMethods(path),
    nearRoutes: near,
    upstreamUrl: upstream?.url,
  };
  return {
    // The version of this format. It increases when a member is changed or removed, not when one is added.
    version: 1,
    manifest: planned.document.file,
    request: { method: request.method, target: request.target, claims: claims ?? null },
    // `responded`: the gateway itself responded without a refusal, to a CORS preflight for example.
    outcome: context.refusal !== undefined ? 'refused' : upstream === undefined ? 'responded' : 'forwarded',
    refusal: context.refusal ?? null,
    reported: context.reported,
    steps: [...stepsOf(context)],
    route: context.route === undefined ? null : matchedRoute(context, context.route),
    candidates: await run(candidatesOf(context)),
    near: near.map((route) => describeRoute(context, route)),
    upstream: upstream ?? null,
    invariants: invariantsOf(context),
    loggedPath: loggedPathOf(context),
  } as const;
}

function invariantsOf(context: ExplainContext) {
  const { planned, request, route, outcome } = context;
  const { path } = outcome.record;
  if (route === undefined || path === undefined) return [];
  const all = compileInvariants(planned.manifest, []);
  const issuer = outcome.principals.at(-1)?.issuer;
  return invariantsFor(all, { method: request.method, path, route, issuer }).map(
    ({ id, path: place, why = null, except }) => {
      const exception = except.find((one) => one.route === route.id);
      return {
        id,
        why,
        // The reason why the route is an exception; `null` if it is none.
        exception: exception === undefined ? null : (exception.reason ?? why),
        ...lineOf(context, place),
      };
    },
  );
}

/** `null` without a valid path. The surrogates themselves are left out: without `log.secret` they differ from those of the gateway. */
function loggedPathOf({ planned: { plan }, request, route, outcome }: ExplainContext) {
  const { path } = outcome.record;
  if (path === undefined) return null;
  return loggedPath(plan, request.method, path, route) === path ? 'plain' : 'keyed';
}

/** Yields the steps up to the one where the gateway refused the request or responded itself. */
function* stepsOf(context: ExplainContext) {
  for (const step of STEPS) {
    const isLast = isLastStep(context, step);
    // Only the step that refused the request may mention the refusal.
    const explained = step.explain(
      isLast || context.refusal === undefined ? context : { ...context, refusal: undefined },
    );
    if (explained === undefined) continue;
    const isReported = context.reported.some((reported) => happensAt(step, reported, context));
    const verdict = isLast
      ? context.refusal === undefined
        ? 'responded'
        : 'refused'
      : isReported
        ? 'reported'
        : 'passed';
    const locations = explained.paths.map((path) => locationOf(context, path));
    yield { step: step.name, verdict, message: explained.message, locations } as const;
    if (isLast) break;
  }
}

function isLastStep(context: ExplainContext, step: StepExplainer): boolean {
  const { refusal, isLocalResponse, outcome, route } = context;
  if (isLocalResponse) return step.name === 'preflight';
  if (refusal === undefined) return step.name === 'forward' && route?.ownResponse !== undefined;
  // On a login route the gateway checks the role in the response, after it has forwarded the request.
  if (refusal.code === 'role_not_allowed' && outcome.upstreamRequest !== undefined) return step.name === 'response';
  return happensAt(step, refusal, context);
}

function happensAt(
  { name, stage }: StepExplainer,
  { code, limit }: { readonly code: RefusalCode; readonly limit?: string | undefined },
  { route }: ExplainContext,
): boolean {
  if (stepOfRefusal(code) !== name) return false;
  return stage === undefined || route?.rateLimits?.[stage].some(({ id }) => id === limit) === true;
}

function locationOf(context: ExplainContext, path: Path) {
  const { column } = context.planned.document.locate({ path, at: 'value' });
  return { ...lineOf(context, path), column, pointer: formatPointer(path) };
}

/** Returns a line, with the file if it is an included one. */
function lineOf({ planned: { document } }: ExplainContext, path: Path) {
  const position = { path, at: 'value' } as const;
  const file = document.fileOf(position);
  return { ...(file !== document.file && { file }), line: document.locate(position).line };
}

function matchedRoute(context: ExplainContext, { id, methods, path, pattern, access }: Route) {
  const segments = (context.outcome.record.path ?? '').split('/').slice(1);
  const parameters = pattern.flatMap((segment, index) =>
    segment.kind === 'parameter' ? [[segment.name, segments[index] ?? ''] as const] : [],
  );
  return {
    ...{ id, methods, path, access, parameters: Object.fromEntries(parameters) },
    ...lineOf(context, context.routePath),
  };
}

/** Returns the routes that match the path but did not get the request. */
function* candidatesOf(context: ExplainContext) {
  const { planned, request, route: winner, outcome } = context;
  const { path } = outcome.record;
  if (path === undefined) return [];
  const skipped = yield* findSkippedRoutes(planned.plan, request.method, path, winner);
  return skipped.map(({ route, reason, otherRoute }) => ({
    ...describeRoute(context, route),
    reason,
    otherRoute: otherRoute?.id ?? null,
  }));
}

function describeRoute(context: ExplainContext, route: Route) {
  const index = context.planned.plan.routes.indexOf(route);
  return { id: route.id, methods: route.methods, path: route.path, ...lineOf(context, ['routes', index]) };
}

/** Returns the request to the upstream, with references such as `${API_KEY}` instead of values from the environment. */
function explainUpstreamRequest(
  planned: PlannedManifest,
  index: number,
  upstreamRequest: OfflineOutcome['upstreamRequest'],
) {
  const { plan, secrets } = planned;
  const route = plan.routes[index];
  if (upstreamRequest === undefined || route === undefined) return undefined;
  const upstream = route.upstream as ForwardingRoute['upstream'];
  const { origin, path } = redactedUrl(planned, route.id, upstreamRequest);
  return {
    id: upstream.id,
    method: upstreamRequest.method,
    url: origin + path,
    // The gateway chooses one for each request.
    endpoints: upstream.endpoints.map(({ label }) => label),
    headers: pairsOf(upstreamRequest.headers).map(([name, value]): [name: string, value: string] => {
      if (name === 'X-Request-Id' || name === 'traceparent') return [name, GENERATED];
      if (route.claims?.headers.some((header) => header.name === name)) return [name, '<from a claim>'];
      if (name === 'Host' && upstream.host === 'upstream') return [name, '<of the endpoint>'];
      if (name === 'Host') return [name, secrets.redactValue(value, ['upstreams', upstream.id, 'host'])];
      return [name, secrets.redactValue(value, ['routes', index, 'requestHeaders', 'set', name])];
    }),
    bodyBytes: upstreamRequest.body.length,
    // `null` means no limit.
    timeoutsMs: {
      connect: upstream.connectTimeoutMs,
      response: route.timeoutMs === undefined ? upstream.responseTimeoutMs : null,
      idle: upstream.idleTimeoutMs,
      eventStream: upstream.eventStreamTimeoutMs || null,
      total: route.timeoutMs ?? upstream.totalTimeoutMs ?? null,
    },
  };
}

const GENERATED = '<generated for each request>';

function pairsOf(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? '']);
}
