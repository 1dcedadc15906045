import { randomUUID } from 'node:crypto';
import type { Issuer } from '../../support/issuer.ts';
import { AUDIENCE, ISSUER } from '../../support/issuer.ts';

/** A pseudorandom generator with a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** Returns some of the items, at least one. */
  some<Item>(items: readonly Item[]): Item[] {
    const chosen = items.filter(() => this.chance(0.5));
    return chosen.length > 0 ? chosen : [this.pick(items)];
  }
}

// biome-ignore lint/suspicious/noExplicitAny: mutations change any member of a manifest.
export type AnyManifest = any;

const CONTACT = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', maxLength: 20 }, age: { type: 'integer', minimum: 0 } },
  additionalProperties: false,
};

interface Urls {
  readonly up: string;
  readonly other: string;
  readonly jwks: string;
}

/** Returns a manifest with routes of all kinds. @param isSeveral true for two issuers; by default random */
export function createBaseManifest(random: Random, urls: Urls, isSeveral?: boolean): AnyManifest {
  const manifest = createSingleIssuer(random, urls);
  if (isSeveral ?? random.chance(0.3)) addPartners(manifest, random);
  return manifest;
}

const PARTNERS = 'https://partners.test';

/** Adds a method of tokens with a role of its own, which some routes accept. */
function addPartners({ auth, routes }: AnyManifest, random: Random): void {
  const { jwt } = auth.tokens;
  const allow = ['admin', 'user', 'auditor', 'read'];
  auth.tokens = [
    { name: 'staff', jwt },
    {
      name: 'partners',
      jwt: { ...jwt, issuer: PARTNERS },
      role: { claim: '/scope', format: 'words', allow, message: 'not this partner' },
    },
  ];
  for (const route of routes) changeIssuers(route, random);
}

function changeIssuers(route: AnyManifest, random: Random): void {
  if (route.access === 'protected') route.issuers = random.some(['staff', 'partners']);
  if (route.login !== undefined) route.login.issuer = random.pick(['staff', 'partners']);
}

function createSingleIssuer(random: Random, { up, other, jwks }: Urls): AnyManifest {
  const isList = random.chance(0.3);
  return {
    version: 1,
    listen: '127.0.0.1:0',
    log: { replay: true, ...(random.chance(0.7) ? { paths: 'plain' } : random.chance(0.5) ? { paths: 'keyed' } : {}) },
    server: { limits: { headers: 40 } },
    ...(random.chance(0.5) && { cors: { origins: ['https://app.test'], methods: ['GET'] } }),
    upstreams: { up: { url: up }, other: { url: other } },
    auth: {
      tokens: { jwt: { jwks, algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE } },
      role: {
        claim: '/company_role',
        ...(isList ? { array: true } : random.chance(0.3) && { format: 'words' }),
        allow: ['admin', 'user', 'auditor'],
        message: 'this role is not allowed',
      },
    },
    rateLimits: {
      few: { key: 'client', allow: '8 per 1h' },
      soft: { key: 'client', allow: '5 per 1h', mode: 'report' },
      each: { key: 'subject', allow: '20 per 1h' },
      accounts: { key: { body: '/email' }, missing: 'refuse', allow: '3 per 1h' },
    },
    schemas: { Contact: CONTACT },
    routes: [
      {
        id: 'contact-list',
        method: 'GET',
        path: '/contacts',
        upstream: 'up',
        access: 'protected',
        query: {
          properties: { page: { type: 'integer' }, q: { type: 'string', maxLength: 3 } },
          required: random.chance(0.3) ? ['page'] : [],
          unknown: random.pick(['refuse', 'allow']),
          repeated: random.pick(['refuse', 'allow', ['q']]),
        },
      },
      {
        id: 'contact',
        method: 'GET',
        path: '/contacts/{id}',
        upstream: 'up',
        access: 'protected',
        ...(random.chance(0.5) && { roles: random.chance(0.2) ? 'any' : random.some(['admin', 'user', 'auditor']) }),
        ...(random.chance(0.7) && { params: { properties: { id: { type: 'string', format: 'uuid' } } } }),
      },
      {
        id: 'contact-new',
        method: 'POST',
        path: '/contacts',
        upstream: 'up',
        access: 'protected',
        ...(random.chance(0.4) && { rateLimits: ['each'] }),
        body: { maxBytes: '120B', schema: { $ref: '#/schemas/Contact' } },
        ...(random.chance(0.2) && { validation: 'report' }),
      },
      {
        id: 'contact-edit',
        method: ['PUT', 'PATCH'],
        path: '/contacts/{id}',
        upstream: 'up',
        access: 'protected',
        roles: ['admin'],
        body: { maxBytes: '60B', schema: { type: 'object', required: ['name'] } },
        ...(random.chance(0.2) && { validation: 'report' }),
      },
      {
        id: 'upload',
        method: 'POST',
        path: '/files',
        upstream: 'up',
        access: random.pick(['public', 'protected']),
        body: { maxBytes: '100B', types: ['application/pdf', 'image/*', 'text/weird'] },
      },
      {
        id: 'import',
        method: 'POST',
        path: '/imports',
        upstream: 'up',
        access: 'protected',
        body: { maxBytes: '100B', csv: { header: ['name', 'age'] } },
        ...(random.chance(0.3) && { validation: 'report' }),
      },
      { id: 'download', method: 'GET', path: '/downloads/{token}', upstream: 'other', access: 'public' },
      { id: 'docs', method: 'any', path: '/docs/**', upstream: 'other', access: 'public' },
      { id: 'live', method: 'GET', path: '/live', upstream: 'up', access: 'public', websocket: true },
      {
        id: 'login',
        method: 'POST',
        path: '/login',
        upstream: 'up',
        access: 'public',
        login: { token: '/token' },
        ...(random.chance(0.5) && {
          rateLimits: random.pick([['accounts'], ['accounts', 'few']]),
          body: { maxBytes: '100B', schema: { type: 'object', properties: { email: { type: 'string' } } } },
        }),
      },
      {
        id: 'limited',
        method: 'GET',
        path: '/limited',
        upstream: 'up',
        access: random.pick(['public', 'protected']),
        rateLimits: random.pick([['few'], ['soft'], ['few', 'soft']]),
      },
      {
        id: 'kind',
        method: 'GET',
        path: '/kinds/{kind}',
        upstream: 'up',
        access: 'public',
        params: { properties: { kind: { enum: ['one', 'two'] } } },
        headers: { properties: { 'X-Kind': { enum: ['a', 'b'] } }, required: random.chance(0.5) ? ['X-Kind'] : [] },
        ...(random.chance(0.3) && { validation: 'report' }),
        requestHeaders: { set: { 'X-Platform': 'one' } },
      },
      {
        id: 'api',
        method: ['GET', 'DELETE'],
        path: '/api/v1/**',
        upstream: 'other',
        access: 'protected',
        upstreamPath: { replace: '/api/v1', with: '/v1' },
        ...(random.chance(0.3) && { encodedSlash: 'keep' }),
      },
    ],
  };
}

type Mutation = (manifest: AnyManifest, random: Random) => void;

function routeOf(
  manifest: AnyManifest,
  random: Random,
  filter: (route: AnyManifest) => boolean = () => true,
): AnyManifest {
  const routes = manifest.routes.filter(filter);
  return routes.length === 0 ? {} : random.pick(routes);
}

const byId = (manifest: AnyManifest, id: string): AnyManifest =>
  manifest.routes.find((route: AnyManifest) => route.id === id) ?? {};

/** Changes of manifests, by name. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  nothing: () => undefined,
  timeout: (manifest, random) => {
    routeOf(manifest, random).timeout = '9s';
  },
  public: (manifest, random) => {
    const route = routeOf(
      manifest,
      random,
      ({ access, rateLimits }) => access === 'protected' && rateLimits === undefined,
    );
    route.access = 'public';
    delete route.roles;
    delete route.issuers;
  },
  protected: (manifest, random) => {
    const route = routeOf(manifest, random, ({ access }) => access === 'public');
    route.access = 'protected';
  },
  roles: (manifest, random) => {
    const route = routeOf(manifest, random, ({ access, login }) => access === 'protected' || login !== undefined);
    route.roles = random.some(manifest.auth.role.allow);
  },
  'any role': (manifest, random) => {
    const route = routeOf(manifest, random, ({ access, login }) => access === 'protected' || login !== undefined);
    route.roles = 'any';
  },
  'roles removed': (manifest, random) => {
    delete routeOf(manifest, random, ({ roles }) => roles !== undefined).roles;
  },
  allow: (manifest) => void manifest.auth.role.allow.push('guest'),
  'allow removed': (manifest, random) => {
    const gone = random.pick(manifest.auth.role.allow);
    manifest.auth.role.allow = manifest.auth.role.allow.filter((role: string) => role !== gone);
    for (const route of manifest.routes)
      if (Array.isArray(route.roles)) {
        route.roles = route.roles.filter((role: string) => role !== gone);
        if (route.roles.length === 0) delete route.roles;
      }
  },
  'role list': (manifest) => {
    manifest.auth.role.array = manifest.auth.role.array !== true;
    delete manifest.auth.role.format;
  },
  'role message': (manifest) => {
    manifest.auth.role.message = 'another message';
  },
  tokens: (manifest) => {
    [manifest.auth.tokens].flat()[0].jwt.audience = 'another';
  },
  issuers: (manifest, random) => {
    for (const route of manifest.routes) if (random.chance(0.5)) changeIssuers(route, random);
  },
  'issuer role': (manifest, random) => {
    const [, partners] = manifest.auth.tokens;
    partners.role = random.pick([
      'any',
      { claim: '/scope', format: 'words', allow: ['user', 'admin', 'auditor'], message: 'not this partner' },
      { claim: '/scope', format: 'words', allow: ['user', 'admin', 'auditor', 'read'], message: 'no partner' },
      { claim: '/scope', allow: ['user', 'admin', 'auditor'], message: 'not this partner' },
    ]);
    // With a role of any kind, there is none that a route can list.
    const lists = ({ roles, issuers }: AnyManifest) => Array.isArray(roles) && issuers?.includes('partners');
    if (partners.role === 'any') for (const route of manifest.routes.filter(lists)) delete route.roles;
  },
  'issuer role removed': (manifest) => void delete manifest.auth.tokens[1].role,
  'issuer added': (manifest) => {
    const [{ jwt }] = manifest.auth.tokens;
    manifest.auth.tokens.push({ name: 'devices', jwt: { ...jwt, issuer: 'https://devices.test' } });
  },
  methods: (manifest, random) => {
    const route = routeOf(manifest, random, ({ method, id }) => Array.isArray(method) || id === 'docs');
    route.method = random.pick([['GET', 'PUT'], ['PUT'], ['PATCH', 'DELETE']]);
    if (route.method.includes('GET') || route.body === undefined) return;
  },
  path: (manifest, random) => {
    const route = routeOf(manifest, random, ({ path }) => !path.includes('{') && !path.includes('*'));
    route.path = `${route.path}/moved`;
  },
  'route removed': (manifest, random) => {
    manifest.routes.splice(random.below(manifest.routes.length), 1);
  },
  'route added': (manifest, random) => {
    manifest.routes.push({
      id: 'added',
      method: random.pick(['GET', 'any']),
      path: random.pick(['/contacts/latest', '/downloads/welcome', '/{first}/{second}', '/docs/intro', '/**']),
      upstream: 'up',
      access: random.pick(['public', 'protected']),
    });
  },
  'body schema': (manifest, random) => {
    if (random.chance(0.5)) manifest.schemas.Contact.properties.name.maxLength = 3;
    else byId(manifest, 'contact-edit').body = { maxBytes: '60B', schema: { type: 'object', required: ['id'] } };
  },
  'body size': (manifest, random) => {
    const route = routeOf(manifest, random, ({ body }) => body !== undefined);
    if (route.body !== undefined) route.body.maxBytes = random.pick(['10B', '50B', '90B', '300B']);
  },
  'body types': (manifest, random) => {
    const upload = byId(manifest, 'upload');
    if (upload.body !== undefined)
      upload.body.types = random.pick([
        ['application/pdf'],
        ['image/png', 'text/new'],
        ['text/csv', 'application/json'],
        ['image/*'],
      ]);
  },
  'body removed': (manifest, random) => {
    delete routeOf(manifest, random, ({ body, rateLimits }) => body !== undefined && rateLimits === undefined).body;
  },
  'body added': (manifest, random) => {
    const route = routeOf(
      manifest,
      random,
      ({ body, method }) => body === undefined && (method === 'any' || method === 'POST'),
    );
    route.body = random.pick([
      { maxBytes: '40B' },
      { maxBytes: '80B', types: ['application/json'] },
      { maxBytes: '80B', schema: { type: 'object' } },
    ]);
  },
  query: (manifest, random) => {
    const { query } = byId(manifest, 'contact-list');
    if (query === undefined) return;
    random.pick([
      () => {
        query.required = ['q'];
      },
      () => {
        query.required = [];
      },
      () => {
        query.unknown = query.unknown === 'refuse' ? 'allow' : 'refuse';
      },
      () => {
        query.repeated = 'refuse';
      },
      () => {
        query.repeated = 'allow';
      },
      () => {
        query.properties.q.maxLength = 1;
      },
      () => {
        query.properties.sort = { type: 'string' };
      },
    ])();
  },
  'query removed': (manifest) => void delete byId(manifest, 'contact-list').query,
  params: (manifest, random) => {
    byId(manifest, 'contact').params = {
      properties: { id: random.pick([{ type: 'integer' }, { type: 'string', maxLength: 5 }]) },
    };
  },
  headers: (manifest, random) => {
    const kind = byId(manifest, 'kind');
    kind.headers = random.pick([
      { properties: { 'X-Kind': { enum: ['a'] } } },
      { properties: { 'X-Kind': { enum: ['a', 'b'] } }, required: ['X-Kind'] },
      { properties: { 'X-Kind': { enum: ['a', 'b'] } } },
    ]);
  },
  validation: (manifest, random) => {
    const route = routeOf(
      manifest,
      random,
      ({ body, query, params, headers }) => (body ?? query ?? params ?? headers) !== undefined,
    );
    if (route.validation === 'report') delete route.validation;
    else route.validation = 'report';
  },
  rate: (manifest, random) => {
    manifest.rateLimits[random.pick(['few', 'each', 'accounts'])].allow = '2 per 1h';
  },
  'rate mode': (manifest, random) => {
    const limit = manifest.rateLimits[random.pick(['few', 'soft', 'each'])];
    if (limit.mode === 'report') delete limit.mode;
    else limit.mode = 'report';
  },
  'limit removed': (manifest, random) => {
    const route = routeOf(manifest, random, ({ rateLimits }) => rateLimits !== undefined);
    if (random.chance(0.5) || route.rateLimits?.length === 1) delete route.rateLimits;
    else route.rateLimits?.splice(random.below(2), 1);
  },
  'limit added': (manifest, random) => {
    const route = routeOf(manifest, random, ({ rateLimits }) => rateLimits === undefined);
    route.rateLimits = ['few'];
  },
  upstream: (manifest, random) => {
    const route = routeOf(manifest, random);
    route.upstream = route.upstream === 'up' ? 'other' : 'up';
  },
  'upstream path': (manifest, random) => {
    const api = byId(manifest, 'api');
    if (random.chance(0.5)) delete api.upstreamPath;
    else api.upstreamPath = { replace: '/api', with: '/' };
  },
  'request headers': (manifest, random) => {
    routeOf(manifest, random, ({ id }) => id !== 'login').requestHeaders = random.pick([
      { set: { 'X-Platform': 'two' } },
      { remove: ['X-Kind'] },
      { set: { 'X-New': 'yes' }, remove: ['X-Kind'] },
    ]);
  },
  cors: (manifest, random) => {
    if (manifest.cors === undefined) manifest.cors = { origins: ['https://app.test'] };
    else if (random.chance(0.5)) delete manifest.cors;
    else manifest.cors = { origins: ['https://app.test', 'https://other.test'], methods: ['GET', 'POST'] };
  },
  websocket: (manifest, random) => {
    const route = random.pick([byId(manifest, 'live'), byId(manifest, 'contact-list')]);
    route.websocket = route.websocket === true ? random.pick([false, { origins: ['https://other.test'] }]) : true;
  },
  'encoded slash': (manifest) => {
    const api = byId(manifest, 'api');
    api.encodedSlash = api.encodedSlash === 'keep' ? 'refuse' : 'keep';
  },
  'header count': (manifest, random) => {
    manifest.server.limits.headers = random.pick([20, 60]);
  },
  login: (manifest, random) => {
    const route = byId(manifest, 'login');
    if (random.chance(0.5)) delete route.login;
    else route.login = { token: '/data/token' };
  },
};

const ROLES = ['admin', 'user', 'auditor', 'guest', 'other'];

export interface Tokens {
  readonly [name: string]: string;
}

/** Signs the tokens that random requests use. */
export async function createTokens(issuer: Issuer): Promise<Tokens> {
  const tokens: Record<string, string> = {};
  const now = Math.floor(Date.now() / 1000);
  for (const role of ROLES) {
    tokens[role] = await issuer.token({ sub: `caller-${role}`, company_role: role });
    tokens[`${role}-list`] = await issuer.token({ sub: `lister-${role}`, company_role: [role, 'user'] });
    tokens[`${role}-only`] = await issuer.token({ sub: `lone-${role}`, company_role: [role] });
    const partner = { iss: PARTNERS, sub: `caller-${role}`, company_role: undefined, scope: `${role} email` };
    tokens[`${role}-partner`] = await issuer.token(partner);
  }
  tokens['expired'] = await issuer.token({ exp: now - 900, iat: now - 1_000 });
  tokens['another'] = await issuer.token({ aud: 'another' });
  tokens['both'] = await issuer.token({ aud: [AUDIENCE, 'another'], company_role: 'admin' });
  tokens['roleless'] = await issuer.token({ company_role: undefined });
  tokens['garbage'] = 'not.a.token';
  return tokens;
}

const MARK = 'secretvalue';

export interface RandomRequest {
  readonly bytes: string;
  readonly method: string;
}

/** Returns the bytes of a random request. */
export function createRandomRequest(random: Random, tokens: Tokens): RandomRequest {
  const [method, path] = random.pick(TARGETS)(random);
  const headers: string[] = [];
  if (random.chance(0.97)) headers.push('Host: gateway.test');
  headers.push('Connection: close');
  const credential = random.next();
  if (credential < 0.75)
    headers.push(
      `Authorization: Bearer ${random.chance(0.8) ? tokens[random.pick(ROLES) + random.pick(['', '', '', '-list', '-only', '-partner', '-partner'])] : tokens[random.pick(['expired', 'another', 'both', 'roleless', 'garbage'])]}`,
    );
  else if (credential < 0.8) headers.push('Authorization: Basic c2VjcmV0dmFsdWU=');
  if (random.chance(0.3)) headers.push(`X-Kind: ${random.pick(['a', 'b', 'c'])}`);
  if (random.chance(0.2))
    headers.push(`Origin: ${random.pick(['https://app.test', 'https://other.test', 'http://gateway.test'])}`);
  if (method === 'OPTIONS' && random.chance(0.7)) headers.push('Access-Control-Request-Method: GET');
  const target = path.startsWith('/live') || random.chance(0.02);
  if (target && method === 'GET' && random.chance(0.6))
    headers.splice(
      headers.indexOf('Connection: close'),
      1,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    );
  if (path === '/login' && random.chance(0.8))
    headers.push(
      `X-Give: ${tokens[random.pick([...ROLES, 'expired', 'admin-list', 'user-partner', 'other-partner'])]}`,
    );
  if (random.chance(0.03)) for (let index = 0; index < 30; index += 1) headers.push(`X-Many-${index}: 1`);
  if (random.chance(0.01)) headers.push('Host: twice.test');
  if (random.chance(0.01)) headers.push('Expect: something');
  const body = bodyFor(random, method, path);
  if (body !== undefined) headers.push(...body.headers);
  return { method, bytes: `${[`${method} ${path} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n${body?.text ?? ''}` };
}

function bodyFor(
  random: Random,
  method: string,
  path: string,
): { readonly headers: string[]; readonly text: string } | undefined {
  if (!['POST', 'PUT', 'PATCH'].includes(method) && !random.chance(0.05)) return undefined;
  if (random.chance(0.05)) return undefined;
  const json = random.pick([
    '{"name":"Ada"}',
    '{"name":"Grace Hopper","age":3}',
    '{"name":5}',
    '{"name":"',
    `{"email":"${random.pick(['a', 'b', 'c'])}@x.test"}`,
    '{}',
    '',
    `{"name":"${MARK.repeat(random.pick([1, 8, 14]))}"}`,
  ]);
  const csv = random.pick([
    'name,age\r\nAda,3\r\n',
    'age,name\r\n',
    `name,age\r\n${'Ada,3\r\n'.repeat(random.pick([2, 20]))}`,
  ]);
  const isCsv = path.startsWith('/imports') ? random.chance(0.8) : random.chance(0.05);
  const text = isCsv ? csv : json;
  const type = random.chance(0.75)
    ? isCsv
      ? random.pick(['text/csv', 'text/csv; charset=utf-8', 'text/csv; charset=latin1'])
      : path === '/files'
        ? random.pick(['application/pdf', 'image/png', 'image/new', 'text/weird', 'text/new', 'application/json'])
        : random.pick([
            'application/json',
            'application/json',
            'application/json; charset=utf-8',
            'application/merge+json',
          ])
    : random.pick([undefined, 'text/plain', 'application/json; charset=latin1', 'text/odd']);
  const headers = type === undefined ? [] : [`Content-Type: ${type}`];
  if (random.chance(0.03)) headers.push('Content-Encoding: gzip');
  if (random.chance(0.8)) return { headers: [...headers, `Content-Length: ${Buffer.byteLength(text)}`], text };
  const chunks = text === '' ? '' : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  return { headers: [...headers, 'Transfer-Encoding: chunked'], text: `${chunks}0\r\n\r\n` };
}

function idOf(random: Random): string {
  return random.pick([randomUUID(), String(random.below(99_999)), 'abcdefgh', 'latest', 'me', '%40me', 'a%2Fb']);
}

function queryOf(random: Random): string {
  if (random.chance(0.4)) return '';
  const pairs = Array.from({ length: random.below(4) }, () =>
    random.pick([
      'page=1',
      'page=x',
      'q=a',
      'q=abcd',
      `q=${MARK}`,
      'sort=up',
      'odd=1',
      '8f14e45fceea167a=1',
      'q',
      'a;b=1',
      'sort=a;b',
    ]),
  );
  return `?${pairs.join('&')}`;
}

type Target = (random: Random) => readonly [method: string, path: string];

const ANY_METHOD = ['GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

const TARGETS: readonly Target[] = [
  (random) => ['GET', `/contacts${queryOf(random)}`],
  (random) => ['GET', `/contacts${queryOf(random)}`],
  (random) => ['GET', `/contacts/${idOf(random)}`],
  (random) => [random.pick(['PUT', 'PATCH']), `/contacts/${idOf(random)}`],
  () => ['POST', '/contacts'],
  () => ['POST', '/contacts'],
  () => ['POST', '/files'],
  () => ['POST', '/imports'],
  (random) => ['GET', `/downloads/${random.pick([randomUUID(), 'welcome', 'other', 'qwertyuiopasdfgh'])}`],
  (random) => [random.pick(ANY_METHOD), `/docs/${random.pick(['intro', 'a/b', 'x%20y', '', 'guide.pdf'])}`],
  () => ['GET', '/live'],
  () => ['POST', '/login'],
  () => ['GET', '/limited'],
  (random) => ['GET', `/kinds/${random.pick(['one', 'two', 'three'])}`],
  (random) => [
    random.pick(['GET', 'DELETE', 'POST']),
    `/api/v1/${random.pick(['a', 'b/c', 'd%2Fe', ''])}${queryOf(random)}`,
  ],
  (random) => [
    random.pick(ANY_METHOD),
    random.pick([
      '/',
      '/nothing',
      '/contacts/',
      '/Contacts',
      '/contacts/a/b',
      '/files/moved',
      '/../x',
      '//x',
      '/a%2e',
      '/contacts;x',
    ]),
  ],
  (random) => ['OPTIONS', random.pick(['*', '/contacts', '/nothing', '/files'])],
];
