import type { Cors as CorsEntry, RouteEntry } from '../manifest/manifest.generated.ts';
import { durationMs } from '../manifest/units.ts';
import type { Route } from '../plan/route-definition.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';

/** The permissions of pages of other origins: the CORS protocol of the Fetch standard. */
export type Cors = ReturnType<typeof compileCors>;

const NO_HEADERS: readonly string[] = [];

/** Compiles the headers of the CORS protocol, once for each origin. */
export function compileCors(entry: CorsEntry, findings: Finding[]) {
  const isAny = entry.origins.includes('*');
  checkCors(entry, findings);
  const common = [
    ...(entry.credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
    ...listHeader('Access-Control-Expose-Headers', entry.exposedHeaders),
  ];
  const headersByOrigin = new Map(
    entry.origins.map((origin) => [origin, ['Access-Control-Allow-Origin', origin, ...common] as readonly string[]]),
  );
  const any = headersByOrigin.get('*');
  return Object.freeze({
    /** Equal for equal definitions. */
    key: JSON.stringify(entry),
    /** Returns the response headers for an origin, as alternating names and values; none if the origin is not allowed. */
    headersFor: any === undefined ? (origin = '') => headersByOrigin.get(origin) ?? NO_HEADERS : () => any,
    /** Further headers of the response to a preflight request. */
    preflightHeaders: [
      ...listHeader('Access-Control-Allow-Headers', entry.headers),
      'Access-Control-Max-Age',
      String(Math.floor(durationMs(entry.maxAge) / 1000)),
    ],
    /** The methods that a preflight response allows; `undefined` for those of the path's routes. */
    methods: entry.methods,
    /** True if responses differ by origin, so that caches must separate them (`Vary`). */
    isOriginDependent: !isAny,
  });
}

function listHeader(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [name, values.join(', ')];
}

function checkCors({ origins, credentials }: CorsEntry, findings: Finding[]): void {
  const wildcard = origins.find((origin) => origin === '*' || origin === 'null');
  if (wildcard !== undefined && credentials) {
    // Any site can open a sandboxed frame, whose origin is null.
    const message = `with "${wildcard}" any site could send requests with its visitors' credentials; list the origins, or remove "credentials"`;
    findings.push(errorAtKey(['cors', 'credentials'], 'cors-credentials', message));
  }
  checkOrigins(origins, ['cors', 'origins'], findings);
}

/** Reports entries that are not origins as browsers write them. */
function checkOrigins(origins: readonly string[], path: Path, findings: Finding[]): void {
  for (const [index, origin] of origins.entries()) {
    const reason = origin === '*' ? wildcardError(origins) : originError(origin);
    if (reason !== undefined) findings.push(errorAt([...path, index], 'cors-origin', reason));
  }
}

function wildcardError(origins: readonly string[]): string | undefined {
  return origins.length === 1 ? undefined : '"*" allows any origin; remove it, or the others';
}

/** RFC 6454 section 6.2, restricted to the form that browsers send: lower case, without the default port. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

function originError(text: string): string | undefined {
  if (text === 'null') return undefined;
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (ORIGIN.test(text) && (isWeb ? url.origin === text : url !== null)) return undefined;
  if (text.includes('*')) return `"${text}" is a pattern; list each origin, or write "*" alone for any`;
  const example = isWeb && ORIGIN.test(url.origin) ? url.origin : 'scheme, host and port, such as https://app.example';
  return `"${text}" is not an origin as browsers write it; write ${example}`;
}

/**
 * Compiles the check of the `Origin` of WebSocket handshakes. Browsers send it but do not apply CORS to handshakes, so the
 * gateway checks it: by the route's own list, or else by the origins of `cors` and the request's host.
 *
 * @param corsOrigins the origins of `cors`
 * @returns `undefined` if the route accepts no handshakes
 */
export function compileWebSocketOrigins(
  websocket: Exclude<RouteEntry['websocket'], false>,
  route: Path,
  corsOrigins: readonly string[],
  findings: Finding[],
): Route['allowsOrigin'] {
  if (websocket === true) return (origin, isSameHost) => isSameHost || isListed(corsOrigins, origin);
  checkOrigins(websocket.origins, [...route, 'websocket', 'origins'], findings);
  return (origin) => isListed(websocket.origins, origin);
}

function isListed(origins: readonly string[], origin: string): boolean {
  return origins.includes('*') || origins.includes(origin);
}
