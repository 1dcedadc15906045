import { type Rule, reportedRules } from './rule.ts';

/** The errors of `load`, in the order of the docs. A manifest that has one is not served. */
export const ERROR_RULES: readonly Rule[] = [
  ...errors('manifest', {
    syntax: 'Invalid or ambiguous YAML has no single meaning, so the gateway refuses to guess.',
    schema: 'If the gateway ignored unknown keys and invalid values, a setting could silently have no effect.',
    environment: 'An unset variable would leave a gap in the manifest.',
    include: 'A missing, empty or unsupported file would leave a gap in the manifest.',
    'include-twice': 'If two files define an upstream or a schema with the same name, references to it are ambiguous.',
    address: 'The gateway cannot listen on an invalid address.',
  }),
  ...errors('operations', {
    'listen-twice': 'Two servers cannot bind the same address, so the gateway would not start.',
    'listen-socket': 'Only a unix socket has permissions, and it has neither TLS nor several workers.',
  }),
  ...errors('routes', {
    path: 'A pattern that matches no request, or that has two readings, does not do what its author intended.',
    'route-id':
      'Logs, metrics and tables identify a route by its id, so two routes with the same id could not be distinguished.',
    'route-duplicate': 'If two routes match the same requests, one of them never receives a request.',
    invariant: 'An invariant that is not complete would prove something else than its author intended.',
    'invariant-unknown': 'An invariant about a name that does not exist would always hold.',
    'invariant-broken': 'The gateway does not serve a request that an invariant rules out.',
    'route-response':
      'The gateway would not know how to respond, or would send clients to another host or the same one forever.',
    'upstream-unknown': 'The gateway would have no upstream to forward the request to.',
    'upstream-path': 'The upstream would receive requests for the wrong path.',
    header: 'A reserved header, or an invalid name or value, would change how servers read the message.',
    websocket:
      'A WebSocket handshake is a GET request (RFC 6455 section 4.1), so a route without GET can never accept one.',
  }),
  ...errors('auth', {
    'auth-missing': 'Without "auth" the gateway cannot verify tokens, so it would refuse every request.',
    'secret-in-file':
      'The file is copied to repositories, images and backups, and anyone who can read one of them has the secret.',
    'jwt-keys': 'The gateway needs exactly one source of keys to verify tokens.',
    'jwt-algorithm': 'If a public key is used as an HMAC secret, anyone can sign tokens (RFC 8725 section 3.1).',
    'jwt-secret': 'An attacker can guess a short secret from a single token (RFC 7518 section 3.2).',
    jwks: 'The gateway needs keys that fit the algorithms to verify tokens, and must not use weak or private keys.',
    discovery:
      'The discovery document names the keys that verify tokens, so the gateway must fetch it from the issuer.',
    endpoint: 'The gateway sends every token to this endpoint, so its address must be exact.',
    'token-method': 'A token must go to exactly one method, so that no method verifies the tokens of another one.',
    'issuer-unknown': 'The route would accept no tokens of this issuer, although its author intended it.',
    'role-unknown': 'The role gate refuses every role that it does not allow, so this role can never reach the route.',
    'roles-public': 'A public route requires no token, so the gateway has no role and no issuer to check.',
    'login-token-path': 'The gateway could not find the token in the login response, so it could not check the role.',
    'login-websocket': 'The gateway cannot inspect messages inside a WebSocket tunnel.',
    'cors-origin': 'An origin that is not written as browsers send it never matches.',
    'cors-credentials': 'Any site could send requests with the credentials of its visitors and read the responses.',
  }),
  ...errors('validation', {
    body: 'A body rule has no effect on a route that accepts no body.',
    'body-types': 'A list of media types that matches nothing, or that contradicts the schema, refuses every body.',
    parameters: 'A rule for a parameter that no request can contain or satisfy, or that never applies, is a mistake.',
    'body-schema': 'A schema that does not compile, checks nothing or never finishes offers no protection.',
  }),
  ...errors('limits', {
    'rate-limit': 'A duration that is too long, or a key that has no effect, is a mistake.',
    'rate-limit-unknown': 'The route would not be limited, although its author intended it.',
    'rate-limit-key': 'The gateway could not count requests by a value that they never have, or that has two meanings.',
    'rate-limit-missing':
      'The manifest decides about requests that lack the key: a client could leave it out to avoid the limit.',
    'store-unknown': 'The limit would be counted by each gateway alone.',
    'store-redis': 'The gateway could not connect, or would connect to another server than its author intended.',
    'store-secret': 'With a short secret, anyone who can read the store can find out the addresses and accounts in it.',
  }),
  ...errors('upstreams', {
    'upstream-url': 'The gateway cannot forward requests to an ambiguous or invalid address.',
    'upstream-tls': 'The gateway could not connect, or could not verify that it reached the right upstream.',
    'upstream-health': 'Two kinds of check contradict each other.',
  }),
  ...errors('operations', {
    'server-timeout': 'Zero would disable the timeout, and a timeout of more than 24 hours protects nothing.',
    'server-limit': 'A limit that refuses every request, or that never applies, is a mistake.',
    'trusted-proxy':
      'The gateway trusts the forwarding headers of these peers, so each entry must be an exact address or block.',
    'admin-exposed': 'Anyone who reaches the admin API can see the routes, the upstreams and their health.',
    'admin-token': 'Anyone who guesses a short token has full access to the admin API.',
    'log-secret':
      'With a short secret, anyone who can read the log can find out the identifiers behind the surrogates.',
    'self-test': 'The tests that guard the activation of a manifest must exist, be readable and pass.',
    tls: 'Clients would receive no certificate, or one that does not match the key.',
  }),
];

function errors(category: Rule['category'], rationales: Readonly<Record<string, string>>): Rule[] {
  return reportedRules(category, ['error', 'minimal'], rationales);
}
