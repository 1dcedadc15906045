import fc from 'fast-check';
import { AUDIENCE, ISSUER } from './issuer.ts';

type Entry = Record<string, unknown>;

const LITERALS = ['a', 'b', 'Admin', 'x.y'];
const SCHEMA = { type: 'object', required: ['a'], properties: { a: { type: 'integer', maximum: 9 } } };

const part = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...LITERALS) },
  { weight: 2, arbitrary: fc.constant('{}') },
);

const path = fc
  .tuple(fc.array(part, { maxLength: 3 }), fc.boolean())
  .map(([parts, hasRest]) => [
    ...parts.map((text, at) => (text === '{}' ? `{p${at}}` : text)),
    ...(hasRest ? ['**'] : []),
  ]);

const methods = fc.constantFrom<unknown>('GET', 'POST', 'any', ['PUT', 'DELETE'], ['GET', 'POST']);

/** A rate limit may count by its members. */
const SMALL_BODY = { schema: SCHEMA, maxBytes: '1KB' };

const body = fc.constantFrom<unknown>(
  { maxBytes: '64B' },
  SMALL_BODY,
  { schema: { $ref: '#/schemas/Shared' } },
  { types: ['text/csv'] },
  { csv: { header: ['a', 'b'] } },
  { multipart: { parts: { a: { maxBytes: '1KB' } } } },
);

const rules = fc.constantFrom<Entry>(
  {},
  { query: { properties: { page: { type: 'integer', minimum: 1 } } } },
  { query: { properties: { page: { type: 'integer' } }, unknown: 'refuse', repeated: 'refuse' } },
  { headers: { properties: { 'X-Tenant': { enum: ['one', 'two'] } } } },
);

const headerRules = fc.constantFrom<Entry>(
  {},
  { requestHeaders: { set: { 'X-Platform': 'signing' }, remove: ['X-Debug'] } },
);

/** Requests never come often enough to be over one of these rates. */
const allow = fc.constantFrom('90000 per 1s', '90000 per 2s', '180000 per 2s');
const mode = fc.constantFrom<Entry>({}, { mode: 'report' }, { count: 'failures' }, { burst: 70_000 });
const missing = fc.constantFrom('refuse', 'skip', 'skip', 'skip');

/** Generates a rate limit. A request can lack a body member, a claim or a header. */
function rateLimit(...keys: readonly unknown[]): fc.Arbitrary<Entry> {
  return fc.tuple(fc.constantFrom(...keys), allow, mode, missing).map(([key, allow, mode, missing]) => {
    const isOptional = /body|claim|header/.test(JSON.stringify(key));
    return { key, allow, ...mode, ...(isOptional && { missing }) };
  });
}

const rateLimits = fc.record({
  address: rateLimit('client', ['client', 'route'], { client: { ipv6Prefix: 56 } }),
  caller: rateLimit('subject', ['subject', 'route'], { claim: '/company_role' }),
  tenant: rateLimit({ header: 'X-Tenant' }, { header: 'x-debug', fold: 'case' }),
  member: rateLimit({ body: '/a' }, [{ body: '/b' }, 'client']),
});

const LIMIT_IDS = ['address', 'caller', 'tenant', 'member'] as const;

/** Generates `undefined` in 80 % of the cases. */
function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 5 }).map((value) => value);
}

const route = fc
  .record({
    path,
    methods,
    access: fc.constantFrom('public', 'protected'),
    isNarrow: fc.boolean(),
    login: rarely(fc.constantFrom<unknown>({ token: '/token' }, {})),
    body: fc.option(body, { nil: undefined, freq: 2 }),
    rules,
    headerRules,
    isReporting: fc.boolean(),
    limits: rarely(fc.subarray([...LIMIT_IDS], { minLength: 1 })),
    keepsSlash: fc.boolean(),
    prefix: fc.constantFrom(undefined, '/v2', '/'),
  })
  .map((draft) => ({ ...draft, key: draft.path.map((text) => (text.startsWith('{') ? '{}' : text)).join('/') }));

const cors = fc.constantFrom<unknown>({ origins: ['https://app.example'], credentials: true }, { origins: ['*'] });

const server = fc.oneof(
  fc.constantFrom<unknown>({ trustedProxies: ['127.0.0.1'] }, { limits: { headers: 6 } }, { workers: 2 }),
  fc.constant({ rateLimitHeaders: 'draft-11' }),
);

/** Generates manifests with the upstream `up` and routes that use any of their keys. Nearly all of them load. */
export const anyManifest = fc
  .tuple(
    fc.uniqueArray(route, { selector: ({ key }) => key, minLength: 1, maxLength: 7 }),
    rarely(cors),
    rarely(server),
    rateLimits,
  )
  .map(([routes, cors, server, rateLimits]) => ({
    version: 1,
    listen: '127.0.0.1:0',
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    auth: {
      tokens: {
        jwt: { jwks: 'http://127.0.0.1:9/jwks.json', algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE },
      },
      role: { claim: '/company_role', allow: ['admin', 'user'], message: 'admins and users only' },
    },
    ...(cors !== undefined && { cors }),
    ...(server !== undefined && { server }),
    schemas: { Shared: { type: 'object', required: ['b'], properties: { b: { type: 'string', minLength: 2 } } } },
    rateLimits,
    routes: routes.map(entryOf),
  }));

export type AnyManifest = typeof anyManifest extends fc.Arbitrary<infer Value> ? Value : never;

type RouteDraft = typeof route extends fc.Arbitrary<infer Value> ? Value : never;

/** False if requests to a route never have the key of a limit. */
function isPossible(id: (typeof LIMIT_IDS)[number], { access, body, methods }: RouteDraft): boolean {
  if (id === 'caller') return access === 'protected';
  return id !== 'member' || (methods !== 'GET' && body === SMALL_BODY);
}

function entryOf(draft: RouteDraft, index: number): Entry {
  const { access, login, prefix } = draft;
  const [first = ''] = draft.path;
  const hasPrefix = LITERALS.includes(first) && prefix !== undefined;
  const limits = draft.limits?.filter((id) => isPossible(id, draft)) ?? [];
  const isGate = access === 'protected' || login !== undefined;
  return {
    id: `r${index}`,
    method: draft.methods,
    path: `/${draft.path.join('/')}`,
    upstream: 'up',
    access,
    ...(isGate && draft.isNarrow && { roles: ['admin'] }),
    ...(login !== undefined && { login }),
    ...(draft.methods !== 'GET' && draft.body !== undefined && { body: draft.body }),
    ...draft.rules,
    ...draft.headerRules,
    ...(limits.length > 0 && { rateLimits: limits }),
    ...(draft.isReporting && { validation: 'report' }),
    ...(draft.keepsSlash && { encodedSlash: 'keep' }),
    ...(hasPrefix && { upstreamPath: { replace: `/${first}`, with: prefix } }),
  };
}

const segment = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...LITERALS, '7', 'x') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'ADMIN',
      'A',
      'b.',
      'a;x=1',
      'a%2Fb',
      'Admin%2f7',
      '%41',
      '..',
      '%2e%2e',
      '',
      'a%20',
      'é',
      '*',
    ),
  },
);

const end = fc.constantFrom('', '', '', '/', '?page=1', '?page=x', '?page=1&page=2', '?other=1', '??"<>');

/** Generates a path and query that match a route of a manifest, unless another route is more specific. */
export const matchingUrl: fc.Arbitrary<(manifest: AnyManifest) => string> = fc
  .tuple(fc.nat(), fc.array(segment, { maxLength: 2 }), fc.constantFrom('7', 'x', 'a'), end)
  .map(([index, rest, text, end]) => ({ routes }) => {
    const path = String(routes[index % routes.length]?.['path']);
    return path.replaceAll(/\{\w+\}/g, text).replace(/\/\*\*$/, rest.map((part) => `/${part}`).join('')) + end;
  });

/** Generates a path and query. Many of them match a route of some manifest. */
export const anyUrl = fc
  .tuple(fc.array(segment, { maxLength: 4 }), end)
  .map(([segments, end]) => `/${segments.join('/')}${end}`);
