import { generateKeyPairSync } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { diff } from '../../src/diff/diff.ts';
import { createDiffSide, type DiffSide } from '../../src/diff/side.ts';
import { load } from '../../src/load.ts';
import { createPair } from '../support/certificate.ts';
import { worldOf } from '../support/gateway.ts';
import { definitionOf, manifestSchema, type SchemaNode } from '../support/manifest-schema.ts';

/** Yields every key of a manifest as a dotted path with its schema; `*` stands for any name or index. */
function* keysOf(node: SchemaNode, path: readonly string[] = []): Generator<readonly [string, SchemaNode]> {
  const { properties = {}, additionalProperties, items, anyOf = [] } = node;
  const target = definitionOf(node);
  for (const schema of [...anyOf, ...(target === undefined ? [] : [target])]) yield* keysOf(schema, path);
  for (const [name, member] of Object.entries(properties)) {
    yield [[...path, name].join('.'), member];
    yield* keysOf(member, [...path, name]);
  }
  for (const child of [additionalProperties, items])
    if (typeof child === 'object') yield* keysOf(child, [...path, '*']);
}

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
  requiredClaims: ['exp'],
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

const TOKENS = [
  { jwt: { ...JWT, jwks: 'https://identity.internal/keys' } },
  { jwt: { ...JWT, jwks: KEYS } },
  { jwt: { ...JWT, discovery: 'https://issuer.internal' } },
  { jwt: { ...JWT, algorithms: ['HS256'], secret: '${JWT_SECRET}' } },
  { introspection: { endpoint: { upstream: 'identity', path: '/introspect' }, ...CLIENT, ...COMMON } },
  { userinfo: { endpoint: { upstream: 'identity', path: '/me' }, ...COMMON } },
];

const UPSTREAM = {
  balance: 'round-robin',
  timeouts: { connect: '1s', response: '20s', idle: '50s', total: '4m' },
  connections: { limit: 7, queue: 70 },
  retry: true,
  health: { path: '/health', interval: '7s', timeout: '3s', healthy: 3, unhealthy: 4, required: true },
  breaker: { enabled: true, failures: 7, pause: '7s' },
  tls: { ca: './ca.pem', certificate: './client.pem', key: './client.key', serverName: 'other.internal' },
};

const TYPED = { properties: { page: { type: 'integer', minimum: 1 } }, required: ['page'] };

const ROUTES = [
  {
    id: 'login',
    method: 'POST',
    path: '/login',
    access: 'public',
    login: { token: '/token', header: 'X-Token', maxBytes: '7KB' },
  },
  {
    id: 'notes',
    method: 'POST',
    path: '/notes/{page}',
    access: 'protected',
    timeout: '7s',
    encodedSlash: 'keep',
    upstreamPath: { replace: '/notes', with: '/v2' },
    requestHeaders: { set: { 'X-Of': 'notes' }, remove: ['X-From'], keep: ['X-HTTP-Method'] },
    responseHeaders: { set: { 'X-Of': 'notes' }, remove: ['X-From'] },
    roles: ['admin'],
    validation: 'enforce',
    params: { properties: { page: { type: 'integer' } } },
    query: { ...TYPED, unknown: 'refuse', repeated: 'refuse' },
    headers: { properties: { 'X-Page': { type: 'integer' } }, required: ['X-Page'] },
    body: { schema: { type: 'object', required: ['a'] }, types: ['application/json'], maxBytes: '7KB' },
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

/** Together these manifests contain every key. */
const MANIFESTS = TOKENS.map((tokens) => ({
  version: 1,
  listen: '127.0.0.1:8080',
  admin: {
    listen: '0.0.0.0:9901',
    token: '${ADMIN_TOKEN}',
    tls: { certificate: './tls.crt', key: './tls.key', clientCa: './ca.pem' },
  },
  log: { sample2xx: 0.5 },
  tracing: { sample: 0.5 },
  reload: { selfTest: './self.test.yaml', grace: '3s' },
  server: {
    tls: { certificate: './tls.crt', key: './tls.key' },
    trustedProxies: ['10.0.0.0/8'],
    timeouts: { headers: '10s', request: '20m', keepAlive: '600s', stalled: '50s' },
    stopping: { delay: '3s', grace: '20s' },
    limits: { headerBytes: '8KB', headers: 50, connections: 5_000, requestsPerConnection: 500, bufferedBodies: '64MB' },
  },
  upstreams: {
    contacts: { url: 'https://contacts.internal', ...UPSTREAM },
    identity: { urls: ['https://one.internal', 'https://two.internal'] },
  },
  auth: {
    tokens,
    role: { claim: '/roles', array: true, allow: ['admin', 'user'], message: 'no' },
    realm: 'contacts',
  },
  cors: {
    origins: ['https://app.example'],
    methods: ['GET'],
    headers: ['Authorization'],
    exposedHeaders: ['X-Of'],
    credentials: true,
    maxAge: '5m',
  },
  schemas: { Note: { type: 'object' } },
  lint: { preset: 'strict', rules: { 'admin-missing': 'off' } },
  routes: ROUTES.map((route) => ({ ...route, upstream: 'contacts' })),
}));

/** Keys without a reported change, with the reason. */
const IGNORED: Readonly<Record<string, string>> = {
  version: 'only one version exists',
  include: 'the included keys are compared',
  schemas: 'only a schema that a route uses matters, and it is reported for the route',
  'upstreams.*.tls.certificate': 'it changes only together with its key; a case of upstream-certificate changes both',
  'upstreams.*.tls.key': 'it changes only together with its certificate',
};

/** Values for keys whose examples and similar values do not load. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  'routes.*.upstream': 'identity',
  'routes.*.upstreamPath.replace': '/',
  'routes.*.params.properties': { page: { type: 'integer', minimum: 2 } },
  'routes.*.query.properties': { page: { type: 'integer', minimum: 2 } },
  'routes.*.headers.properties': { 'X-Page': { type: 'integer', minimum: 2 } },
};

describe('a change of any key is reported by its own comparison', () => {
  test('in manifests that load', () => {
    for (const manifest of MANIFESTS) expect(loaded(manifest).problems).toEqual([]);
  });

  test.each([...new Map(keysOf(manifestSchema))])('for the key %s', (key, node) => {
    if (key in IGNORED) return;
    const changes = changesOf(key, node);
    expect(changes.length, 'no manifest here has this key, or no other value of it loads').toBeGreaterThan(0);
    for (const { old, next, value } of changes) {
      const differences = diff(old, next).filter(({ rule }) => rule !== 'other-changed');
      expect([value, differences.length > 0]).toEqual([value, true]);
    }
  });
});

interface Change {
  readonly old: DiffSide;
  readonly next: DiffSide;
  readonly value: unknown;
}

/** Returns manifests with other values of a key, or without it, if they load and differ. */
function changesOf(key: string, node: SchemaNode): Change[] {
  const path = key.split('.');
  const manifest = MANIFESTS.find((one) => holdersOf(one, path).length > 0);
  const old = manifest && sideOf(manifest);
  if (old === undefined) return [];
  return holdersOf(manifest, path).flatMap(([holder, name]) =>
    [undefined, SAMPLES[key], ...samplesOf(node), ...similarValues(holder[name], node)].flatMap((value) => {
      const before = holder[name];
      if (value === undefined) delete holder[name];
      else holder[name] = value;
      const next = sideOf(manifest);
      holder[name] = before;
      return next === undefined || isDeepStrictEqual(old.manifest, next.manifest) ? [] : [{ old, next, value }];
    }),
  );
}

type Holder = Record<string, unknown>;

/** Returns the maps and lists that contain a key, with the name of the key. */
function holdersOf(value: unknown, [first = '', ...rest]: readonly string[]): [Holder, string][] {
  if (value === null || typeof value !== 'object') return [];
  const holder = value as Holder;
  const names = first === '*' ? Object.keys(holder) : Object.hasOwn(holder, first) ? [first] : [];
  return names.flatMap((name) => (rest.length === 0 ? [[holder, name]] : holdersOf(holder[name], rest)));
}

function samplesOf(node: SchemaNode): readonly unknown[] {
  const { examples = [], enum: words = [] } = node;
  const target = definitionOf(node);
  return [...examples, ...words, ...(target === undefined ? [] : samplesOf(target))];
}

/** Returns values that are similar to this one. */
function similarValues(value: unknown, { items = {} }: SchemaNode = {}): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value - 1, value + 1];
  if (typeof value === 'string') return [value.replace(/\d+/, (digits) => String(Number(digits) + 1)), `${value}x`];
  if (!Array.isArray(value)) return [];
  const others = [...samplesOf(items), ...similarValues(value[0])].filter((other) => !value.includes(other));
  return [value.slice(1), ...others.map((other) => [...value, other])];
}

const WORLD = worldOf(
  { JWT_SECRET: 'y'.repeat(64), CLIENT_SECRET: 'z'.repeat(32), ADMIN_TOKEN: 'a'.repeat(32) },
  FILES,
);

function loaded(manifest: unknown) {
  return load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, WORLD);
}

function sideOf(manifest: unknown): DiffSide | undefined {
  const one = loaded(manifest);
  return one.plan === undefined ? undefined : createDiffSide(one, WORLD.readFile);
}

function generateKey() {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ format: 'jwk' });
}
