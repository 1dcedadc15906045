import type { RefusalCode } from '../gateway/refusal.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { rolesOf } from '../offline/claims.ts';
import { headerValue } from '../offline/request-bytes.ts';
import type { Path } from '../problem/finding.ts';
import type { StepName } from './explanation.ts';
import type { Walk } from './walk.ts';

/** What is told of a step, and what in the manifest says so. */
export interface Told {
  readonly because: string;
  readonly paths: readonly Path[];
}

interface StepRule {
  readonly name: StepName;
  /** `undefined`: there is no such step on this way. */
  readonly tell: (walk: Walk) => Told | undefined;
}

/** The steps of a request in the order in which `serve` takes them. */
export const STEPS: readonly StepRule[] = [
  { name: 'message', tell: (walk) => told(reasonOr(walk, 'the message has one reading')) },
  { name: 'path', tell: (walk) => (walk.hasPath ? told(reasonOr(walk, 'the path has one reading')) : undefined) },
  { name: 'preflight', tell: tellPreflight },
  { name: 'route', tell: tellRoute },
  { name: 'origin', tell: tellOrigin },
  { name: 'token', tell: tellToken },
  { name: 'role', tell: tellRole },
  { name: 'parameters', tell: tellParameters },
  { name: 'body', tell: tellBody },
  { name: 'forward', tell: tellForward },
  { name: 'answer', tell: tellAnswer },
];

/** The step at which each refusal falls. One that an answer of the upstream can bring about falls there once it was asked. */
export const STEP_OF: Readonly<Record<RefusalCode, StepName>> = {
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
  upstream_broken: 'forward',
  upstream_unavailable: 'forward',
  upstream_busy: 'forward',
  upstream_timeout: 'forward',
  login_answer_refused: 'answer',
};

function told(because: string, ...paths: Path[]): Told {
  return { because, paths };
}

function reasonOr({ refusal }: Walk, otherwise: string): string {
  if (refusal === undefined) return otherwise;
  return refusal.reason === refusal.code ? refusal.detail : `${refusal.detail} (${refusal.reason})`;
}

function tellPreflight({ isAnswered, hasPath }: Walk): Told | undefined {
  if (!isAnswered) return undefined;
  return hasPath
    ? told('a preflight is answered before anything else, by what cors allows', ['cors'])
    : told('what the server takes is answered by the gateway itself');
}

function tellRoute({ route, routePath, refusal, nearest, allowed }: Walk): Told | undefined {
  if (route !== undefined) return told(`${route.id}: ${route.methods.join(',')} ${route.path}`, routePath);
  if (refusal?.code === 'method_not_allowed') return told(`the routes of this path take ${allowed.join(', ')}`);
  return told(nearest === undefined ? 'no route has this path' : `no route has this path; did you mean ${nearest}?`);
}

function tellOrigin({ loaded: { manifest }, asked, route, entry, routePath, refusal }: Walk): Told | undefined {
  const isHandshake = asked.method === 'GET' && headerValue(asked.headers, 'upgrade')?.toLowerCase() === 'websocket';
  if (!isHandshake || route?.websocket !== true || headerValue(asked.headers, 'origin') === undefined) return undefined;
  const isListed = typeof entry?.websocket === 'object';
  const hasCors = !isListed && manifest.cors !== undefined;
  const verdict = refusal?.code === 'origin_not_allowed' ? 'pages of this origin may not' : 'pages of this origin may';
  const list = isListed ? 'the list of the route' : `the same host${hasCors ? ' or the list of cors' : ''} may`;
  return told(
    `${verdict} open a WebSocket: ${list}`,
    [...routePath, 'websocket'],
    ...(hasCors ? [['cors', 'origins']] : []),
  );
}

function tellToken(walk: Walk): Told {
  const { entry, routePath, claims, refusal } = walk;
  const place = [...routePath, 'access'];
  if (entry?.access === 'public') return told('public: none is asked for', place);
  if (refusal?.code === 'token_missing') return told('protected: none was sent', place);
  if (refusal?.code === 'token_invalid')
    return told(`protected: the one that was sent does not verify (${refusal.reason})`, place, ['auth', 'tokens']);
  return told(`protected: ${claims === undefined ? 'one was sent' : 'the stated one is taken for verified'}`, place);
}

function tellRole({ loaded: { manifest }, entry, routePath, route, claims, refusal }: Walk): Told | undefined {
  const role = manifest.auth?.role;
  if (entry?.access === 'public' || role === undefined || claims === undefined) return undefined;
  const place = entry?.roles === undefined ? ['auth', 'role', 'allow'] : [...routePath, 'roles'];
  const held = rolesOf(role, claims);
  const required = route?.auth?.role.shown.join(', ');
  const isRefused = refusal?.code === 'role_not_allowed';
  return told(`${held.join(', ') || 'no role'}: ${isRefused ? 'none' : 'one'} of ${required}`, place, [
    'auth',
    'role',
    'claim',
  ]);
}

function tellParameters({ entry, routePath, refusal, reported }: Walk): Told | undefined {
  const keys = (['params', 'query', 'headers'] as const).filter((key) => entry?.[key] !== undefined);
  if (keys.length === 0) return undefined;
  const misfit = refusal?.detail ?? misfitOf(reported, ['parameter_invalid']);
  return told(misfit ?? `what is said of ${keys.join(', ')} fits`, ...keys.map((key) => [...routePath, key]));
}

function tellBody({ entry, routePath, refusal, reported }: Walk): Told {
  const rule = entry?.body;
  if (rule === undefined) return told('no rule: any body is streamed through');
  const place = [...routePath, 'body'];
  const paths = rule.schema === undefined ? [place] : [[...place, 'schema'], ...sharedOf(rule.schema), place];
  const misfit = refusal?.detail ?? misfitOf(reported, ['body_invalid', 'media_type_unsupported']);
  const limit = `at most ${rule.maxBytes}`;
  return told(misfit ?? (rule.schema === undefined ? limit : `${limit}, and fits its schema`), ...paths);
}

/** What is let through although it does not fit. */
function misfitOf(reported: Walk['reported'], codes: readonly RefusalCode[]): string | undefined {
  const found = reported.filter(({ code }) => codes.includes(code));
  if (found.length === 0) return undefined;
  const places = found.flatMap(({ pointers }) => pointers).join(', ');
  return `does not fit, and is only reported${places === '' ? '' : `: ${places}`}`;
}

/** The shared schema that a schema refers to at its top. */
function sharedOf(schema: NonNullable<NonNullable<RouteEntry['body']>['schema']>): Path[] {
  const reference = typeof schema === 'object' ? schema['$ref'] : undefined;
  const name = typeof reference === 'string' ? /^#\/schemas\/([^/]+)$/.exec(reference)?.[1] : undefined;
  return name === undefined ? [] : [['schemas', name]];
}

function tellForward({ entry, routePath, refusal, upstreamUrl }: Walk): Told | undefined {
  if (entry === undefined) return undefined;
  const rewrites = [
    ...(entry.upstreamPath === undefined ? [] : [[...routePath, 'upstreamPath']]),
    ...(entry.requestHeaders === undefined ? [] : [[...routePath, 'requestHeaders']]),
  ];
  const paths = [['upstreams', entry.upstream], ...rewrites];
  return told(refusal === undefined ? `${entry.upstream}: ${upstreamUrl}` : refusal.detail, ...paths);
}

function tellAnswer({ entry, routePath, refusal }: Walk): Told {
  if (refusal !== undefined) return told(refusal.detail, [...routePath, 'login']);
  if (entry?.login === undefined) return told('passes as it comes');
  return told('is held back until every token in it has verified and its role is allowed', [...routePath, 'login']);
}
