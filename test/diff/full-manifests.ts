import { generateKeyPairSync } from 'node:crypto';
import { load } from '../../src/engine/load.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { createPair } from '../support/certificate.ts';
import { worldOf } from '../support/gateway.ts';

const PAIR = createPair();
const KEYS = { keys: ['one', 'two'].map((kid) => ({ ...generateKey(), kid, alg: 'ES256' })) };
const SELF_TEST =
  'version: 1\ncases: [{ name: none, request: { method: GET, url: /none }, expect: { refusal: route_unknown } }]\n';
const FILES = {
  'ca.pem': createPair().certificate,
  'client.pem': PAIR.certificate,
  'client.key': PAIR.key,
  'tls.crt': PAIR.certificate,
  'tls.key': PAIR.key,
  'tls.crtx': PAIR.certificate,
  'tls.keyx': PAIR.key,
  'self.test.yaml': SELF_TEST,
  'self.test.yamlx': SELF_TEST,
  'keys.json': JSON.stringify(KEYS),
};

const COMMON = {
  requiredClaims: ['sub'],
  clockTolerance: '3s',
  timeout: '4s',
  staleIfError: '30m',
  cache: { maxAge: '30s', maxEntries: 100 },
};
const JWT = { algorithms: ['ES256'], issuer: 'i', audience: 'a', type: 'JWT', ...COMMON };
const CLIENT = {
  clientId: 'gateway',
  clientSecret: '${CLIENT_SECRET}',
  clientAuthentication: 'post',
  issuer: 'i',
  audience: 'a',
};

const LIST = { claim: '/roles', array: true };
const WORDS = { claim: '/scope', format: 'words' };
const ALLOW = { allow: ['admin', 'user'], message: 'no' };

const TOKENS = [
  { jwt: { ...JWT, jwks: 'https://identity.internal/keys' } },
  { jwt: { ...JWT, jwks: KEYS } },
  { jwt: { ...JWT, discovery: 'https://issuer.internal' } },
  { jwt: { ...JWT, algorithms: ['HS256'], secret: '${JWT_SECRET}' } },
  { introspection: { endpoint: { upstream: 'identity', path: '/introspect' }, ...CLIENT, ...COMMON } },
  { userinfo: { endpoint: { upstream: 'identity', path: '/me' }, ...COMMON } },
  [
    { name: 'staff', jwt: { ...JWT, jwks: 'https://identity.internal/keys' } },
    { name: 'partners', role: { ...WORDS, ...ALLOW }, jwt: { ...JWT, issuer: 'p', discovery: 'https://p.internal' } },
    {
      name: 'machines',
      role: { ...LIST, claim: '/machine', ...ALLOW },
      jwt: { ...JWT, issuer: 'm', algorithms: ['HS256'], secret: '${JWT_SECRET}' },
    },
    {
      name: 'sessions',
      introspection: { endpoint: { upstream: 'identity', path: '/introspect' }, ...CLIENT, issuer: 's', ...COMMON },
    },
  ],
  [
    { name: 'staff', jwt: { ...JWT, jwks: KEYS } },
    { name: 'partners', userinfo: { endpoint: { upstream: 'identity', path: '/me' }, ...COMMON } },
  ],
];

const UPSTREAM = {
  balance: 'round-robin',
  host: 'upstream',
  timeouts: { connect: '1s', response: '20s', idle: '50s', eventStream: '15m', total: '4m' },
  connections: { limit: 7, queue: 70 },
  limits: { responseHeadBytes: '32KB' },
  retry: true,
  health: { path: '/health', interval: '7s', timeout: '3s', healthy: 3, unhealthy: 4, required: true },
  breaker: { enabled: true, failures: 7, pause: '7s' },
  tls: { ca: './ca.pem', certificate: './client.pem', key: './client.key', serverName: 'other.internal' },
};

const REDIS = { username: 'gateway', password: '${RATE_LIMIT_SECRET}', ca: './ca.pem' };

const TYPED = { properties: { page: { type: 'integer', minimum: 1 } }, required: ['page'] };

const ROUTES = [
  {
    id: 'login',
    method: 'POST',
    path: '/login',
    access: 'public',
    login: { token: '/token', header: 'X-Token', maxBytes: '7KB' },
    rateLimits: ['address'],
  },
  {
    id: 'notes',
    method: 'POST',
    path: '/notes/{page}',
    access: 'protected',
    timeout: '7s',
    encodedSlash: 'keep',
    upstreamPath: { replace: '/notes', with: '/v2', rewriteResponses: true },
    requestHeaders: { set: { 'X-Of': 'notes' }, remove: ['X-From'], keep: ['X-HTTP-Method'] },
    responseHeaders: { set: { 'X-Of': 'notes' }, remove: ['X-From'] },
    roles: ['admin'],
    forward: { 'X-Mail': '/email', 'X-Tenant': false, 'X-Name': { claim: '/name', missing: 'omit' } },
    validation: 'enforce',
    rateLimits: ['caller'],
    params: { properties: { page: { type: 'integer' } } },
    query: { ...TYPED, unknown: 'refuse', repeated: 'refuse' },
    headers: { properties: { 'X-Page': { type: 'integer' } }, required: ['X-Page'] },
    body: { schema: { type: 'object', required: ['a'] }, types: ['application/json'], maxBytes: '7KB' },
  },
  {
    id: 'account',
    method: 'POST',
    path: '/account',
    access: 'public',
    rateLimits: ['account'],
    body: { schema: { type: 'object', required: ['a'] }, maxBytes: '7KB' },
  },
  { id: 'socket', method: 'GET', path: '/socket', access: 'public', websocket: true },
  { id: 'page', method: 'GET', path: '/page', access: 'public', websocket: { origins: ['https://page.example'] } },
  {
    id: 'form',
    method: 'POST',
    path: '/form',
    access: 'public',
    body: { multipart: { parts: { a: { types: ['text/plain'], maxBytes: '7KB', maxCount: 2, required: true } } } },
  },
  {
    id: 'table',
    method: 'POST',
    path: '/table',
    access: 'public',
    body: { csv: { header: ['a', 'b'], delimiter: ';' } },
  },
];

const SHARED = { id: 'shared', method: 'any', path: '/shared', access: 'protected' };

const DEFAULTS = {
  timeout: '8s',
  roles: ['admin'],
  rateLimits: ['address'],
  requestHeaders: { set: { 'X-Of': 'all' }, remove: ['X-From'], keep: ['X-HTTP-Method'] },
  responseHeaders: { set: { 'X-Of': 'all' }, remove: ['X-From'] },
  body: { maxBytes: '8KB' },
  validation: 'report',
  websocket: { origins: ['https://page.example'] },
};
const OWN_ROUTES = [
  {
    id: 'state',
    method: 'GET',
    path: '/state',
    access: 'public',
    respond: { status: 201, headers: { 'X-Of': 'state' }, body: 'ok' },
  },
  {
    id: 'moved',
    method: 'GET',
    path: '/moved/**',
    access: 'public',
    redirect: { to: '/new/{rest}', status: 308, query: 'keep' },
  },
];

/** Invariants with every member, which hold whatever else changes: no route serves these paths. */
const INVARIANTS = [
  {
    id: 'internal',
    when: { path: '/internal/**', method: ['GET', 'POST'], upstream: 'contacts', access: 'public' },
    except: ['login', { route: 'notes', reason: 'moves', until: '2099-01-31' }],
    require: {
      access: 'protected',
      roles: { only: ['admin'], atLeast: ['admin'] },
      rateLimit: ['caller'],
      body: { schema: true, maxBytes: '7KB', types: ['application/json'] },
      parameters: true,
      validation: 'enforce',
      upstream: { only: ['contacts'] },
      tls: true,
      timeout: '7s',
      cors: { origins: ['https://app.example'] },
      websocket: false,
    },
    why: 'internal paths are not for clients',
  },
  { id: 'hidden', when: { path: ['/hidden/**'] }, require: { served: false } },
];

const ISSUER_INVARIANT = {
  id: 'staff',
  when: { path: '/staff/**', issuer: 'staff' },
  require: { access: 'protected', issuers: { only: ['staff'] } },
};

/** Keys that only a manifest with several token methods can have. */
const ISSUERS = {
  login: { login: { token: '/token', header: 'X-Token', issuer: 'partners', maxBytes: '7KB' } },
  notes: { issuers: ['staff', 'partners'] },
};

/** The index of the manifest with a unix socket, which has one worker and no TLS. */
export const SOCKET = 3;

/** Together these manifests contain every key. */
export const MANIFESTS = TOKENS.map((tokens, index) => ({
  version: 1,
  listen: index === SOCKET ? { address: 'unix:/run/gateway.sock', mode: '0660' } : '127.0.0.1:8080',
  admin: {
    listen: '0.0.0.0:9901',
    token: '${ADMIN_TOKEN}',
    tls: { certificate: './tls.crt', key: './tls.key', clientCa: './ca.pem' },
  },
  log: { sample2xx: 0.5, replay: true, paths: 'keyed', secret: '${LOG_SECRET}' },
  tracing: { sample: 0.5 },
  reload: { selfTest: './self.test.yaml', grace: '3s' },
  server: {
    ...(index !== SOCKET && { workers: 3, tls: { certificate: './tls.crt', key: './tls.key' } }),
    trustedProxies: ['10.0.0.0/8'],
    timeouts: { headers: '10s', request: '20m', keepAlive: '600s', stalled: '50s' },
    stopping: { delay: '3s', grace: '20s' },
    responseHeaders: { 'X-Content-Type-Options': 'nosniff' },
    rateLimitHeaders: 'draft-11',
    via: 'signing-eu',
    limits: { headerBytes: '8KB', headers: 50, connections: 5_000, requestsPerConnection: 500, bufferedBodies: '64MB' },
  },
  upstreams: {
    contacts: { url: 'https://contacts.internal', ...UPSTREAM },
    identity: { urls: ['https://one.internal', 'https://two.internal'] },
  },
  auth: {
    forward: { 'X-User-Id': '/sub', 'X-Tenant': { claim: '/tenant', missing: 'omit' } },
    tokens,
    role: { ...(index === 0 ? WORDS : LIST), ...ALLOW },
    realm: 'contacts',
  },
  invariants: Array.isArray(tokens) ? [...INVARIANTS, ISSUER_INVARIANT] : INVARIANTS,
  cors: {
    origins: ['https://app.example'],
    methods: ['GET'],
    headers: ['Authorization'],
    exposedHeaders: ['X-Of'],
    credentials: true,
    maxAge: '5m',
  },
  stores: {
    counters: { redis: 'redis://10.0.0.1:6379', secret: '${RATE_LIMIT_SECRET}', timeout: '30ms', onFailure: 'refuse' },
    secured: { redis: { url: 'rediss://10.0.0.1:6379', ...REDIS }, secret: '${RATE_LIMIT_SECRET}' },
    guarded: {
      redis: { sentinels: ['redis://10.0.0.1:26379', 'redis://10.0.0.2:26379'], name: 'counters' },
      secret: '${RATE_LIMIT_SECRET}',
    },
    spread: {
      redis: { cluster: ['redis://10.0.0.1:6379', 'redis://10.0.0.2:6379'] },
      secret: '${RATE_LIMIT_SECRET}',
    },
  },
  rateLimits: {
    address: { key: { client: { ipv6Prefix: 56 } }, allow: '30 per 15m' },
    other: { key: 'client', allow: '30 per 1m' },
    'by-claim': { key: { claim: '/a' }, missing: 'skip', allow: '1 per 1s', count: 'failures', mode: 'report' },
    'by-header': { key: { header: 'X-A' }, missing: 'skip', allow: '1 per 1s' },
    'by-list': {
      key: [{ body: '/a', fold: 'case' }, { client: { ipv6Prefix: 48 } }, 'route'],
      missing: 'skip',
      allow: '1 per 1s',
    },
    account: {
      key: { body: '/a', fold: 'case' },
      missing: 'refuse',
      allow: '5 per 15m',
      burst: 7,
      count: 'failures',
      failures: [401],
      store: 'counters',
    },
    caller: {
      key: ['subject', { claim: '/tenant' }, { header: 'X-Page' }],
      missing: 'skip',
      allow: '600 per 1m',
      mode: 'report',
      reportUntil: '2027-01-31',
    },
  },
  schemas: { Note: { type: 'object' } },
  lint: { preset: 'strict', rules: { 'admin-missing': 'off' } },
  ...(index === 1 && { defaults: DEFAULTS }),
  ...(Array.isArray(tokens) && index === 6 && { defaults: { issuers: ['staff', 'partners'] } }),
  routes: [
    ...[...ROUTES, SHARED].map((route) => ({
      ...route,
      ...(Array.isArray(tokens) ? ISSUERS[route.id as keyof typeof ISSUERS] : undefined),
      upstream: 'contacts',
    })),
    ...OWN_ROUTES,
  ],
}));

/** The variables and files of these manifests. */
export const WORLD = worldOf(
  {
    JWT_SECRET: 'y'.repeat(64),
    CLIENT_SECRET: 'z'.repeat(32),
    ADMIN_TOKEN: 'a'.repeat(32),
    RATE_LIMIT_SECRET: 'r'.repeat(32),
    LOG_SECRET: 'l'.repeat(32),
  },
  FILES,
);

export function loadFull(manifest: unknown) {
  return load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, WORLD);
}

export function fullSideOf(manifest: unknown): DiffSide | undefined {
  const one = loadFull(manifest);
  return one.plan === undefined ? undefined : createDiffSide(one, WORLD.readFile);
}

function generateKey() {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ format: 'jwk' });
}
