import fc from 'fast-check';
import { type AnyManifest, anyManifest } from '../../support/any-manifest.ts';

type Entry = Record<string, unknown>;

/** A change of a manifest, which it makes in place. `pick` selects a route or a limit. */
type Change = (manifest: Entry, route: Entry, pick: number) => void;

const SCHEMAS: readonly Entry[] = [
  { type: 'object', required: ['a'], properties: { a: { type: 'integer', maximum: 99 } } },
  { type: 'object', required: ['b'], properties: { b: { type: 'string' } } },
  { type: 'object', maxProperties: 1 },
];

function set(entry: Entry, key: string, value: unknown): void {
  if (value === undefined) delete entry[key];
  else entry[key] = value;
}

function pickFrom<T>(values: readonly T[], pick: number): T {
  return values[pick % values.length] as T;
}

function bodyOf(route: Entry): Entry | undefined {
  return route['method'] === 'GET' ? undefined : ((route['body'] as Entry | undefined) ?? {});
}

/** One function for each way in which a platform team changes a manifest. */
export const CHANGES: Readonly<Record<string, Change>> = {
  none: () => {},
  access: (_, route) => set(route, 'access', route['access'] === 'public' ? 'protected' : 'public'),
  roles: (_, route, pick) => set(route, 'roles', pickFrom([['admin'], ['user'], undefined], pick)),
  methods: (_, route, pick) =>
    set(route, 'method', pickFrom(['POST', 'any', ['GET', 'PUT'], ['DELETE', 'OPTIONS']], pick)),
  path: (_, route, pick) => set(route, 'path', pickFrom(['/a', '/a/{p0}', '/**', '/b/**', '/{p0}/b', '/Admin'], pick)),
  removal: (manifest, route) => {
    const routes = manifest['routes'] as Entry[];
    if (routes.length > 1) manifest['routes'] = routes.filter((other) => other !== route);
  },
  addition: (manifest, route, pick) =>
    void (manifest['routes'] as Entry[]).push({
      id: 'added',
      method: pickFrom(['GET', 'any', 'POST'], pick),
      path: pickFrom(['/a/b', '/a/**', '/b/{p0}', '/x.y'], pick),
      upstream: 'up',
      access: route['access'],
    }),
  id: (_, route) => set(route, 'id', `${route['id']}x`),
  schema: (_, route, pick) => {
    const body = bodyOf(route);
    if (body !== undefined) route['body'] = { maxBytes: '8KB', schema: pickFrom(SCHEMAS, pick) };
  },
  'shared schema': (manifest, _, pick) => set(manifest, 'schemas', { Shared: pickFrom(SCHEMAS, pick) }),
  'body limit': (_, route, pick) => {
    const body = bodyOf(route);
    if (body !== undefined) route['body'] = { ...body, maxBytes: pickFrom(['4B', '20B', '3KB', '2MB'], pick) };
  },
  'body types': (_, route, pick) => {
    if (bodyOf(route) !== undefined)
      route['body'] = pickFrom(
        [{ types: ['application/json'] }, { csv: { header: ['a', 'b'] } }, { maxBytes: '1KB' }],
        pick,
      );
  },
  'no body rule': (_, route) => set(route, 'body', undefined),
  query: (_, route, pick) =>
    set(
      route,
      'query',
      pickFrom(
        [{ required: ['page'], properties: { page: { type: 'string' } } }, { unknown: 'refuse' }, undefined],
        pick,
      ),
    ),
  headers: (_, route, pick) =>
    set(
      route,
      'headers',
      pickFrom([{ required: ['X-Tenant'], properties: { 'X-Tenant': { type: 'string' } } }, undefined], pick),
    ),
  params: (_, route) => {
    if (String(route['path']).includes('{p0}')) route['params'] = { properties: { p0: { type: 'integer' } } };
  },
  validation: (_, route) => set(route, 'validation', route['validation'] === 'report' ? undefined : 'report'),
  'rewritten path': (_, route, pick) =>
    set(route, 'upstreamPath', { replace: '/', with: pickFrom(['/v3', '/a', '/'], pick) }),
  upstream: (_, route) => set(route, 'upstream', 'other'),
  'own response': (_, route, pick) => {
    for (const key of ['upstream', 'upstreamPath', 'requestHeaders', 'login', 'body', 'websocket', 'timeout'])
      set(route, key, undefined);
    const redirect = { to: '/new', query: 'keep' };
    Object.assign(route, pickFrom([{ respond: { status: 410 } }, { respond: { body: 'ok' } }, { redirect }], pick));
  },
  endpoints: (manifest) => {
    const upstreams = manifest['upstreams'] as Record<string, Entry>;
    set(manifest, 'upstreams', { up: upstreams['other'], other: upstreams['up'] });
  },
  'request headers': (_, route, pick) =>
    set(
      route,
      'requestHeaders',
      pickFrom([{ set: { 'X-Platform': 'other' } }, { remove: ['X-Tenant', 'Authorization'] }, undefined], pick),
    ),
  'encoded slashes': (_, route) => set(route, 'encodedSlash', route['encodedSlash'] === 'keep' ? undefined : 'keep'),
  websocket: (_, route) => {
    if (route['login'] === undefined && route['method'] !== 'POST' && JSON.stringify(route['method']).includes('GET'))
      set(route, 'websocket', route['websocket'] === undefined ? { origins: ['https://app.example'] } : undefined);
  },
  login: (_, route, pick) => {
    if (route['websocket'] === undefined)
      set(route, 'login', pickFrom([{ token: '/token' }, { token: '/other' }, undefined], pick));
  },
  'limits of a route': (_, route, pick) =>
    set(route, 'rateLimits', pickFrom([['address'], ['tenant', 'address'], undefined, ['tenant']], pick)),
  rate: (manifest, _, pick) => {
    const limits = manifest['rateLimits'] as Record<string, Entry>;
    for (const limit of Object.values(limits)) limit['allow'] = pickFrom(['1 per 1h', '3 per 1h', '100 per 1h'], pick);
  },
  'limit mode': (manifest) => {
    for (const limit of Object.values(manifest['rateLimits'] as Record<string, Entry>))
      set(limit, 'mode', limit['mode'] === 'report' ? undefined : 'report');
  },
  audience: (manifest) => set(tokensOf(manifest), 'audience', 'another'),
  'allowed roles': (manifest, _, pick) =>
    set(
      roleOf(manifest),
      'allow',
      pickFrom(
        [
          ['admin', 'user', 'guest'],
          ['admin', 'user', 'clerk'],
        ],
        pick,
      ),
    ),
  'role message': (manifest) => set(roleOf(manifest), 'message', 'another message'),
  realm: (manifest) => set(manifest['auth'] as Entry, 'realm', 'another'),
  cors: (manifest, _, pick) =>
    set(manifest, 'cors', pickFrom([{ origins: ['https://other.example'] }, { origins: ['*'] }, undefined], pick)),
  'trusted proxies': (manifest, _, pick) =>
    set(manifest, 'server', pickFrom([{ trustedProxies: ['127.0.0.1'] }, {}], pick)),
  'number of headers': (manifest) => set(manifest, 'server', { limits: { headers: 5 } }),
  'size of headers': (manifest) => set(manifest, 'server', { limits: { headerBytes: '1KB' } }),
};

function tokensOf(manifest: Entry): Entry {
  return ((manifest['auth'] as Entry)['tokens'] as Entry)['jwt'] as Entry;
}

function roleOf(manifest: Entry): Entry {
  return (manifest['auth'] as Entry)['role'] as Entry;
}

/** A manifest, and the same with a few changes. */
export interface ManifestPair {
  readonly active: AnyManifest;
  readonly candidate: AnyManifest;
  readonly changes: readonly string[];
}

const rates = fc.constantFrom('2 per 1h', '4 per 1h', '90000 per 1s');

/** Generates a manifest with the upstreams `up` and `other` and low rates, and a changed one. */
export const anyChange: fc.Arbitrary<ManifestPair> = fc
  .tuple(
    anyManifest,
    fc.array(rates, { minLength: 4, maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom(...Object.keys(CHANGES)), fc.nat(), fc.nat()), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([manifest, allowed, drafts, hasWebSocket]) => {
    const active = structuredClone(manifest) as Entry;
    active['upstreams'] = { up: { url: 'http://127.0.0.1:9' }, other: { url: 'http://127.0.0.1:10' } };
    for (const [index, limit] of Object.values(active['rateLimits'] as Record<string, Entry>).entries()) {
      limit['allow'] = allowed[index];
      delete limit['burst'];
    }
    const [first] = active['routes'] as Entry[];
    if (hasWebSocket && first?.['login'] === undefined && first?.['method'] === 'GET') first['websocket'] = true;
    const candidate = structuredClone(active);
    for (const [name, index, pick] of drafts) {
      const routes = candidate['routes'] as Entry[];
      CHANGES[name]?.(candidate, pickFrom(routes, index), pick);
    }
    return {
      active: active as unknown as AnyManifest,
      candidate: candidate as unknown as AnyManifest,
      changes: drafts.map(([name]) => name),
    };
  });
