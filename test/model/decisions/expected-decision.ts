import { REFUSALS, type RefusalCode } from '../../../src/engine/gateway/response/refusal.ts';
import type { Manifest, RouteEntry } from '../../../src/engine/manifest/manifest.generated.ts';
import { checkCaller } from './check-caller.ts';
import { areValidParameters, checkBody } from './check-content.ts';
import { allowedMethods, findRoute, readTarget } from './find-route.ts';
import { forwardedHeaders, locationOf, pathFor } from './forwarded-request.ts';
import { ExpectedRefusal, type HeaderLine, headerOf, type ModelRequest, refuse } from './model-request.ts';

// ## The order of the checks
//
// The gateway makes these checks in this order. The first one that fails decides: the client gets its refusal, and the upstream gets nothing.

interface ExpectedDecision {
  readonly kind: 'refused' | 'responded' | 'forwarded';
  /** `undefined` for a decision without a route. */
  readonly route: string | undefined;
  /** The origin whose pages may read the response; `undefined` for other origins. */
  readonly origin: string | undefined;
  /** The violations that `validation: report` lets pass. */
  readonly reported: readonly RefusalCode[];
  /** The status and the code of a refusal, or the status and the location of a response of the gateway. */
  readonly status?: number;
  readonly code?: RefusalCode;
  readonly location?: string;
  /** The upstream, its path and query, and its headers, as far as the manifest decides about them. */
  readonly upstream?: string | undefined;
  readonly target?: string;
  readonly headers?: readonly HeaderLine[];
}

/** Returns the decision of the gateway about a request. Nothing here is fast. */
export function expectedDecision(manifest: Manifest, request: ModelRequest): ExpectedDecision {
  const { method, target, caller, body } = request;
  const found: { route?: RouteEntry; reported: RefusalCode[] } = { reported: [] };
  // With `cors`, every response, refusals too, allows pages of its `origins` to read it. `*` allows every origin.
  const origin = manifest.cors?.origins.find((one) => one === '*' || one === headerOf(request, 'origin'));
  const common = () => ({ route: found.route?.id, origin, reported: found.reported });
  const respond = (status: number) => ({ kind: 'responded', status, ...common() }) as const;
  try {
    // More headers than `server.limits.headers` get 431 `headers_too_large`.
    const count = request.headers.length + (caller === 'none' ? 0 : 1);
    if (count > manifest.server.limits.headers) refuse('headers_too_large');
    // A request whose `Via` has the name `server.via` leads back to this gateway: 508 `loop_detected`.
    const isOwn = (member: string) => (member.split(' ')[1] ?? '') === manifest.server.via?.toLowerCase();
    if (listOf(request, 'via').some(isOwn)) refuse('loop_detected');
    // `OPTIONS *` is about the gateway itself and gets 204.
    if (method === 'OPTIONS' && target === '*') return respond(204);
    // The path has one reading: otherwise 400. See [Paths with two readings](#paths-with-two-readings).
    const keepsSlashes = manifest.routes.some(({ encodedSlash }) => encodedSlash === 'keep');
    const { path, query } = readTarget(target, headerOf(request, 'host') ?? '', keepsSlashes);
    // With `cors`, a preflight gets 204 without a token if a route has its path, and otherwise 404. It is an OPTIONS request with `Origin` and `Access-Control-Request-Method`, without a body. Without `cors` it is a request like any other.
    const hasHeader = (name: string) => headerOf(request, name) !== undefined;
    const isPreflight = hasHeader('origin') && hasHeader('access-control-request-method') && body === undefined;
    if (manifest.cors && method === 'OPTIONS' && isPreflight)
      return allowedMethods(manifest, path).length > 0 ? respond(204) : refuse('route_unknown');
    // A route has the path and the method: otherwise 404 or 405. See [The route of a request](#the-route-of-a-request).
    const route = findRoute(manifest, method, path);
    // A WebSocket handshake is complete, and the route allows its page: otherwise 400, 426 or 403. See [WebSockets](#websockets).
    if (isHandshake(route, request)) checkHandshake(request);
    found.route = route;
    if (isHandshake(route, request)) checkOrigin(manifest, route, request);
    // Rate limits by address or header count here: 429 `rate_limit_exceeded`. Those by caller or route count after the checks of the caller, and those by body after the body.
    // On a protected route, the caller has a token and a role: otherwise 401 or 403. See [Callers](#callers).
    const claims = route.access === 'protected' ? checkCaller(manifest, route, caller) : [];
    // Parameters and body are valid: otherwise 400, 413 or 415. See [Parameters and bodies](#parameters-and-bodies). A client that sent `Expect: 100-continue` gets `100 Continue` when only checks of the body are left.
    const report = (code: RefusalCode) =>
      void (route.validation === 'report' ? found.reported.push(code) : refuse(code));
    if (!areValidParameters(route, path, query, request)) report('parameter_invalid');
    checkBody(route, request, report);
    // A route with `respond` or `redirect` sends its response without an upstream.
    if (route.respond) return respond(route.respond.status);
    if (route.redirect)
      return { ...respond(route.redirect.status), location: locationOf(route.path, route.redirect, path, query) };
    // Every other route forwards the request. The client gets the response of the upstream as it is, for example 202 with a job. With `login`, the gateway checks it first. See [Callers](#callers).
    const headers = forwardedHeaders(manifest, route, request, claims);
    return { kind: 'forwarded', upstream: route.upstream, target: pathFor(route, path) + query, headers, ...common() };
  } catch (refusal) {
    if (!(refusal instanceof ExpectedRefusal)) throw refusal;
    const code = refusal.message as RefusalCode;
    return { kind: 'refused', code, status: REFUSALS[code].status, ...common() };
  }
}

function listOf(request: ModelRequest, name: string): string[] {
  const values = headerOf(request, name)?.toLowerCase();
  return values?.split(/[\t ]*,[\t ]*/) ?? [];
}

// ## WebSockets
//
// A GET request with `Connection: Upgrade` and `Upgrade: websocket` is a handshake on routes with `websocket`. On other routes it is a plain request, and these headers end at the gateway.

function isHandshake({ websocket }: RouteEntry, request: ModelRequest): boolean {
  const isUpgrade = listOf(request, 'connection').includes('upgrade');
  const isWebsocket = websocket !== false && headerOf(request, 'upgrade')?.toLowerCase() === 'websocket';
  return request.method === 'GET' && isUpgrade && isWebsocket;
}

function checkHandshake(request: ModelRequest): void {
  // A handshake has no body and one key of 16 bytes in Base64: otherwise 400 `message_malformed`. Its version is 13: otherwise 426 `websocket_version_unsupported`.
  const isKey = /^[A-Za-z0-9+/]{22}==$/.test(headerOf(request, 'sec-websocket-key') ?? '');
  if (request.body !== undefined || !isKey) refuse('message_malformed');
  if (headerOf(request, 'sec-websocket-version') !== '13') refuse('websocket_version_unsupported');
}

function checkOrigin({ cors, server }: Manifest, { websocket }: RouteEntry, request: ModelRequest): void {
  // A handshake without `Origin` passes, since browsers always send it. If it has `Sec-Fetch-Site: cross-site` or `same-site` instead, its origin counts as `null`.
  const isSameSite = ['none', 'same-origin'].includes(headerOf(request, 'sec-fetch-site') ?? 'none');
  const origin = headerOf(request, 'origin') ?? (isSameSite ? undefined : 'null');
  // The origin must be in `websocket.origins`, or with `websocket: true` in `cors.origins`. `*` allows every origin.
  const listed = typeof websocket === 'object' ? websocket.origins : (cors?.origins ?? []);
  if (origin === undefined || listed.includes('*') || listed.includes(origin)) return;
  // `websocket: true` also allows pages of the host in `Host`, or in `X-Forwarded-Host` of a trusted proxy, but no page of plain HTTP if clients use TLS. Other origins get 403 `origin_not_allowed`.
  const trusted = (name: string) => (request.isTrustedProxy ? headerOf(request, name) : undefined);
  const isSecure = (trusted('x-forwarded-proto') ?? (server.tls ? 'https' : 'http')).endsWith('s');
  const page = /^https?:\/\//.test(origin) ? URL.parse(origin) : null;
  const host = URL.parse(`${page?.protocol}//${trusted('x-forwarded-host') ?? headerOf(request, 'host')}`)?.host;
  const isSameHost = page?.host === host && !(isSecure && page?.protocol === 'http:');
  if (websocket !== true || page === null || !isSameHost) refuse('origin_not_allowed');
}
