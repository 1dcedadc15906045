/**
 * Returns the canonical form of a header name, in lower case and with hyphens: some servers read `X_Original_URL` and
 * `X.Original.URL` as `X-Original-URL`. The length stays the same.
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
}

/**
 * The meaning of a header that a client could forge. `override`: frameworks, proxies or middleware would serve another method, path,
 * host or scheme than the gateway matched and authorized. `identity`: they would believe the name or the certificate of a user.
 * `address`: they would believe the address of a client. Only trusted proxies may send the address.
 */
type ForgeableHeader = 'override' | 'identity' | 'address';

/**
 * Returns the meaning of a header that a client could forge; `undefined` for every other header.
 *
 * @param folded the result of `foldHeaderName`
 */
export function forgeableHeader(folded: string): ForgeableHeader | undefined {
  if (ADDRESS_HEADERS.has(folded)) return 'address';
  if (IDENTITY_HEADERS.has(folded) || IDENTITY_PREFIXES.some((prefix) => folded.startsWith(prefix))) return 'identity';
  if (OVERRIDE_HEADERS.has(folded)) return 'override';
  return OVERRIDE_PREFIXES.test(folded) && !GATEWAY_HEADERS.has(folded) ? 'override' : undefined;
}

/** Headers in which proxies report the address of the client. The gateway reads none of them. */
export const ADDRESS_HEADERS: ReadonlySet<string> = new Set([
  // Proxies and servers.
  'x-real-ip',
  'real-ip',
  'true-client-ip',
  'x-true-client-ip',
  'client-ip',
  'x-client-ip',
  'x-clientip',
  'x-cluster-client-ip',
  'cluster-client-ip',
  'x-proxyuser-ip',
  'x-remote-addr',
  'remote-addr',
  'x-remote-ip',
  'x-originating-ip',
  'x-source-ip',
  'x-user-ip',
  'x-forwarded',
  'forwarded-for',
  'x-forward-for',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'x-coming-from',
  'coming-from',
  // Content delivery networks and clouds.
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'cloudfront-viewer-address',
  'fastly-client-ip',
  'akamai-client-ip',
  'x-akamai-client-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'fly-client-ip',
  'do-connecting-ip',
  'x-appengine-user-ip',
  'x-appengine-remote-addr',
  'x-nf-client-connection-ip',
  'x-vercel-forwarded-for',
  'x-sucuri-clientip',
  'x-gateway-client-ip',
  'incap-client-ip',
  'ali-cdn-real-ip',
  'cdn-src-ip',
  'cdn-real-ip',
]);

/** Headers in which proxies that authenticate report the user or the client certificate. */
export const IDENTITY_HEADERS: ReadonlySet<string> = new Set([
  'remote-user',
  'remote-groups',
  'remote-name',
  'remote-email',
  'x-remote-user',
  'x-remote-uid',
  'x-remote-group',
  'x-remote-groups',
  'x-remote-name',
  'x-remote-email',
  'auth-user',
  'x-auth-user',
  'x-auth-username',
  'x-auth-email',
  'x-auth-groups',
  'authenticated-user',
  'x-webauth-user',
  'x-proxy-user',
  'x-proxy-remote-user',
  'proxy-remote-user',
  'proxy-user',
  'x-logged-in-user',
  'x-userinfo',
  'x-apigateway-api-userinfo',
  'x-endpoint-api-userinfo',
  'x-credential-identifier',
  'x-anonymous-consumer',
  'x-client-verify',
  'x-client-dn',
  'x-client-cn',
  'x-client-s-dn',
  'x-client-subject',
  'client-cert',
  'client-cert-chain',
  'client-verify',
  'x-forwarded-client-cert',
  'x-arr-clientcert',
  'x-ssl-cert',
  'ssl-cert',
  'wl-proxy-client-cert',
  'iv-user',
  'iv-groups',
  'iv-creds',
  'sm-user',
]);

/** The beginnings of further names of that kind. */
export const IDENTITY_PREFIXES: readonly string[] = [
  'x-ssl-client-',
  'ssl-client-',
  'x-tls-client-',
  'x-client-cert',
  'x-remote-extra-',
  'x-auth-request-',
  'x-authenticated-',
  'x-authentik-',
  'x-consumer-',
  'x-goog-authenticated-',
  'x-ms-client-principal',
  'x-amzn-oidc-',
  'x-amzn-mtls-',
  'x-pomerium-',
  'cf-access-authenticated-',
  'tailscale-user-',
  'oidc-claim-',
];

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
