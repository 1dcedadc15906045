import fc from 'fast-check';
import { createPair } from './certificate.ts';

type Entry = Record<string | number, unknown>;

const [pair, other] = [createPair(), createPair()];
const damaged = `${pair.certificate}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`;
const testFile = (request: string, expected: string) =>
  `version: 1\ncases: [{ name: a, request: { method: GET, url: ${request} }, expect: { ${expected} } }]\n`;

/** The files that manifests of `anySettings` may name, and variables for their values. */
export const SETTING_FILES: Readonly<Record<string, string>> = {
  'a.crt': pair.certificate,
  'a.key': pair.key,
  'b.key': other.key,
  'bundle.pem': pair.certificate + other.certificate,
  'damaged.pem': damaged,
  'expired.crt': createPair({ days: -1 }).certificate,
  'passes.test.yaml': testFile('/none', 'refusal: route_unknown'),
  'fails.test.yaml': testFile('/one', 'status: 418'),
  'broken.test.yaml': 'version: [',
  'more.yaml': 'routes: [{ id: more, method: GET, path: /more, upstream: up, access: public }]\n',
  'twice.yaml': 'routes: [{ id: one, method: GET, path: /twice, upstream: up, access: public }]\n',
  'schema.json': '{ "type": "object" }',
  'text.txt': 'text',
};
export const SETTING_ENV = {
  TOKEN: 'abcdefghijklmnopqrst',
  SHORT: 'short',
  LOG_SECRET: 'k'.repeat(32),
  ADDRESS: '127.0.0.1:0',
  WORKERS: '3',
};

const HOSTS =
  '127.0.0.1 localhost [::1] 0.0.0.0 999.1.1.1 127.1 0 [fe80::1] [1::2::3] - a- a..b a!b 224.0.0.1 [ff02::1] 127.0.0.01'.split(
    ' ',
  );
const DURATIONS = '0s 1ms 5s 24h 25h 999999999h 2147483648ms 597h 1d -1s'.split(' ');
const SIZES = '0B 1B 1023B 1KB 1MB 1025KB 2GB 999999999GB 1kb'.split(' ');
const NUMBERS = [-1, 0, 0.5, 1, 1.5, 2, 1_000_000, 1_000_001, 2 ** 53];
/** The value of `server.workers`, which no other number equals. */
const WORKERS = 2;
const WORDS = [
  '',
  'up',
  '__proto__',
  'x'.repeat(300),
  'é',
  'a b',
  '${TOKEN}',
  '${SHORT}',
  '${LOG_SECRET}',
  '${UNSET}',
  '${',
  '$${X}',
];
const PATHS = '/ /** /{a} /{a}/{a} /a//b /../x /%41 /:id /one /a/ /é // /a~2 x'.split(' ');
const SCHEMAS = [
  true,
  { type: 'nothing' },
  { pattern: '(' },
  { pattern: '(?<=a)b' },
  { $ref: '#/schemas/Note' },
  { $ref: '#/schemas/None' },
  { $ref: './schema.json' },
  { $ref: './text.txt' },
  { minLength: -1 },
  { multipleOf: 0 },
  { format: 'none' },
  { required: [1] },
];

const address = fc.tuple(fc.constantFrom(...HOSTS), fc.constantFrom('0', '0', '0', '65536', 'x'));
/** No folder has this name, so that no test leaves a socket behind. */
const socket = fc.constantFrom<unknown>(
  'unix:/nowhere/a.sock',
  'unix:/../a.sock',
  { address: 'unix:/nowhere/a.sock', mode: '0660' },
  { address: '127.0.0.1:0', mode: '0660' },
  { address: '127.0.0.1:0' },
);
const url = fc.tuple(
  fc.constantFrom('http', 'https', 'ftp'),
  fc.constantFrom(...HOSTS),
  fc.constantFrom('', ':0', ':9'),
);

const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  address.map(([host, port]) => `${host}:${port}`),
  url.map(([scheme, host, port]) => `${scheme}://${host}${port}`),
  fc.constantFrom<unknown>(...DURATIONS, ...SIZES, ...NUMBERS, ...WORDS, ...PATHS, ...SCHEMAS, '${ADDRESS}'),
  fc.constantFrom<unknown>(...Object.keys(SETTING_FILES), 'none.pem', '..', '/'),
  fc.constantFrom<unknown>(
    null,
    [],
    {},
    ['GET', 'GET'],
    'any',
    'protected',
    'report',
    'X-A',
    'Host',
    '*',
    '10.0.0.0/33',
  ),
);

/** Generates values of the kind that a key has, so that most of them match the schema of the manifest. */
function valueLike(old: unknown): fc.Arbitrary<unknown> {
  const text = String(old);
  if (/^[\d.]+:\d+$/.test(text))
    return fc.oneof(
      address.map(([host, port]) => `${host}:${port}`),
      socket,
    );
  if (/^https?:/.test(text)) return url.map(([scheme, host, port]) => `${scheme}://${host}${port}`);
  if (/^\d+(?:ms|s|m|h)$/.test(text)) return fc.constantFrom(...DURATIONS);
  if (/^\d+[KMG]?B$/.test(text)) return fc.constantFrom(...SIZES);
  if (typeof old === 'boolean') return fc.constantFrom<unknown>(true, false, 'yes');
  if (text === 'keyed') return fc.constantFrom('keyed', 'plain', 'none');
  if (old === WORKERS) return fc.constantFrom<unknown>('auto', '${WORKERS}', 'Auto', ...NUMBERS);
  if (typeof old === 'number') return fc.constantFrom(...NUMBERS);
  if (text in SETTING_FILES) return fc.constantFrom(...Object.keys(SETTING_FILES), 'none.pem', '..');
  if (text.startsWith('/')) return fc.constantFrom(...PATHS);
  return anyValue;
}

const token = '${TOKEN}';

/** Returns token methods of several issuers. @param first the one that routes accept by default */
function issuersOf(first: Entry): Entry[] {
  const jwt = { algorithms: ['HS256'], secret: '${LOG_SECRET}', issuer: 'i', audience: ['a', 'b'] };
  const role = { claim: '/scope', format: 'words', allow: ['read', 'admin'], message: 'no' };
  return [
    { name: 'staff', ...first },
    { name: 'partners', jwt, role },
    { name: 'devices', jwt: { ...jwt, issuer: 'j', requiredClaims: ['sub'] }, role: 'any' },
  ];
}

/** Returns a valid manifest with nearly every setting. @param up the URL of its upstreams @param isSeveral true for several issuers */
function settingsOf(up: string, isSeveral: boolean): Entry {
  const tls = { certificate: 'a.crt', key: 'a.key' };
  const timeouts = { connect: '1s', response: '2s', idle: '3s', eventStream: '5m', total: '4s' };
  const route = (id: string, method: string, more: object) =>
    ({ id, method, path: `/${id}`, upstream: 'up', access: 'public', ...more }) as const;
  const introspection = {
    endpoint: `${up}/check`,
    clientId: 'gateway',
    clientSecret: token,
    cache: { maxAge: '1s' },
  };
  const issuerRoutes = [
    route('eight', 'GET', { access: 'protected', issuers: ['staff', 'partners'], roles: ['admin'] }),
    route('nine', 'GET', { access: 'protected', issuers: ['devices'], roles: 'any' }),
    route('ten', 'POST', { login: { token: '/token', issuer: 'partners' } }),
  ];
  const own = (id: string) => ({ id, method: 'GET', path: `/${id}`, access: 'public' });
  return {
    version: 1,
    listen: '127.0.0.1:0',
    admin: { listen: '127.0.0.1:0', token, tls: { ...tls, clientCa: 'bundle.pem' } },
    include: ['more.yaml'],
    server: {
      workers: WORKERS,
      tls,
      trustedProxies: ['10.0.0.0/8'],
      timeouts: { headers: '20s', request: '30m', keepAlive: '620s', stalled: '60s' },
      limits: {
        headerBytes: '16KB',
        headers: 100,
        connections: 100,
        requestsPerConnection: 9,
        bufferedBodies: '256MB',
      },
      stopping: { delay: '0s', grace: '0s' },
      rateLimitHeaders: 'draft-11',
      via: 'signing-eu',
    },
    reload: { selfTest: 'passes.test.yaml', grace: '1s' },
    upstreams: {
      up: {
        url: up,
        timeouts,
        connections: { limit: 4, queue: 4 },
        limits: { responseHeadBytes: '16KB' },
        breaker: { failures: 5, pause: '1s' },
      },
      secure: { urls: ['https://localhost:9'], tls: { ca: 'bundle.pem', ...tls, serverName: 'localhost' } },
    },
    auth: {
      tokens: isSeveral ? issuersOf({ introspection }) : { introspection },
      role: { claim: '/role', allow: ['admin', 'user'], message: 'no' },
      forward: { 'X-A': '/a', 'X-C': { claim: '/c', missing: 'omit' } },
    },
    cors: { origins: ['https://app.example'], maxAge: '10m' },
    log: { sample2xx: 0.5, replay: true, paths: 'keyed', secret: '${LOG_SECRET}' },
    stores: {
      counters: { redis: 'redis://127.0.0.1:1', secret: token, timeout: '20ms' },
      spread: { redis: { cluster: ['rediss://localhost:1/0'], ca: 'bundle.pem', password: token }, secret: token },
    },
    rateLimits: {
      all: { key: 'client', allow: '9 per 1m', burst: 9, mode: 'report', reportUntil: '2027-01-31' },
      note: {
        key: [{ body: '/text', fold: 'case' }, { header: 'X-A' }, { client: { ipv6Prefix: 56 } }],
        missing: 'skip',
        allow: '9 per 1m',
        count: 'failures',
        failures: [401],
        store: 'counters',
      },
    },
    'x-shared': { timeout: '9s' },
    ...(isSeveral && {
      invariants: [
        { id: 'in', when: { issuer: ['partners'] }, require: { issuers: { only: ['staff', 'partners'] } } },
        { id: 'of', when: { issuer: 'devices' }, require: { upstream: { only: ['up'] } } },
      ],
    }),
    defaults: { timeout: '9s', roles: ['admin'], responseHeaders: { remove: ['X-A'] }, body: { maxBytes: '1MB' } },
    schemas: { Note: { type: 'object', properties: { text: { type: 'string', maxLength: 5 } } } },
    routes: [
      route('one', 'GET', { timeout: '1s', query: { properties: { page: { type: 'integer' } } } }),
      route('two', 'POST', {
        body: { schema: { $ref: '#/schemas/Note' }, maxBytes: '32KB' },
        rateLimits: ['all', 'note'],
      }),
      route('three', 'GET', {
        access: 'protected',
        forward: { 'X-B': '/b' },
        roles: ['admin'],
        websocket: { origins: ['*'] },
      }),
      route('four', 'POST', { login: { token: '/token', maxBytes: '1MB' } }),
      route('five', 'any', {
        upstream: 'secure',
        upstreamPath: { replace: '/five', with: '/v2', rewriteResponses: true },
      }),
      { ...own('six'), respond: { status: 200, headers: { 'X-A': 'a' }, body: 'text' } },
      { ...own('seven'), redirect: { to: '/one', status: 307, query: 'keep' } },
      ...(isSeveral ? issuerRoutes : []),
    ],
  };
}

/** Generates manifests with up to two changed, removed or misplaced values. Some of them are valid. */
export const anySettings = (up: string): fc.Arbitrary<string> => {
  return fc.boolean().chain((isSeveral) => changedSettings(up, isSeveral));
};

function changedSettings(up: string, isSeveral: boolean): fc.Arbitrary<string> {
  const original = placesOf(settingsOf(up, isSeveral));
  const change = fc.nat(original.length - 1).chain((index) => {
    const [, , old] = original[index] ?? [];
    return fc.record({ index: fc.constant(index), value: valueLike(old), isRemoved: fc.nat(9).map((n) => n === 0) });
  });
  return fc.tuple(fc.array(change, { maxLength: 2 }), fc.boolean()).map(([changes, isPlain]) => {
    const manifest = settingsOf(up, isSeveral);
    const places = placesOf(manifest);
    for (const { index, value, isRemoved } of changes) {
      const [holder, key] = places[index] ?? [manifest, 'version'];
      if (isRemoved) delete holder[key];
      else holder[key] = value;
    }
    if (isPlain) delete (manifest['server'] as Entry | undefined)?.['tls'];
    return JSON.stringify(manifest, undefined, 1);
  });
}

type Place = readonly [holder: Entry, key: string | number, value: unknown];

/** Returns every value of a manifest with the map or list that holds it. */
function placesOf(value: unknown): Place[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, item]) => [
    [value as Entry, Array.isArray(value) ? Number(key) : key, item] as const,
    ...placesOf(item),
  ]);
}
