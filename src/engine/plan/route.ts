import { HTTP_METHODS } from '../http1/http-methods.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { timerMs } from '../manifest/units.ts';
import { errorAt, errorAtKey, type Finding, type Fix } from '../problem/finding.ts';
import { compileRouteRateLimits, type RateLimits } from '../rate-limits/compile-rate-limits.ts';
import { fixPath, type Pattern, patternKey, readPattern } from '../routing/pattern.ts';
import { compileUpstreamPath } from '../routing/upstream-path.ts';
import type { SchemaCompiler } from '../schema/schema-compiler.ts';
import { compileWebSocketOrigins } from '../settings/cors.ts';
import { compileHeaderRules } from '../settings/header-rules.ts';
import { checkDestination, compileOwnResponse } from '../settings/own-response.ts';
import { findUpstream, type Upstreams } from '../settings/upstream.ts';
import { compileRouteAuth, type RouteAuthContext } from '../tokens/auth.ts';
import { compileForwardedClaims, type ForwardedClaims } from '../tokens/forwarded-claims.ts';
import { compileLogin } from '../tokens/login.ts';
import { compileBody } from '../validation/body.ts';
import { compileParameters } from '../validation/parameters.ts';
import type { Route } from './route-definition.ts';
import type { SlicedWork } from './sliced-work.ts';

/** A route of the manifest with its parsed path. */
export interface ParsedRoute {
  readonly entry: RouteEntry;
  readonly index: number;
  /** `undefined` if the path is invalid. */
  readonly pattern: Pattern | undefined;
  /** Equal for paths that match the same requests. */
  readonly key: string | undefined;
}

interface RouteContext extends RouteAuthContext {
  readonly upstreams: Upstreams;
  readonly rateLimits: RateLimits | undefined;
  readonly origins: readonly string[];
  /** `undefined` if the manifest's `schemas` are invalid. */
  readonly schemas: SchemaCompiler | undefined;
  readonly isManifestName: Route['isManifestName'];
  readonly claimsOf?: (entry: RouteEntry) => ForwardedClaims | undefined;
}

/** Compiles the routes. Reports routes that match the same requests or have the same id. */
export function* compileRoutes(parsedRoutes: readonly ParsedRoute[], context: RouteContext, findings: Finding[]) {
  yield* findDuplicates(parsedRoutes, findings);
  const headKeys = new Set(
    parsedRoutes.filter(({ entry }) => declaredMethods(entry).includes('HEAD')).map(({ key }) => key),
  );
  const claimsOf = compileForwardedClaims(parsedRoutes, context.authEntry?.forward, findings);
  const routes: Route[] = [];
  for (const route of parsedRoutes) {
    routes.push(...compileRoute(route, headKeys.has(route.key), { ...context, claimsOf }, findings));
    yield;
  }
  return routes;
}

export function parseRoute(entry: RouteEntry, index: number, findings: Finding[]): ParsedRoute {
  const pattern = readPattern(entry.path, (message) => {
    const path = ['routes', index, 'path'];
    const text = fixPath(entry.path);
    const fix: Fix | undefined = text === undefined ? undefined : { change: 'value', path, text };
    findings.push({ ...errorAt(path, 'path', message), fix });
  });
  return { entry, index, pattern, key: pattern && patternKey(pattern) };
}

/** Checks the path and the upstream of a route that its schema has rejected, so that all mistakes are reported at once. */
export function checkInvalidRoute(
  entry: Partial<RouteEntry> | null,
  index: number,
  upstreams: Upstreams,
  findings: Finding[],
): void {
  if (typeof entry?.upstream === 'string')
    findUpstream(entry.upstream, ['routes', index, 'upstream'], upstreams, findings);
  if (typeof entry?.path === 'string') parseRoute(entry as RouteEntry, index, findings);
}

function compileRoute(
  { entry, index, pattern }: ParsedRoute,
  hasHead: boolean,
  context: RouteContext,
  findings: Finding[],
): Route[] {
  const { upstreams, schemas } = context;
  const path = ['routes', index];
  checkDestination(entry, path, findings);
  const upstream =
    entry.upstream === undefined ? undefined : findUpstream(entry.upstream, [...path, 'upstream'], upstreams, findings);
  const methods = methodsOf(entry, hasHead);
  if (entry.websocket !== false && !methods.includes('GET')) {
    const message = 'a WebSocket begins with GET, which this route does not accept; add GET to "method"';
    findings.push(errorAtKey(['routes', index, 'websocket'], 'websocket', message));
  }
  const hasParameters = (entry.params ?? entry.query ?? entry.headers) !== undefined;
  const parameters = pattern && hasParameters ? compileParameters(entry, pattern, path, schemas, findings) : undefined;
  const body = entry.body && compileBody(entry.body, methods, [...path, 'body'], context, findings);
  const auth = compileRouteAuth(entry, index, context, findings);
  const rateLimits = compileRouteRateLimits(entry, path, context.rateLimits, findings);
  const { login, requestHeaders, responseHeaders, upstreamPath, websocket } = entry;
  const forwarding = {
    timeoutMs: entry.timeout === undefined ? undefined : timerMs(entry.timeout),
    keepsEncodedSlash: entry.encodedSlash === 'keep',
    login: login && compileLogin({ login, websocket }, index, context.authEntry, findings),
    ...NO_UPSTREAM_PATH,
    ...(upstreamPath && compileUpstreamPath(upstreamPath, entry.path, [...path, 'upstreamPath'], findings)),
    requestHeaders:
      requestHeaders && compileHeaderRules(requestHeaders, 'request', [...path, 'requestHeaders'], findings),
    responseHeaders:
      responseHeaders && compileHeaderRules(responseHeaders, 'response', [...path, 'responseHeaders'], findings),
  };
  if (pattern === undefined) return [];
  const ownResponse = compileOwnResponse(entry, { ...context, findings, path, methods, pattern });
  if (upstream === undefined && ownResponse === undefined) return [];
  const { id, access, validation } = entry;
  const key = JSON.stringify(entry);
  return [
    Object.freeze({
      id,
      key,
      methods,
      path: entry.path,
      pattern,
      access,
      auth,
      claims: context.claimsOf?.(entry),
      upstream,
      ownResponse,
      rateLimits,
      ...forwarding,
      websocket: websocket !== false,
      allowsOrigin:
        websocket === false ? undefined : compileWebSocketOrigins(websocket, path, context.origins, findings),
      validation,
      isManifestName: context.isManifestName,
      parameters,
      body,
    }),
  ];
}

/** Every route has these members, so that all have one shape. */
const NO_UPSTREAM_PATH = { upstreamPath: undefined, forwardedPrefix: undefined, publicPath: undefined };

function declaredMethods(entry: RouteEntry): readonly string[] {
  if (entry.method === 'any') return HTTP_METHODS;
  return typeof entry.method === 'string' ? [entry.method] : entry.method;
}

/** Adds HEAD to GET (RFC 9110 section 9.3.2), so that a wider route does not match the HEAD requests of a narrower one. */
function methodsOf(entry: RouteEntry, hasHead: boolean): readonly string[] {
  const declared = declaredMethods(entry);
  return declared.includes('GET') && !hasHead ? [...declared, 'HEAD'].sort() : declared.toSorted();
}

/** Reports routes with the same id, and routes that match the same requests. */
function* findDuplicates(routes: readonly ParsedRoute[], findings: Finding[]): SlicedWork<void> {
  const ids = new Map<string, ParsedRoute>();
  const routeByRequest = new Map<string, ParsedRoute>();
  for (const route of routes) {
    yield;
    const { entry, index, key } = route;
    const sameId = ids.get(entry.id);
    if (sameId === undefined) ids.set(entry.id, route);
    else
      findings.push(
        duplicate(index, sameId.index, 'id', 'route-id', `another route has the id "${entry.id}"; rename one`),
      );
    if (key === undefined) continue;
    const requests = declaredMethods(entry).map((method) => `${method} ${key}`);
    const duplicateRequest = requests.find((request) => routeByRequest.has(request));
    const twin = duplicateRequest === undefined ? undefined : routeByRequest.get(duplicateRequest);
    for (const request of requests) if (!routeByRequest.has(request)) routeByRequest.set(request, route);
    if (twin === undefined) continue;
    const message = `the route "${twin.entry.id}" already has ${duplicateRequest?.split(' ')[0]} ${twin.entry.path}; remove one, or change its path or method`;
    findings.push(duplicate(index, twin.index, 'path', 'route-duplicate', message));
  }
}

function duplicate(index: number, other: number, key: string, rule: string, message: string): Finding {
  return {
    ...errorAt(['routes', index, key], rule, message),
    related: { path: ['routes', other, key], message: 'the other route' },
  };
}
