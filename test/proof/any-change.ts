import type { Random } from '../diff/rewrites.ts';

type Json = Record<string, unknown>;

/** A route of a small manifest, as it is written. */
export type WrittenRoute = Json & { id: string; path: string };

export interface WrittenManifest {
  readonly version: 1;
  readonly upstreams: Readonly<Record<string, Json>>;
  readonly auth: Json;
  readonly rateLimits: Readonly<Record<string, Json>>;
  readonly routes: readonly WrittenRoute[];
}

/** Few words, so that paths overlap. Some fold into others. */
const WORDS = ['a', 'b', 'A', 'x'];
const METHODS = ['GET', 'POST', ['GET', 'POST'], 'any'];
const SCHEMAS = [
  { type: 'object' },
  { type: 'object', required: ['n'] },
  { type: 'object', properties: { n: { type: 'integer' } } },
  { type: 'object', properties: { n: { type: 'integer', maximum: 5 } } },
  { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] },
  { type: 'string' },
];
const QUERIES = [
  { properties: { q: { type: 'integer' } } },
  { properties: { q: { type: 'integer', maximum: 5 } } },
  { properties: { q: { type: 'integer' } }, required: ['q'] },
  { properties: { q: { enum: ['1', 'x'] } } },
];
const LIMITS = [
  { key: 'client', allow: '2 per 1m' },
  { key: 'client', allow: '3 per 1m' },
  { key: 'client', allow: '2 per 1h' },
  { key: 'route', allow: '2 per 1m' },
  { key: 'subject', allow: '2 per 1m' },
];
const SIZES = ['10B', '20B', '30B'];

export function pick<Value>(list: readonly Value[], random: Random): Value {
  return list[random(list.length)] as Value;
}

function anyPath(random: Random): string {
  const parts = Array.from({ length: random(3) }, (_, index) => (random(5) < 2 ? `{p${index}}` : pick(WORDS, random)));
  return `/${[...parts, ...(random(4) === 0 ? ['**'] : [])].join('/')}`;
}

function anyRoute(id: string, random: Random): WrittenRoute {
  const isProtected = random(3) > 0;
  const method = pick(METHODS, random);
  const hasBody = method !== 'GET' && random(3) === 0;
  return {
    ...{ id, method, path: anyPath(random), upstream: pick(['one', 'one', 'two', 'twin'], random) },
    access: isProtected ? 'protected' : 'public',
    ...(isProtected && random(3) === 0 && { roles: pick([['admin'], ['user'], ['admin', 'user']], random) }),
    ...(hasBody && {
      body: { maxBytes: pick(SIZES, random), ...(random(2) === 0 && { schema: pick(SCHEMAS, random) }) },
    }),
    ...(random(6) === 0 && { query: pick(QUERIES, random) }),
    ...(random(5) === 0 && { rateLimits: [pick(['l0', 'l1'], random)] }),
    ...(random(8) === 0 && { encodedSlash: 'keep' }),
    ...(random(8) === 0 && { validation: 'report' }),
  };
}

/** Returns a small manifest. It may have errors, such as two routes with one path. */
export function anyManifest(random: Random): WrittenManifest {
  return {
    version: 1,
    upstreams: {
      one: { url: 'http://127.0.0.1:1' },
      two: { url: 'http://127.0.0.1:2' },
      twin: { url: 'http://127.0.0.1:1' },
    },
    auth: {
      tokens: { jwt: { jwks: 'http://127.0.0.1:9/', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow: ['admin', 'user'], message: 'users only' },
    },
    rateLimits: { l0: pick(LIMITS, random), l1: pick(LIMITS, random) },
    routes: Array.from({ length: 1 + random(5) }, (_, index) => anyRoute(`r${index}`, random)),
  };
}

type Mutation = (manifest: WrittenManifest, random: Random) => WrittenManifest;

/** Replaces one route by others. */
function changeRoute(change: (route: WrittenRoute, random: Random) => readonly WrittenRoute[]): Mutation {
  return (manifest, random) => {
    const index = random(manifest.routes.length);
    const route = manifest.routes[index];
    const next = route === undefined ? [] : change(route, random);
    return { ...manifest, routes: manifest.routes.toSpliced(index, 1, ...next) };
  };
}

function without({ [0]: _, ...route }: WrittenRoute & { 0?: never }, ...keys: readonly string[]): WrittenRoute {
  return Object.fromEntries(Object.entries(route).filter(([key]) => !keys.includes(key))) as WrittenRoute;
}

function withKey(key: string, values: readonly unknown[]): Mutation {
  return changeRoute((route, random) => {
    const value = pick([undefined, ...values], random);
    return [value === undefined ? without(route, key) : { ...route, [key]: value }];
  });
}

const named = (segment: string, index: number) => (segment.startsWith('{') ? `{p${index}}` : segment);
const pathOf = (segments: readonly string[]) => `/${segments.map(named).join('/')}`;
const segmentsOf = ({ path }: WrittenRoute) => path.split('/').slice(1).filter(Boolean);

/** The changes that a developer makes. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  move: changeRoute((route, random) => [{ ...route, path: anyPath(random) }]),
  split: changeRoute((route, random) => {
    const segments = segmentsOf(route);
    const open = segments.findIndex((segment) => segment.startsWith('{') || segment === '**');
    if (open === -1) return [route];
    const words = pick([['a'], ['a', 'b'], ['A']], random);
    const parts = words.map((word) => {
      const rest = segments[open] === '**' ? [word, '**'] : [word];
      return { ...route, id: `${route.id}-${word}`, path: pathOf(segments.toSpliced(open, 1, ...rest)) };
    });
    return random(3) > 0 ? [...parts, route] : parts;
  }),
  merge: (manifest, random) => {
    if (manifest.routes.length < 2) return manifest;
    const [first, second, ...others] = manifest.routes as [WrittenRoute, WrittenRoute, ...WrittenRoute[]];
    const word = pick(WORDS, random);
    return {
      ...manifest,
      routes: [
        { ...first, path: pick([`/${word}/**`, '/{p0}', '/**'], random) },
        ...(random(2) ? [second] : []),
        ...others,
      ],
    };
  },
  widen: changeRoute((route, random) => {
    const segments = segmentsOf(route);
    if (segments.length === 0) return [route];
    const index = random(segments.length + 1);
    const wide =
      random(2) === 0
        ? [...segments.slice(0, index), '**']
        : segments.with(Math.min(index, segments.length - 1), '{p}');
    return [{ ...route, path: pathOf(wide) }];
  }),
  narrow: changeRoute((route, random) => {
    const segments = segmentsOf(route);
    const open = segments.findIndex((segment) => segment.startsWith('{') || segment === '**');
    return [open === -1 ? route : { ...route, path: pathOf(segments.toSpliced(open, 1, pick(WORDS, random))) }];
  }),
  rename: changeRoute((route) => [{ ...route, id: `${route.id}-new` }]),
  parameter: changeRoute((route) => [{ ...route, path: route.path.replaceAll('{p', '{q') }]),
  remove: changeRoute(() => []),
  add: (manifest, random) => ({ ...manifest, routes: [...manifest.routes, anyRoute('added', random)] }),
  reorder: (manifest) => ({ ...manifest, routes: manifest.routes.toReversed() }),
  access: changeRoute((route) => [
    route['access'] === 'public' ? { ...route, access: 'protected' } : { ...without(route, 'roles'), access: 'public' },
  ]),
  roles: withKey('roles', [['admin'], ['user'], ['admin', 'user']]),
  methods: changeRoute((route, random) => [{ ...route, method: pick(METHODS, random) }]),
  upstream: changeRoute((route, random) => [{ ...route, upstream: pick(['one', 'two', 'twin'], random) }]),
  upstreamPath: changeRoute((route, random) => {
    const [first = ''] = segmentsOf(route);
    const replace = first === '' || /[{*]/.test(first) ? '/' : `/${first}`;
    return [{ ...route, upstreamPath: { replace, with: pick(['/', '/a', replace], random) } }];
  }),
  body: changeRoute((route, random) => [
    route['method'] === 'GET'
      ? route
      : { ...route, body: { maxBytes: pick(SIZES, random), ...(random(3) > 0 && { schema: pick(SCHEMAS, random) }) } },
  ]),
  noBody: changeRoute((route) => [without(route, 'body')]),
  query: withKey('query', QUERIES),
  validation: withKey('validation', ['report']),
  encodedSlash: withKey('encodedSlash', ['keep']),
  rateLimits: withKey('rateLimits', [['l0'], ['l1'], ['l0', 'l1']]),
  limit: (manifest, random) => ({ ...manifest, rateLimits: { ...manifest.rateLimits, l0: pick(LIMITS, random) } }),
  host: (manifest, random) => ({
    ...manifest,
    upstreams: {
      ...manifest.upstreams,
      one: { url: 'http://127.0.0.1:1', host: pick(['client', 'upstream', 'other.example'], random) },
    },
  }),
  url: (manifest) => ({ ...manifest, upstreams: { ...manifest.upstreams, two: { url: 'http://127.0.0.1:3' } } }),
  defaultRoles: (manifest, random) => ({
    ...manifest,
    auth: {
      ...manifest.auth,
      role: { claim: '/role', allow: pick([['admin'], ['admin', 'user', 'guest']], random), message: 'users only' },
    },
  }),
};

/** Returns a manifest, and the same after one to three changes, with their names. */
export function anyChange(random: Random): {
  old: WrittenManifest;
  next: WrittenManifest;
  mutations: readonly string[];
} {
  const old = anyManifest(random);
  const mutations = Array.from({ length: 1 + random(3) }, () => pick(Object.keys(MUTATIONS), random));
  const next = mutations.reduce((manifest, name) => (MUTATIONS[name] as Mutation)(manifest, random), old);
  return { old, next, mutations };
}
