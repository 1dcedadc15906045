import type { Rule } from './rule.ts';

const ERROR = { severity: 'error', preset: 'minimal' } as const;
const MANIFEST = { ...ERROR, category: 'manifest' } as const;
const ROUTES = { ...ERROR, category: 'routes' } as const;
const AUTH = { ...ERROR, category: 'auth' } as const;
const VALIDATION = { ...ERROR, category: 'validation' } as const;
const OPERATIONS = { ...ERROR, category: 'operations' } as const;
const UPSTREAMS = { ...ERROR, category: 'upstreams' } as const;

/** What keeps a manifest from being served: the stages of `load` find it. */
export const ERROR_RULES: readonly Rule[] = [
  { ...MANIFEST, id: 'syntax', rationale: 'What is no YAML with one reading means nothing for sure.' },
  {
    ...MANIFEST,
    id: 'schema',
    rationale:
      'A key or a value that is not known would be passed over in silence, and what was meant would not happen.',
  },
  { ...MANIFEST, id: 'environment', rationale: 'A variable that is not set would leave a hole in the manifest.' },
  {
    ...MANIFEST,
    id: 'include',
    rationale:
      'A file that is not there, holds nothing or holds what is not taken in would leave a hole in the manifest.',
  },
  {
    ...MANIFEST,
    id: 'include-twice',
    rationale: 'Of two upstreams or schemas of one name, nobody could say which one is meant.',
  },
  { ...MANIFEST, id: 'address', rationale: 'The gateway could not listen there.' },
  {
    ...ROUTES,
    id: 'path',
    rationale: 'A pattern that no request can match, or that can be read in two ways, is not what was meant.',
  },
  {
    ...ROUTES,
    id: 'route-id',
    rationale: 'Logs, metrics and tables know a route by its id: two of one id could not be told apart.',
  },
  {
    ...ROUTES,
    id: 'route-duplicate',
    rationale: 'Of two routes that match the same requests one would never be reached, and nobody could say which.',
  },
  { ...ROUTES, id: 'upstream-unknown', rationale: 'The request would have nowhere to go.' },
  {
    ...ROUTES,
    id: 'upstream-path',
    rationale: 'The upstream would be asked for a path that it was not meant to be asked for.',
  },
  {
    ...ROUTES,
    id: 'header',
    rationale: 'A header that has a meaning of its own, or no sound form, would change how servers read the message.',
  },
  {
    ...ROUTES,
    id: 'websocket',
    rationale: 'A WebSocket begins with GET: on a route without it none could ever begin.',
  },
  { ...AUTH, id: 'auth-missing', rationale: 'Nobody could get in, since nothing says how a token is verified.' },
  {
    ...AUTH,
    id: 'secret-in-file',
    rationale: 'The file is in a repository, in images and in backups: whoever can read any of them has the secret.',
  },
  { ...AUTH, id: 'jwt-keys', rationale: 'A token is verified by keys that are known in exactly one way.' },
  {
    ...AUTH,
    id: 'jwt-algorithm',
    rationale: 'With a public key taken for the secret of an HMAC, anyone can sign (RFC 8725 section 3.1).',
  },
  {
    ...AUTH,
    id: 'jwt-secret',
    rationale: 'A short secret is found by trying, from one token alone (RFC 7518 section 3.2).',
  },
  {
    ...AUTH,
    id: 'jwks',
    rationale: 'Without keys that fit the algorithms no token is good, and weak or private ones must not be used.',
  },
  {
    ...AUTH,
    id: 'discovery',
    rationale: 'Who answers there says by which keys tokens are verified: it must be the issuer for sure.',
  },
  { ...AUTH, id: 'endpoint', rationale: 'Every token is shown to it: it must be the issuer for sure.' },
  { ...AUTH, id: 'role-unknown', rationale: 'A role that the gate does not allow never gets to the route.' },
  { ...AUTH, id: 'roles-public', rationale: 'Nobody is asked for a role where nobody is asked for a token.' },
  { ...AUTH, id: 'login-token-path', rationale: 'The gate at login could not find what it is to judge.' },
  { ...AUTH, id: 'login-websocket', rationale: 'What goes through a tunnel cannot be looked at.' },
  {
    ...AUTH,
    id: 'cors-origin',
    rationale: 'An origin that is written otherwise than browsers write it never matches.',
  },
  { ...AUTH, id: 'cors-credentials', rationale: 'Any site could act for those who visit it.' },
  { ...VALIDATION, id: 'body', rationale: 'A rule for a body that is never taken judges nothing.' },
  {
    ...VALIDATION,
    id: 'body-types',
    rationale: 'A list of media types that nothing can fit, or that contradicts the schema, refuses every body.',
  },
  { ...VALIDATION, id: 'parameters', rationale: 'A rule for a parameter that cannot come judges nothing.' },
  {
    ...VALIDATION,
    id: 'body-schema',
    rationale: 'A schema that does not compile, judges nothing or never comes to an end protects from nothing.',
  },
  { ...UPSTREAMS, id: 'upstream-url', rationale: 'The request would have nowhere to go for sure.' },
  {
    ...UPSTREAMS,
    id: 'upstream-tls',
    rationale: 'The connection could not be made, or not with the one that was meant.',
  },
  {
    ...OPERATIONS,
    id: 'server-timeout',
    rationale: 'Nothing is ever waited for so short, and to the server zero means for ever.',
  },
  { ...OPERATIONS, id: 'server-limit', rationale: 'A limit that no request could keep, or none at all, is a slip.' },
  {
    ...OPERATIONS,
    id: 'trusted-proxy',
    rationale: 'Who is trusted is believed what it says of its clients: it must be an address for sure.',
  },
  {
    ...OPERATIONS,
    id: 'admin-exposed',
    rationale: "Whoever reaches the operators' side sees upstreams, routes and how they are.",
  },
  { ...OPERATIONS, id: 'admin-token', rationale: 'Whoever finds a short token by trying is an operator from then on.' },
  {
    ...OPERATIONS,
    id: 'self-test',
    rationale: 'What was written to keep a mistake out of service must be there, be read, and pass.',
  },
  {
    ...OPERATIONS,
    id: 'tls',
    rationale: 'Clients would be shown no certificate, or one that the key does not belong to.',
  },
];
