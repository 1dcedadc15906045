/**
 * Returns the canonical form of a header name, in lower case and with hyphens: some servers read `X_Original_URL` and
 * `X.Original.URL` as `X-Original-URL`. The length stays the same.
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
}

/**
 * True for a header with which a client can override the method, path, host or scheme in frameworks, proxies or middleware. The
 * upstream would then serve a request that the gateway neither matched nor authorized.
 *
 * @param folded the result of `foldHeaderName`
 */
export function isOverrideHeader(folded: string): boolean {
  return OVERRIDE_HEADERS.has(folded) || (OVERRIDE_PREFIXES.test(folded) && !GATEWAY_HEADERS.has(folded));
}

/** The gateway sets these itself and never forwards those of a client. */
const GATEWAY_HEADERS = new Set(['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']);

const OVERRIDE_PREFIXES = /^x-(?:forwarded|original|rewrite|override|envoy|middleware|invoke)-/;

const OVERRIDE_HEADERS = new Set([
  // The method: Express, Rails, Spring, Laravel, Symfony, ASP.NET, Google APIs.
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-method',
  'x-http-verb',
  'x-request-method',
  'request-method',
  'http-method-override',
  // The path and the query: IIS, Symfony, Zend, WSGI and PSGI servers, Next.js, Azure App Service.
  'x-rewrite',
  'x-http-path-override',
  'x-http-destinationurl',
  'x-dest-url',
  'x-proxy-url',
  'x-request-uri',
  'x-request-url',
  'request-uri',
  'x-path-info',
  'path-info',
  'x-script-name',
  'script-name',
  'x-matched-path',
  'x-waws-unencoded-url',
  'x-now-route-matches',
  'x-nextjs-rewrite',
  // The host.
  'x-host',
  'x-http-host-override',
  'x-host-override',
  // The scheme.
  'x-scheme',
  'x-url-scheme',
  'x-ssl',
  'x-https',
  'https',
  'front-end-https',
  // Files that a server sends in place of the response: Rack::Sendfile.
  'x-sendfile-type',
  'x-accel-mapping',
]);
