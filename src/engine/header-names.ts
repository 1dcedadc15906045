/** Returns a header name in lower case with hyphens, of the same length: some servers read `X_Original_URL` as `X-Original-URL`. */
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
  if (GATEWAY_HEADERS.has(folded) || ORDINARY.test(folded)) return undefined;
  const isOverride = OVERRIDES.test(folded);
  if (!isOverride && ADDRESSES.test(folded)) return 'address';
  if (IDENTITIES.test(folded)) return 'identity';
  return isOverride ? 'override' : undefined;
}

const MAX_LENGTH = 128;

/** Headers in which proxies, content delivery networks and clouds report the address of the client. The gateway reads none of them. */
export const ADDRESS_HEADERS = namesIn(`
  ip *-ip *-ipv4 *-ipv6 *-ip-address *clientip *realip *remoteip *socketip *sourceip *userip
  *client-addr* *clientaddr* *remote-addr* *remoteaddr* *source-addr* *viewer-addr* *peer-addr* *remote-host x-client-host -wsra -wsrh
  *forward-for *forwarded-for *forwardedfor *forwarder-for *proxied-for x-original-for x-forwarded *coming-from x-custom-ip-authorization
`);

/** Headers in which proxies that authenticate report the user, the groups or the client certificate, and those that act for another user. */
export const IDENTITY_HEADERS = namesIn(`
  *remote-user remote-groups remote-name remote-email x-remote-uid x-remote-group x-remote-groups x-remote-role* x-remote-name
  x-remote-email
  x-remote-extra-* impersonate-* x-impersonate-* x-kubernetes-* es-security-runas-user opendistro-security-impersonate-as
  auth-user x-auth-user* x-auth-name x-auth-groups x-auth-role x-auth-roles x-auth-subject x-auth-couchdb-* x-auth-request-*
  authenticated-user x-authenticated-* x-authentik-* x-webauth-* proxy-user x-proxy-user x-proxy-roles x-original-user x-override-user
  x-logged-in-user
  x-user x-username x-user-id x-userid x-user-name x-user-email x-user-role* x-userrole* x-user-group* x-userinfo x-apigateway-*
  x-endpoint-api-userinfo x-jwt-assertion x-jwt-claim* x-jwt-payload x-jwt-sub x-jwt-subject
  x-consumer-* x-credential-identifier x-anonymous-consumer x-vouch-* x-pomerium-* tailscale-* cf-access-authenticated-*
  x-goog-authenticated-* x-appengine-* x-ms-client-principal* x-ms-token-* x-amzn-oidc-* x-amzn-mtls-*
  oidc-* x-oidc-* oam-* osso-* mellon-* shib-* iv-user* iv-groups iv-creds sm-user* sm-universalid smuser cas-user eppn kubeflow-userid
  kubeflow-groups x-proxiedentitieschain x-scope-orgid x-rh-identity -wsru -wsat
  *client-cert* *clientcert* cf-cert-* *ssl-client* *tls-client* *peer-cert* x-ssl-cert* ssl-cert* x-ssl-subject* x-ssl-issuer* x-ssl-cn
  x-ssl-dn x-ssl-s-dn x-ssl-i-dn *ssl-verif* *tls-verif* x-mtls-* -wscc
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

/** Names of applications that have one of the forms. */
const ORDINARY = patternOf(namesIn('x-amz-meta-* x-consumer-key x-consumer-secret x-device-ip oidc-nonce'));

/**
 * Those of ingress controllers, Envoy and Next.js for all parts of a request; then for the method, the path with the query, the host and
 * the scheme; and those that name a file to send in place of the response.
 */
const OVERRIDES = patternOf(
  namesIn(`
    x-forwarded-* x-rewrite-* x-envoy-* x-invoke-* x-original-forwarded-* x-original-authorization
    x-middleware-subrequest* x-middleware-request-* x-middleware-override-headers x-middleware-invoke x-middleware-next
    x-middleware-skip x-middleware-set-cookie
    x-http-method-override x-http-method x-method-override x-method x-http-verb x-request-method request-method http-method-override
    x-original-method x-original-http-method x-original-request-method x-override-method x-override-http-method
    x-rewrite x-http-path-override x-http-destinationurl x-dest-url x-proxy-url x-request-uri x-request-url request-uri x-path-info
    path-info x-script-name script-name x-matched-path x-waws-unencoded-url x-now-route-matches x-nextjs-rewrite x-middleware-rewrite
    x-middleware-redirect x-original-url x-original-uri x-original-request-ur* x-original-path* x-original-prefix x-original-query*
    x-original-args x-override-url x-override-uri
    x-override-path x-override-query
    x-host x-http-host-override x-host-override x-original-host* x-original-server x-original-port x-override-host x-override-port
    x-scheme x-url-scheme x-ssl x-https https front-end-https x-original-proto* x-original-scheme x-original-ssl x-override-proto*
    x-override-scheme cf-visitor cloudfront-forwarded-proto fly-forwarded-proto x-arr-ssl
    x-sendfile-type x-accel-mapping
  `),
);
