import type { RefusalCode } from '../gateway/response/refusal.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { rolesOf } from '../offline/claims.ts';
import { headerValue } from '../offline/request-bytes.ts';
import type { Path } from '../problem/finding.ts';
import type { ExplainContext } from './explain-context.ts';
import type { StepName } from './explanation.ts';

/** What is told of a step, and what in the manifest says so. */
export interface StepExplanation {
  readonly message: string;
  readonly paths: readonly Path[];
}

interface StepExplainer {
  readonly name: StepName;
  /** `undefined`: there is no such step on this way. */
  readonly explain: (walk: ExplainContext) => StepExplanation | undefined;
}

/** The steps of a request in the order in which `serve` takes them. */
export const STEPS: readonly StepExplainer[] = [
  { name: 'message', explain: (walk) => explanation(refusalTextOr(walk, 'the message has one reading')) },
  {
    name: 'path',
    explain: (walk) => (walk.hasPath ? explanation(refusalTextOr(walk, 'the path has one reading')) : undefined),
  },
  { name: 'preflight', explain: explainPreflight },
  { name: 'route', explain: explainRoute },
  { name: 'origin', explain: explainOrigin },
  { name: 'token', explain: explainToken },
  { name: 'role', explain: explainRole },
  { name: 'parameters', explain: explainParameters },
  { name: 'body', explain: explainBody },
  { name: 'forward', explain: explainForward },
  { name: 'answer', explain: explainResponse },
];

/** The step at which each refusal falls. One that an answer of the upstream can bring about falls there once it was asked. */
export const STEP_OF_REFUSAL: Readonly<Record<RefusalCode, StepName>> = {
  message_malformed: 'message',
  headers_too_large: 'message',
  expectation_failed: 'message',
  request_timeout: 'message',
  path_ambiguous: 'path',
  route_unknown: 'route',
  method_not_allowed: 'route',
  origin_not_allowed: 'origin',
  token_missing: 'token',
  token_invalid: 'token',
  keys_unavailable: 'token',
  role_not_allowed: 'role',
  parameter_invalid: 'parameters',
  body_invalid: 'body',
  body_too_large: 'body',
  media_type_unsupported: 'body',
  gateway_busy: 'body',
  internal_error: 'forward',
  upstream_unreachable: 'forward',
  upstream_error: 'forward',
  upstream_unavailable: 'forward',
  upstream_busy: 'forward',
  upstream_timeout: 'forward',
  login_response_refused: 'answer',
};

function explanation(message: string, ...paths: Path[]): StepExplanation {
  return { message, paths };
}

function refusalTextOr({ refusal }: ExplainContext, otherwise: string): string {
  if (refusal === undefined) return otherwise;
  return refusal.reason === refusal.code ? refusal.detail : `${refusal.detail} (${refusal.reason})`;
}

function explainPreflight({ isLocalResponse, hasPath }: ExplainContext): StepExplanation | undefined {
  if (!isLocalResponse) return undefined;
  return hasPath
    ? explanation('a preflight is answered before anything else, by what cors allows', ['cors'])
    : explanation('what the server takes is answered by the gateway itself');
}

function explainRoute({
  route,
  routePath,
  refusal,
  nearestPath,
  allowedMethods,
}: ExplainContext): StepExplanation | undefined {
  if (route !== undefined) return explanation(`${route.id}: ${route.methods.join(',')} ${route.path}`, routePath);
  if (refusal?.code === 'method_not_allowed')
    return explanation(`the routes of this path take ${allowedMethods.join(', ')}`);
  return explanation(
    nearestPath === undefined ? 'no route has this path' : `no route has this path; did you mean ${nearestPath}?`,
  );
}

function explainOrigin({
  planned: { manifest },
  request,
  route,
  entry,
  routePath,
  refusal,
}: ExplainContext): StepExplanation | undefined {
  const isHandshake =
    request.method === 'GET' && headerValue(request.headers, 'upgrade')?.toLowerCase() === 'websocket';
  if (!isHandshake || route?.websocket !== true || headerValue(request.headers, 'origin') === undefined)
    return undefined;
  const isListed = typeof entry?.websocket === 'object';
  const hasCors = !isListed && manifest.cors !== undefined;
  const verdict = refusal?.code === 'origin_not_allowed' ? 'pages of this origin may not' : 'pages of this origin may';
  const list = isListed ? 'the list of the route' : `the same host${hasCors ? ' or the list of cors' : ''} may`;
  return explanation(
    `${verdict} open a WebSocket: ${list}`,
    [...routePath, 'websocket'],
    ...(hasCors ? [['cors', 'origins']] : []),
  );
}

function explainToken(walk: ExplainContext): StepExplanation {
  const { entry, routePath, claims, refusal } = walk;
  const place = [...routePath, 'access'];
  if (entry?.access === 'public') return explanation('public: none is asked for', place);
  if (refusal?.code === 'token_missing') return explanation('protected: none was sent', place);
  if (refusal?.code === 'token_invalid')
    return explanation(`protected: the one that was sent does not verify (${refusal.reason})`, place, [
      'auth',
      'tokens',
    ]);
  return explanation(
    `protected: ${claims === undefined ? 'one was sent' : 'the stated one is taken for verified'}`,
    place,
  );
}

function explainRole({
  planned: { manifest },
  entry,
  routePath,
  route,
  claims,
  refusal,
}: ExplainContext): StepExplanation | undefined {
  const role = manifest.auth?.role;
  if (entry?.access === 'public' || role === undefined || claims === undefined) return undefined;
  const place = entry?.roles === undefined ? ['auth', 'role', 'allow'] : [...routePath, 'roles'];
  const held = rolesOf(role, claims);
  const required = route?.auth?.role.redactedRoles.join(', ');
  const isRefused = refusal?.code === 'role_not_allowed';
  return explanation(`${held.join(', ') || 'no role'}: ${isRefused ? 'none' : 'one'} of ${required}`, place, [
    'auth',
    'role',
    'claim',
  ]);
}

function explainParameters({ entry, routePath, refusal, reported }: ExplainContext): StepExplanation | undefined {
  const keys = (['params', 'query', 'headers'] as const).filter((key) => entry?.[key] !== undefined);
  if (keys.length === 0) return undefined;
  const misfit = refusal?.detail ?? reportedTextOf(reported, ['parameter_invalid']);
  return explanation(misfit ?? `what is said of ${keys.join(', ')} fits`, ...keys.map((key) => [...routePath, key]));
}

function explainBody({ entry, routePath, refusal, reported }: ExplainContext): StepExplanation {
  const rule = entry?.body;
  if (rule === undefined) return explanation('no rule: any body is streamed through');
  const place = [...routePath, 'body'];
  const paths = rule.schema === undefined ? [place] : [[...place, 'schema'], ...sharedSchemaOf(rule.schema), place];
  const misfit = refusal?.detail ?? reportedTextOf(reported, ['body_invalid', 'media_type_unsupported']);
  const limit = `at most ${rule.maxBytes}`;
  return explanation(misfit ?? (rule.schema === undefined ? limit : `${limit}, and fits its schema`), ...paths);
}

/** What is let through although it does not fit. */
function reportedTextOf(reported: ExplainContext['reported'], codes: readonly RefusalCode[]): string | undefined {
  const found = reported.filter(({ code }) => codes.includes(code));
  if (found.length === 0) return undefined;
  const places = found.flatMap(({ pointers }) => pointers).join(', ');
  return `does not fit, and is only reported${places === '' ? '' : `: ${places}`}`;
}

/** The shared schema that a schema refers to at its top. */
function sharedSchemaOf(schema: NonNullable<NonNullable<RouteEntry['body']>['schema']>): Path[] {
  const reference = typeof schema === 'object' ? schema['$ref'] : undefined;
  const name = typeof reference === 'string' ? /^#\/schemas\/([^/]+)$/.exec(reference)?.[1] : undefined;
  return name === undefined ? [] : [['schemas', name]];
}

function explainForward({ entry, routePath, refusal, upstreamUrl }: ExplainContext): StepExplanation | undefined {
  if (entry === undefined) return undefined;
  const rewrites = [
    ...(entry.upstreamPath === undefined ? [] : [[...routePath, 'upstreamPath']]),
    ...(entry.requestHeaders === undefined ? [] : [[...routePath, 'requestHeaders']]),
  ];
  const paths = [['upstreams', entry.upstream], ...rewrites];
  return explanation(refusal === undefined ? `${entry.upstream}: ${upstreamUrl}` : refusal.detail, ...paths);
}

function explainResponse({ entry, routePath, refusal }: ExplainContext): StepExplanation {
  if (refusal !== undefined) return explanation(refusal.detail, [...routePath, 'login']);
  if (entry?.login === undefined) return explanation('passes as it comes');
  return explanation('is held back until every token in it has verified and its role is allowed', [
    ...routePath,
    'login',
  ]);
}
