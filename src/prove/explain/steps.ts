import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { ReportedViolation } from '../../engine/gateway/telemetry/request-record.ts';
import { formatMethods, HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { RateLimit as RateLimitEntry, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { suggestion } from '../../engine/problem/did-you-mean.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { RateLimit, RateLimitStage } from '../../engine/rate-limits/rate-limit.ts';
import { ANY_ROLE, type TokenEntry } from '../../engine/tokens/token-entries.ts';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import { headerValue, type OfflineRequest } from '../offline/request-bytes.ts';
import { rolesOf } from '../offline/role-claims.ts';
import type { CallerClaims } from '../offline/stub-verifier.ts';
import { rateLimitKeyText } from '../rate-limit-key-text.ts';

export interface StepExplainer {
  readonly name: string;
  /** The stage of the rate limits, which apply at several steps. */
  readonly stage?: RateLimitStage;
  /** Returns `undefined` if the step does not apply to the request. */
  readonly explain: (context: ExplainContext) => StepExplanation | undefined;
}

/** The names of the steps. `limits` occurs up to three times: before the token, after the role and after the body. */
export type StepName = (typeof STEPS)[number]['name'];

/** The steps in the order of `serve`. */
export const STEPS = [
  { name: 'message', explain: explainMessage },
  {
    name: 'path',
    explain: (context: ExplainContext) =>
      context.hasPath ? explanation(refusalTextOr(context, 'the path is unambiguous')) : undefined,
  },
  { name: 'preflight', explain: explainPreflight },
  { name: 'route', explain: explainRoute },
  { name: 'origin', explain: explainOrigin },
  limitsStep('match'),
  { name: 'token', explain: explainToken },
  { name: 'role', explain: explainRole },
  { name: 'claims', explain: explainClaims },
  limitsStep('authorize'),
  { name: 'parameters', explain: explainParameters },
  { name: 'body', explain: explainBody },
  limitsStep('validate'),
  { name: 'forward', explain: explainForward },
  { name: 'response', explain: explainResponse },
] as const satisfies readonly StepExplainer[];

function limitsStep(stage: RateLimitStage) {
  return { name: 'limits', stage, explain: (context: ExplainContext) => explainLimits(stage, context) } as const;
}

function explanation(message: string, ...paths: Path[]): StepExplanation {
  return { message, paths };
}

function refusalTextOr({ refusal }: ExplainContext, otherwise: string): string {
  if (refusal === undefined) return otherwise;
  return refusal.reason === refusal.code ? refusal.detail : `${refusal.detail} (${refusal.reason})`;
}

function explainMessage(context: ExplainContext): StepExplanation {
  const { method, target } = context.request;
  const text = refusalTextOr(context, 'the message is well-formed');
  if (context.refusal?.code !== 'message_malformed') return explanation(text);
  if (/^[\w.-]+(?:[/?]|$)/.test(target))
    return explanation(`${text}; the path does not begin with "/"; write /${target}`);
  // Methods are case-sensitive (RFC 9110 section 9.1).
  if (HTTP_METHODS.includes(method)) return explanation(text);
  return explanation(`${text}; the method "${method}" is unknown${suggestion(method, HTTP_METHODS)}`);
}

function explainPreflight({ isLocalResponse, hasPath }: ExplainContext): StepExplanation | undefined {
  if (!isLocalResponse) return undefined;
  return hasPath
    ? explanation('the gateway responds to a CORS preflight itself', ['cors'])
    : explanation('the gateway responds to OPTIONS * itself');
}

function explainRoute(context: ExplainContext): StepExplanation | undefined {
  const { route, routePath, refusal, nearRoutes, allowedMethods } = context;
  if (route !== undefined) return explanation(`${route.id}: ${formatMethods(route.methods)} ${route.path}`, routePath);
  if (refusal?.code === 'method_not_allowed')
    return explanation(`the routes of this path allow ${allowedMethods.join(', ')}`);
  const nearest = nearRoutes[0]?.path;
  return explanation(
    nearest === undefined ? 'no route has this path' : `no route has this path; did you mean ${nearest}?`,
  );
}

function explainOrigin(context: ExplainContext): StepExplanation | undefined {
  const { planned, request, route, entry, routePath, refusal } = context;
  const isHandshake =
    request.method === 'GET' && headerValue(request.headers, 'upgrade')?.toLowerCase() === 'websocket';
  if (!isHandshake || route?.websocket !== true || headerValue(request.headers, 'origin') === undefined)
    return undefined;
  const isListed = typeof entry?.websocket === 'object';
  const hasCors = !isListed && planned.manifest.cors !== undefined;
  const verdict = refusal?.code === 'origin_not_allowed' ? 'may not' : 'may';
  const allowed = isListed ? 'the origins of the route' : `the same host${hasCors ? ' and the origins of cors' : ''}`;
  return explanation(
    `pages of this origin ${verdict} open a WebSocket; allowed: ${allowed}`,
    [...routePath, 'websocket'],
    ...(hasCors ? [['cors', 'origins']] : []),
  );
}

function explainToken(context: ExplainContext): StepExplanation {
  const { entry, routePath, route, claims, method, refusal } = context;
  const accessPath = [...routePath, 'access'];
  const issuersPath = entry?.issuers === undefined ? [] : [[...routePath, 'issuers']];
  const accepted = route?.auth?.issuers === undefined ? '' : `, tokens of ${[...route.auth.issuers].join(' or ')}`;
  if (entry?.access === 'public') return explanation('public: no token is required', accessPath);
  if (refusal?.code === 'token_missing') return explanation('protected: the request has no token', accessPath);
  if (refusal?.code === 'token_invalid')
    return explanation(`protected${accepted}: the token is not valid (${refusal.reason})`, accessPath, ...issuersPath, [
      'auth',
      'tokens',
    ]);
  const source = method?.issuer === undefined ? '' : ` as those of "${method.issuer}"`;
  const text =
    claims === undefined ? 'the request has a token' : `the given claims are used${source} without verification`;
  return explanation(`protected${accepted}: ${text}`, accessPath, ...issuersPath);
}

function explainRole({ entry, routePath, route, claims, method }: ExplainContext): StepExplanation | undefined {
  if (entry?.access === 'public' || method === undefined || claims === undefined) return undefined;
  const { role, rolePath } = method;
  const allowPath = [...rolePath, 'allow'];
  const rolesPath = entry?.roles === undefined ? allowPath : [...routePath, 'roles'];
  const rule = route?.auth?.role;
  if (role === ANY_ROLE || entry?.roles === ANY_ROLE)
    return explanation('requires no role: a valid token is enough', entry?.roles === undefined ? rolePath : rolesPath);
  const required =
    rule?.redactedRoles.filter((_text, index) => method.allow.includes(rule.required[index] ?? '')) ?? [];
  const roles = rolesOf(role, claims).join(', ') || 'none';
  const message = `requires one of ${required.join(', ')}; the caller has ${roles}`;
  return explanation(message, rolesPath, [...rolePath, 'claim']);
}

/** Names the headers, and never their values. */
function explainClaims(context: ExplainContext): StepExplanation | undefined {
  const { route, entry, routePath } = context;
  const names = (route?.claims?.headers ?? []).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const path = entry?.forward === undefined ? ['auth', 'forward'] : [...routePath, 'forward'];
  return explanation(refusalTextOr(context, `sends ${names.join(', ')} from verified claims`), path);
}

function explainParameters({ entry, routePath, refusal, reported }: ExplainContext): StepExplanation | undefined {
  const keys = (['params', 'query', 'headers'] as const).filter((key) => entry?.[key] !== undefined);
  if (keys.length === 0) return undefined;
  const violation = refusal?.detail ?? reportedTextOf(reported, ['parameter_invalid']);
  return explanation(violation ?? `valid: ${keys.join(', ')}`, ...keys.map((key) => [...routePath, key]));
}

function explainBody({ entry, route, routePath, refusal, reported }: ExplainContext): StepExplanation | undefined {
  if (route?.ownResponse !== undefined) return undefined;
  const rule = entry?.body;
  if (rule === undefined) return explanation('no rule: any body is forwarded');
  const bodyPath = [...routePath, 'body'];
  const paths =
    rule.schema === undefined ? [bodyPath] : [[...bodyPath, 'schema'], ...sharedSchemaOf(rule.schema), bodyPath];
  const violation = refusal?.detail ?? reportedTextOf(reported, ['body_invalid', 'media_type_unsupported']);
  const limit = `at most ${rule.maxBytes}`;
  return explanation(violation ?? (rule.schema === undefined ? limit : `${limit}, and matches its schema`), ...paths);
}

/** Returns the text of the violations that the route only reports, if there are any. */
function reportedTextOf(reported: ExplainContext['reported'], codes: readonly RefusalCode[]): string | undefined {
  const matching = reported.filter(({ code }) => codes.includes(code));
  if (matching.length === 0) return undefined;
  const pointers = matching.flatMap(({ pointers }) => pointers).join(', ');
  return `not valid, only reported${pointers === '' ? '' : `: ${pointers}`}`;
}

/** Returns the path of the shared schema that a top-level `$ref` names. */
function sharedSchemaOf(schema: NonNullable<NonNullable<RouteEntry['body']>['schema']>): Path[] {
  const reference = typeof schema === 'object' ? schema['$ref'] : undefined;
  const name = typeof reference === 'string' ? /^#\/schemas\/([^/]+)$/.exec(reference)?.[1] : undefined;
  return name === undefined ? [] : [['schemas', name]];
}

function explainForward(context: ExplainContext): StepExplanation | undefined {
  const { planned, entry, route, routePath, refusal, outcome, upstreamUrl } = context;
  if (entry === undefined) return undefined;
  const { response } = outcome;
  if (route?.ownResponse !== undefined) {
    const key = entry.redirect === undefined ? 'respond' : 'redirect';
    const location = planned.secrets.hasSecretWithin([...routePath, key])
      ? planned.secrets.redactValue(entry.redirect?.to, [...routePath, key, 'to'])
      : headerValue(response?.headers ?? [], 'location');
    const to = entry.redirect === undefined ? '' : ` to ${location}`;
    return explanation(`the gateway responds itself: ${response?.status}${to}`, [...routePath, key]);
  }
  const rewrites = [
    ...(entry.upstreamPath === undefined ? [] : [[...routePath, 'upstreamPath']]),
    ...(entry.requestHeaders === undefined ? [] : [[...routePath, 'requestHeaders']]),
  ];
  const paths = [['upstreams', entry.upstream ?? ''], ...rewrites];
  return explanation(refusal === undefined ? `${entry.upstream}: ${upstreamUrl}` : refusal.detail, ...paths);
}

function explainResponse({ entry, routePath, refusal }: ExplainContext): StepExplanation {
  if (refusal !== undefined) return explanation(refusal.detail, [...routePath, 'login']);
  if (entry?.login === undefined) return explanation('streamed to the client');
  return explanation('buffered until every token in it is verified and has an allowed role', [...routePath, 'login']);
}

function explainLimits(stage: RateLimitStage, context: ExplainContext): StepExplanation | undefined {
  const { route, routePath, refusal, planned } = context;
  const limits = route?.rateLimits?.[stage] ?? [];
  if (limits.length === 0) return undefined;
  const placesOf = (ids: readonly string[]) => [[...routePath, 'rateLimits'], ...ids.map((id) => ['rateLimits', id])];
  if (refusal?.limit !== undefined)
    return { message: `${refusal.limit}: ${refusal.detail}`, paths: placesOf([refusal.limit]) };
  const texts = limits.map((limit) => {
    const skipped = lacksKey(limit, context) ? ', skipped because the request lacks the key' : '';
    return `${limit.id} (${limitText(planned, limit.id)}${skipped})`;
  });
  return { message: `counts against ${texts.join(', ')}`, paths: placesOf(limits.map(({ id }) => id)) };
}

/** Describes a limit: its rate, the kinds of its key, and how it differs from a limit of requests that is enforced. */
function limitText({ manifest, secrets }: PlannedManifest, id: string): string {
  const entry = secrets.redactValue(manifest.rateLimits[id] as RateLimitEntry, ['rateLimits', id]);
  const { key, allow, burst, count, mode } = entry;
  const details = [
    ...(burst === undefined ? [] : [`at most ${burst} at once`]),
    ...(count === 'failures' ? ['failures only'] : []),
    ...(mode === 'report' ? ['only reported'] : []),
  ];
  return [`${allow} by ${rateLimitKeyText(key)}`, ...details].join(', ');
}

function lacksKey({ missing, readValue }: RateLimit, { route, request, outcome }: ExplainContext): boolean {
  if (missing === undefined || route === undefined) return false;
  const facts = {
    route,
    clientAddress: '',
    client: '',
    request: { rawHeaders: request.headers },
    principal: outcome.principals[0],
    body: request.body,
  };
  return readValue(facts) === undefined;
}

/** Returns the refusal as the client sees it, with the id of the rate limit that refuses the request. */
export function explainRefusal({ record, response }: OfflineOutcome) {
  if (record.refusal === undefined) return undefined;
  const { status, code, reason, detail, errors, limit } = record.refusal;
  // After a response has begun, a refusal can only close the connection: the client sees another status, or none.
  return { status: response?.status ?? status, code, reason, detail, errors, ...(limit !== undefined && { limit }) };
}

/** Everything that explains the steps of a request: the manifest, the request and its outcome. */
export interface ExplainContext {
  readonly planned: PlannedManifest;
  readonly request: OfflineRequest;
  /** The claims of the caller; `undefined` if no caller was given. */
  readonly claims: CallerClaims | undefined;
  /** The method that verifies the token of the caller. */
  readonly method: TokenEntry | undefined;
  readonly outcome: OfflineOutcome;
  readonly refusal: ReturnType<typeof explainRefusal>;
  readonly reported: readonly ReportedViolation[];
  /** True if the gateway responded itself, without a refusal: to a CORS preflight for example. */
  readonly isLocalResponse: boolean;
  /** True if the request target was parsed as a path. */
  readonly hasPath: boolean;
  readonly route: Route | undefined;
  readonly entry: RouteEntry | undefined;
  readonly routePath: Path;
  /** The methods of the routes that match the path. */
  readonly allowedMethods: readonly string[];
  /** The routes whose paths resemble the requested one, if it matches none. The nearest comes first. */
  readonly nearRoutes: readonly Route[];
  readonly upstreamUrl: string | undefined;
}

/** The message of a step and the keys of the manifest that decide it. */
interface StepExplanation {
  readonly message: string;
  readonly paths: readonly Path[];
}
