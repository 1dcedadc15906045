import type { Rule } from './rule.ts';

const ERROR = { severity: 'error', preset: 'minimal' } as const;
const MANIFEST = { ...ERROR, category: 'manifest' } as const;
const ROUTES = { ...ERROR, category: 'routes' } as const;
const AUTH = { ...ERROR, category: 'auth' } as const;
const VALIDATION = { ...ERROR, category: 'validation' } as const;
const LIMITS = { ...ERROR, category: 'limits' } as const;
const OPERATIONS = { ...ERROR, category: 'operations' } as const;
const UPSTREAMS = { ...ERROR, category: 'upstreams' } as const;

/** The errors of `load`. A manifest that has one is not served. */
export const ERROR_RULES: readonly Rule[] = [
  {
    ...MANIFEST,
    id: 'syntax',
    rationale: 'Invalid or ambiguous YAML has no single meaning, so the gateway refuses to guess.',
  },
  {
    ...MANIFEST,
    id: 'schema',
    rationale: 'If the gateway ignored unknown keys and invalid values, a setting could silently have no effect.',
  },
  { ...MANIFEST, id: 'environment', rationale: 'An unset variable would leave a gap in the manifest.' },
  {
    ...MANIFEST,
    id: 'include',
    rationale: 'A missing, empty or unsupported file would leave a gap in the manifest.',
  },
  {
    ...MANIFEST,
    id: 'include-twice',
    rationale: 'If two files define an upstream or a schema with the same name, references to it are ambiguous.',
  },
  { ...MANIFEST, id: 'address', rationale: 'The gateway cannot listen on an invalid address.' },
  {
    ...OPERATIONS,
    id: 'listen-twice',
    rationale: 'Two servers cannot bind the same address, so the gateway would not start.',
  },
  {
    ...ROUTES,
    id: 'path',
    rationale: 'A pattern that matches no request, or that has two readings, does not do what its author intended.',
  },
  {
    ...ROUTES,
    id: 'route-id',
    rationale:
      'Logs, metrics and tables identify a route by its id, so two routes with the same id could not be distinguished.',
  },
  {
    ...ROUTES,
    id: 'route-duplicate',
    rationale: 'If two routes match the same requests, one of them never receives a request.',
  },
  {
    ...ROUTES,
    id: 'invariant',
    rationale: 'An invariant that is not complete would prove something else than its author intended.',
  },
  { ...ROUTES, id: 'invariant-unknown', rationale: 'An invariant about a name that does not exist would always hold.' },
  { ...ROUTES, id: 'invariant-broken', rationale: 'The gateway does not serve a request that an invariant rules out.' },
  { ...ROUTES, id: 'upstream-unknown', rationale: 'The gateway would have no upstream to forward the request to.' },
  {
    ...ROUTES,
    id: 'upstream-path',
    rationale: 'The upstream would receive requests for the wrong path.',
  },
  {
    ...ROUTES,
    id: 'header',
    rationale: 'A reserved header, or an invalid name or value, would change how servers read the message.',
  },
  {
    ...ROUTES,
    id: 'websocket',
    rationale:
      'A WebSocket handshake is a GET request (RFC 6455 section 4.1), so a route without GET can never accept one.',
  },
  {
    ...AUTH,
    id: 'auth-missing',
    rationale: 'Without "auth" the gateway cannot verify tokens, so it would refuse every request.',
  },
  {
    ...AUTH,
    id: 'secret-in-file',
    rationale:
      'The file is copied to repositories, images and backups, and anyone who can read one of them has the secret.',
  },
  { ...AUTH, id: 'jwt-keys', rationale: 'The gateway needs exactly one source of keys to verify tokens.' },
  {
    ...AUTH,
    id: 'jwt-algorithm',
    rationale: 'If a public key is used as an HMAC secret, anyone can sign tokens (RFC 8725 section 3.1).',
  },
  {
    ...AUTH,
    id: 'jwt-secret',
    rationale: 'An attacker can guess a short secret from a single token (RFC 7518 section 3.2).',
  },
  {
    ...AUTH,
    id: 'jwks',
    rationale:
      'The gateway needs keys that fit the algorithms to verify tokens, and must not use weak or private keys.',
  },
  {
    ...AUTH,
    id: 'discovery',
    rationale:
      'The discovery document names the keys that verify tokens, so the gateway must fetch it from the issuer.',
  },
  {
    ...AUTH,
    id: 'endpoint',
    rationale: 'The gateway sends every token to this endpoint, so its address must be exact.',
  },
  {
    ...AUTH,
    id: 'role-unknown',
    rationale: 'The role gate refuses every role that it does not allow, so this role can never reach the route.',
  },
  { ...AUTH, id: 'roles-public', rationale: 'A public route requires no token, so the gateway has no role to check.' },
  {
    ...AUTH,
    id: 'login-token-path',
    rationale: 'The gateway could not find the token in the login response, so it could not check the role.',
  },
  { ...AUTH, id: 'login-websocket', rationale: 'The gateway cannot inspect messages inside a WebSocket tunnel.' },
  {
    ...AUTH,
    id: 'cors-origin',
    rationale: 'An origin that is not written as browsers send it never matches.',
  },
  {
    ...AUTH,
    id: 'cors-credentials',
    rationale: 'Any site could send requests with the credentials of its visitors and read the responses.',
  },
  { ...VALIDATION, id: 'body', rationale: 'A body rule has no effect on a route that accepts no body.' },
  {
    ...VALIDATION,
    id: 'body-types',
    rationale: 'A list of media types that matches nothing, or that contradicts the schema, refuses every body.',
  },
  {
    ...VALIDATION,
    id: 'parameters',
    rationale: 'A rule for a parameter that no request can contain or satisfy, or that never applies, is a mistake.',
  },
  {
    ...VALIDATION,
    id: 'body-schema',
    rationale: 'A schema that does not compile, checks nothing or never finishes offers no protection.',
  },
  {
    ...LIMITS,
    id: 'rate-limit',
    rationale: 'A duration that is too long, or a key that has no effect, is a mistake.',
  },
  {
    ...LIMITS,
    id: 'rate-limit-unknown',
    rationale: 'The route would not be limited, although its author intended it.',
  },
  {
    ...LIMITS,
    id: 'rate-limit-key',
    rationale: 'The gateway could not count requests by a value that they never have, or that has two meanings.',
  },
  {
    ...LIMITS,
    id: 'rate-limit-missing',
    rationale: 'The manifest decides about requests that lack the key: a client could leave it out to avoid the limit.',
  },
  { ...LIMITS, id: 'store-unknown', rationale: 'The limit would be counted by each gateway alone.' },
  {
    ...LIMITS,
    id: 'store-redis',
    rationale: 'The gateway could not connect, or would connect to another server than its author intended.',
  },
  {
    ...LIMITS,
    id: 'store-secret',
    rationale: 'With a short secret, anyone who can read the store can find out the addresses and accounts in it.',
  },
  {
    ...UPSTREAMS,
    id: 'upstream-url',
    rationale: 'The gateway cannot forward requests to an ambiguous or invalid address.',
  },
  {
    ...UPSTREAMS,
    id: 'upstream-tls',
    rationale: 'The gateway could not connect, or could not verify that it reached the right upstream.',
  },
  {
    ...UPSTREAMS,
    id: 'upstream-health',
    rationale: 'Two kinds of check contradict each other.',
  },
  {
    ...OPERATIONS,
    id: 'server-timeout',
    rationale: 'Zero would disable the timeout, and a timeout of more than 24 hours protects nothing.',
  },
  {
    ...OPERATIONS,
    id: 'server-limit',
    rationale: 'A limit that refuses every request, or that never applies, is a mistake.',
  },
  {
    ...OPERATIONS,
    id: 'trusted-proxy',
    rationale:
      'The gateway trusts the forwarding headers of these peers, so each entry must be an exact address or block.',
  },
  {
    ...OPERATIONS,
    id: 'admin-exposed',
    rationale: 'Anyone who reaches the admin API can see the routes, the upstreams and their health.',
  },
  { ...OPERATIONS, id: 'admin-token', rationale: 'Anyone who guesses a short token has full access to the admin API.' },
  {
    ...OPERATIONS,
    id: 'log-secret',
    rationale: 'With a short secret, anyone who can read the log can find out the identifiers behind the surrogates.',
  },
  {
    ...OPERATIONS,
    id: 'self-test',
    rationale: 'The tests that guard the activation of a manifest must exist, be readable and pass.',
  },
  {
    ...OPERATIONS,
    id: 'tls',
    rationale: 'Clients would receive no certificate, or one that does not match the key.',
  },
];
