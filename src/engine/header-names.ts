/**
 * Returns the canonical form of a header name, in lower case and with hyphens: some servers read `X_Original_URL` and
 * `X.Original.URL` as `X-Original-URL`. The length stays the same.
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
}

/**
 * The meaning of a header that a client could forge. `override`: frameworks, proxies or middleware would serve another method, path,
 * host or scheme than the gateway matched and authorized. `identity`: they would believe the name or the certificate of a user, or let it act for another one.
 * `address`: they would believe the address of a client. Only trusted proxies may send the address.
 */
type ForgeableHeader = 'override' | 'identity' | 'address';

/**
 * Returns the meaning of a header that a client could forge; `undefined` for every other header.
 *
 * @param folded the result of `foldHeaderName`
 */
export function forgeableHeader(folded: string): ForgeableHeader | undefined {
  // A client may send a name of many kilobytes, and the forms take time for each character.
  if (folded.length > MAX_LENGTH)
    return forgeableHeader(folded.slice(0, MAX_LENGTH / 2) + folded.slice(-MAX_LENGTH / 2));
  if (GATEWAY_HEADERS.has(folded)) return undefined;
  const hasOverridePrefix = OVERRIDE_PREFIXES.test(folded);
  if (!hasOverridePrefix && ADDRESSES.test(folded)) return 'address';
  if (IDENTITIES.test(folded)) return 'identity';
  return hasOverridePrefix || OVERRIDE_HEADERS.has(folded) ? 'override' : undefined;
}

const MAX_LENGTH = 128;

/** Headers in which proxies, content delivery networks and clouds report the address of the client. The gateway reads none of them. */
export const ADDRESS_HEADERS = namesIn(`
  ip *-ip *-ipv4 *-ipv6 *clientip *realip *remoteip *socketip *userip
  *client-addr* *remote-addr* *source-addr* *viewer-addr* *peer-addr* *remote-host x-client-host -wsra -wsrh
  *forward-for *forwarded-for *forwarder-for *proxied-for x-forwarded *coming-from x-custom-ip-authorization
`);

/** Headers in which proxies that authenticate report the user, the groups or the client certificate, and those that act for another user. */
export const IDENTITY_HEADERS = namesIn(`
  *remote-user remote-groups remote-name remote-email x-remote-uid x-remote-group x-remote-groups x-remote-name x-remote-email
  x-remote-extra-* impersonate-* x-impersonate-* x-kubernetes-* es-security-runas-user opendistro-security-impersonate-as
  auth-user x-auth-user* x-auth-email x-auth-name x-auth-groups x-auth-roles x-auth-subject x-auth-couchdb-* x-auth-request-*
  authenticated-user x-authenticated-* x-authentik-* x-webauth-* proxy-user x-proxy-user x-proxy-roles x-logged-in-user
  x-user x-username x-user-id x-user-name x-user-email x-user-role* x-user-group* x-userinfo x-apigateway-* x-endpoint-api-userinfo x-jwt-assertion x-jwt-claim* x-jwt-payload
  x-consumer-* x-credential-identifier x-anonymous-consumer x-vouch-* x-pomerium-* tailscale-* cf-access-authenticated-*
  x-goog-authenticated-* x-appengine-* x-ms-client-principal* x-ms-token-* x-amzn-oidc-* x-amzn-mtls-*
  oidc-* oam-* osso-* mellon-* shib-* iv-user* iv-groups iv-creds sm-user* sm-universalid smuser cas-user -wsru -wsat
  *client-cert* *clientcert* cf-cert-* *ssl-client* *tls-client* x-ssl-cert* ssl-cert* x-ssl-subject* x-ssl-issuer* -wscc
  client-verify x-client-verify x-client-verified x-client-dn x-client-cn x-client-s-dn x-client-subject* x-client-issuer*
  l5d-client-id x-spiffe-*
`);

const ADDRESSES = patternOf(ADDRESS_HEADERS);
const IDENTITIES = patternOf(IDENTITY_HEADERS);

function namesIn(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function patternOf(names: readonly string[]): RegExp {
  return new RegExp(`^(?:${names.join('|').replaceAll('*', '.*')})$`);
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
