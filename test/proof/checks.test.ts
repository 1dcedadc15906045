import { describe, expect, it, test } from 'vitest';
import { COMPARISONS } from '../../src/prove/diff/comparisons.ts';
import { directionOf } from '../../src/prove/proof/directions.ts';
import { BASE, manifestOf, prove, rulesOf } from './support.ts';

type Json = Record<string, unknown>;

const ISSUERS = {
  ...BASE,
  auth: {
    tokens: ['staff', 'partners'].map((name, index) => ({
      name,
      jwt: { jwks: `http://127.0.0.1:${index + 8}/`, algorithms: ['ES256'], issuer: name, audience: 'a' },
    })),
    role: BASE.auth.role,
  },
};
const twoMethods = (change: Json) => {
  const [staff, ...others] = ISSUERS.auth.tokens;
  return {
    ...ISSUERS,
    auth: { ...ISSUERS.auth, tokens: [{ ...staff, jwt: { ...staff?.jwt, ...change } }, ...others] },
  };
};
const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
const keys = (...ids: string[]) => jwt({ jwks: { keys: ids.map((kid) => ({ ...KEY, kid })) } });
const role = (change: Json) => ({ auth: { ...BASE.auth, role: { ...BASE.auth.role, ...change } } });
const forward = (headers: Json) => ({ auth: { ...BASE.auth, forward: headers } });
const cors = (change: Json = {}) => ({ cors: { origins: ['https://a.example'], ...change } });
const limits = (change: Json) => ({ rateLimits: { callers: { key: 'client', allow: '5 per 1m', ...change } } });
const LIMITS = { rateLimits: { callers: { key: 'client', allow: '5 per 1m' } } };
const jwt = (change: Json) => ({ auth: { ...BASE.auth, tokens: { jwt: { ...BASE.auth.tokens.jwt, ...change } } } });
const route = (change: Json = {}) => [{ id: 'r', path: '/a/{id}', ...change }];
const post = (body?: Json) => route({ method: 'POST', ...(body && { body }) });
const schemaOf = (properties: Json) => ({ schema: { type: 'object', properties } });
const limited = route({ rateLimits: ['callers'] });
const login = (change: Json = {}) => route({ access: 'public', method: 'POST', login: { token: '/token', ...change } });

/** A strict manifest, a loose one, and the rule that the change from the first to the second breaks. */
const CASES: Readonly<Record<string, readonly [strict: Json, loose: Json, rule: string]>> = {
  'a new route': [manifestOf(route()), manifestOf([...route(), { id: 's', path: '/b' }]), 'new-access'],
  'a new public route': [
    manifestOf(route()),
    manifestOf([...route(), { id: 's', path: '/b', access: 'public' }]),
    'new-access',
  ],
  'a route with a response': [
    manifestOf(route()),
    manifestOf([...route(), { id: 's', path: '/b', access: 'public', respond: { status: 204 } }]),
    'new-access',
  ],
  'a new method': [manifestOf(route()), manifestOf(route({ method: ['GET', 'PUT'] })), 'new-access'],
  'a wider path': [manifestOf(route()), manifestOf(route({ path: '/a/**' })), 'new-access'],
  'a removed route in front of a wider one': [
    manifestOf([...route(), { id: 'me', path: '/a/me', roles: ['admin'] }]),
    manifestOf(route()),
    'role-widened',
  ],
  access: [manifestOf(route()), manifestOf(route({ access: 'public' })), 'route-public'],
  'roles of a route': [manifestOf(route({ roles: ['admin'] })), manifestOf(route()), 'role-widened'],
  'roles of all routes': [
    manifestOf(route(), { auth: { ...BASE.auth, role: { ...BASE.auth.role, allow: ['admin'] } } }),
    manifestOf(route()),
    'role-widened',
  ],
  'any role': [manifestOf(route()), manifestOf(route({ roles: 'any' })), 'role-widened'],
  issuers: [
    manifestOf(route(), ISSUERS),
    manifestOf(route({ issuers: ['staff', 'partners'] }), ISSUERS),
    'issuer-accepted',
  ],
  'the audience of tokens': [manifestOf(route()), manifestOf(route(), jwt({ audience: ['a', 'b'] })), 'token-audience'],
  'the algorithms of tokens': [
    manifestOf(route()),
    manifestOf(route(), jwt({ algorithms: ['ES256', 'RS256'] })),
    'token-algorithms',
  ],
  'the keys of tokens': [
    manifestOf(route()),
    manifestOf(route(), jwt({ jwks: 'http://127.0.0.1:8/' })),
    '(token-keys)',
  ],
  'a listed key of tokens': [manifestOf(route(), keys('1')), manifestOf(route(), keys('1', '2')), '(token-keys)'],
  'the issuer of tokens': [manifestOf(route()), manifestOf(route(), jwt({ issuer: 'j' })), 'token-issuer'],
  'the type of tokens': [manifestOf(route(), jwt({ type: 'at+jwt' })), manifestOf(route()), 'token-type'],
  'the claims of tokens': [manifestOf(route(), jwt({ requiredClaims: ['jti'] })), manifestOf(route()), 'token-claims'],
  'the audience of one of two methods': [
    manifestOf(route(), ISSUERS),
    manifestOf(route(), twoMethods({ audience: ['a', 'b'] })),
    'token-audience',
  ],
  'the claim of roles': [manifestOf(route()), manifestOf(route(), role({ claim: '/kind' })), 'role-claim'],
  'the format of roles': [manifestOf(route()), manifestOf(route(), role({ format: 'words' })), 'role-claim'],
  'the clock of tokens': [manifestOf(route()), manifestOf(route(), jwt({ clockTolerance: '30s' })), 'token-trust'],
  'a removed rate limit': [manifestOf(limited, LIMITS), manifestOf(route(), LIMITS), 'rate-limit-removed'],
  'a higher rate': [
    manifestOf(limited, LIMITS),
    manifestOf(limited, { rateLimits: { callers: { key: 'client', allow: '6 per 1m' } } }),
    'rate-limit-loosened',
  ],
  'a faster rate': [
    manifestOf(limited, LIMITS),
    manifestOf(limited, { rateLimits: { callers: { key: 'client', allow: '5 per 30s' } } }),
    'rate-limit-loosened',
  ],
  'a rate limit that reports': [
    manifestOf(limited, LIMITS),
    manifestOf(limited, { rateLimits: { callers: { key: 'client', allow: '5 per 1m', mode: 'report' } } }),
    'rate-limit-reported',
  ],
  'another key of a rate limit': [
    manifestOf(limited, LIMITS),
    manifestOf(limited, limits({ key: 'subject' })),
    'rate-limit-key',
  ],
  'one more part of a key': [
    manifestOf(limited, LIMITS),
    manifestOf(limited, limits({ key: ['client', { header: 'X-A' }], missing: 'refuse' })),
    'rate-limit-key',
  ],
  'a key that reads letter case': [
    manifestOf(limited, limits({ key: { header: 'X-A', fold: 'case' }, missing: 'refuse' })),
    manifestOf(limited, limits({ key: { header: 'X-A' }, missing: 'refuse' })),
    'rate-limit-key',
  ],
  'longer prefixes of clients': [
    manifestOf(limited, limits({ key: { client: { ipv6Prefix: 48 } } })),
    manifestOf(limited, LIMITS),
    'rate-limit-key',
  ],
  'a key with the route': [
    manifestOf([...limited, { id: 's', path: '/b', rateLimits: ['callers'] }], LIMITS),
    manifestOf([...limited, { id: 's', path: '/b', rateLimits: ['callers'] }], limits({ key: ['client', 'route'] })),
    'rate-limit-key',
  ],
  'requests without a key': [
    manifestOf(limited, limits({ key: { header: 'X-A' }, missing: 'refuse' })),
    manifestOf(limited, limits({ key: { header: 'X-A' }, missing: 'skip' })),
    'rate-limit-loosened',
  ],
  'fewer counted requests': [
    manifestOf(limited, LIMITS),
    manifestOf(limited, limits({ count: 'failures' })),
    'rate-limit-loosened',
  ],
  'a body schema': [
    manifestOf(post(schemaOf({ n: { maximum: 5 } }))),
    manifestOf(post(schemaOf({ n: { maximum: 6 } }))),
    'body-loosened',
  ],
  'a removed body schema': [
    manifestOf(post(schemaOf({ n: { type: 'integer' } }))),
    manifestOf(post({ maxBytes: '1MB' })),
    'body-loosened',
  ],
  'media types': [
    manifestOf(post({ types: ['text/plain'] })),
    manifestOf(post({ types: ['text/plain', 'text/csv'] })),
    'media-types-widened',
  ],
  'the size of bodies': [manifestOf(post({ maxBytes: '10B' })), manifestOf(post({ maxBytes: '20B' })), 'limit-raised'],
  'the size of large bodies': [
    manifestOf(post({ maxBytes: '2MB', schema: { type: 'object', required: ['n'] } })),
    manifestOf(post({ maxBytes: '4MB', schema: { type: 'object', required: ['n'] } })),
    'limit-raised',
  ],
  parameters: [
    manifestOf(route({ params: { properties: { id: { type: 'integer' } } } })),
    manifestOf(route()),
    'parameters-loosened',
  ],
  'a literal in place of a parameter': [
    manifestOf(route({ params: { properties: { id: { type: 'integer' } } } })),
    manifestOf([...route({ params: { properties: { id: { type: 'integer' } } } }), { id: 'me', path: '/a/me' }]),
    'parameters-loosened',
  ],
  validation: [
    manifestOf(post(schemaOf({ n: { type: 'integer' } }))),
    manifestOf(post(schemaOf({ n: { type: 'integer' } })).map((one) => ({ ...one, validation: 'report' }))),
    'validation-reported',
  ],
  WebSockets: [manifestOf(route()), manifestOf(route({ websocket: true })), 'websocket-opened'],
  'WebSocket origins': [
    manifestOf(route({ websocket: { origins: ['https://a.example'] } })),
    manifestOf(route({ websocket: { origins: ['https://a.example', 'https://b.example'] } })),
    'websocket-origins-widened',
  ],
  'CORS origins': [
    manifestOf(route(), { cors: { origins: ['https://a.example'] } }),
    manifestOf(route(), { cors: { origins: ['https://a.example', 'https://b.example'] } }),
    'cors-widened',
  ],
  'any origin': [manifestOf(route(), cors()), manifestOf(route(), cors({ origins: ['*'] })), 'cors-widened'],
  'a section for CORS': [manifestOf(route()), manifestOf(route(), cors()), 'cors-widened'],
  'credentials of other origins': [
    manifestOf(route(), cors()),
    manifestOf(route(), cors({ credentials: true })),
    'cors-widened',
  ],
  'methods of other origins': [
    manifestOf(route(), cors({ methods: ['GET'] })),
    manifestOf(route(), cors({ methods: ['GET', 'PUT'] })),
    'cors-widened',
  ],
  'headers of other origins': [
    manifestOf(route(), cors({ headers: ['A'] })),
    manifestOf(route(), cors({ headers: ['A', 'B'] })),
    'cors-widened',
  ],
  'headers for other origins': [
    manifestOf(route(), cors()),
    manifestOf(route(), cors({ exposedHeaders: ['A'] })),
    'cors-widened',
  ],
  'the time of preflights': [
    manifestOf(route(), cors({ maxAge: '1m' })),
    manifestOf(route(), cors({ maxAge: '2m' })),
    'cors-widened',
  ],
  'preflights that reach an upstream': [
    manifestOf(route({ method: 'any' }), { cors: { origins: ['https://a.example'] } }),
    manifestOf(route({ method: 'any' })),
    'preflight-forwarded',
  ],
  'the login gate': [manifestOf(login()), manifestOf(route({ access: 'public', method: 'POST' })), 'login-removed'],
  'the size of login responses': [
    manifestOf(login({ maxBytes: '2KB' })),
    manifestOf(login({ maxBytes: '3KB' })),
    'limit-raised',
  ],
  'the issuer of a login': [
    manifestOf(login({ issuer: 'staff' }), ISSUERS),
    manifestOf(login({ issuer: 'partners' }), ISSUERS),
    'login-issuer',
  ],
  'the roles of a login': [
    manifestOf(login().map((one) => ({ ...one, roles: ['admin'] }))),
    manifestOf(login()),
    'role-widened',
  ],
  'encoded slashes': [manifestOf(route()), manifestOf(route({ encodedSlash: 'keep' })), 'encoded-slash-kept'],
  upstream: [manifestOf(route()), manifestOf(route({ upstream: 'other' })), 'upstream-changed'],
  'the Host': [
    manifestOf(route()),
    manifestOf(route(), { upstreams: { ...BASE.upstreams, up: { url: 'http://127.0.0.1:1', host: 'upstream' } } }),
    'upstream-host-header',
  ],
  'the address of an upstream': [
    manifestOf(route()),
    manifestOf(route(), { upstreams: { ...BASE.upstreams, up: { url: 'http://127.0.0.1:3' } } }),
    'upstream-host',
  ],
  'the path of the upstream': [
    manifestOf(route()),
    manifestOf(route({ upstreamPath: { replace: '/a', with: '/b' } })),
    'upstream-path-changed',
  ],
  'headers that clients may forge': [
    manifestOf(route()),
    manifestOf(route({ requestHeaders: { keep: ['X-Real-IP'] } })),
    'header-override-kept',
  ],
  'a header from a claim': [
    manifestOf(route(), forward({ 'X-User': '/sub' })),
    manifestOf(route()),
    'claim-header-removed',
  ],
  'another claim for a header': [
    manifestOf(route(), forward({ 'X-User': '/sub' })),
    manifestOf(route(), forward({ 'X-User': '/email' })),
    'claim-header-changed',
  ],
  'a header from a claim that may be missing': [
    manifestOf(route({ forward: { 'X-User': '/sub' } })),
    manifestOf(route({ forward: { 'X-User': { claim: '/sub', missing: 'omit' } } })),
    'claim-header-changed',
  ],
  'more of the trusted proxies': [
    manifestOf(route(), { server: { trustedProxies: ['10.0.0.0/9', 'fd00::/8'] } }),
    manifestOf(route(), { server: { trustedProxies: ['10.0.0.0/8', 'fd00::/8'] } }),
    'trusted-proxies-widened',
  ],
  'trusted proxies': [
    manifestOf(route()),
    manifestOf(route(), { server: { trustedProxies: ['10.0.0.0/8'] } }),
    'trusted-proxies-widened',
  ],
  listeners: [
    manifestOf(route(), { listen: '127.0.0.1:8080' }),
    manifestOf(route(), { listen: '0.0.0.0:8080' }),
    'listen-opened',
  ],
  invariants: [
    manifestOf(route(), { invariants: [{ id: 'i', when: { path: '/a/**' }, require: { access: 'protected' } }] }),
    manifestOf(route()),
    'invariant-removed',
  ],
  'a refused spelling of a shorter path': [
    manifestOf([
      { id: 'two', method: ['GET', 'POST'], path: '/{a}/{b}', access: 'public' },
      { id: 'one', method: 'POST', path: '/{a}' },
    ]),
    manifestOf([{ id: 'two', method: ['GET', 'POST'], path: '/{a}/{b}', access: 'public' }]),
    'new-access',
  ],
  'a refused spelling': [
    manifestOf([
      { id: 'any', path: '/{id}', access: 'public' },
      { id: 'admin', path: '/admin' },
    ]),
    manifestOf([
      { id: 'any', path: '/{id}' },
      { id: 'admin', path: '/admin' },
    ]),
    'new-access',
  ],
};

/** Changes in both directions: the loose manifest opens something else. */
const CROSSED = new Set([
  'upstream',
  'the Host',
  'the address of an upstream',
  'the path of the upstream',
  'the keys of tokens',
  'the issuer of tokens',
  'the claim of roles',
  'the format of roles',
  'another key of a rate limit',
  'a key that reads letter case',
  'longer prefixes of clients',
  'the issuer of a login',
  'another claim for a header',
  'a header from a claim that may be missing',
  'a refused spelling',
  'a refused spelling of a shorter path',
  'preflights that reach an upstream',
]);

describe('no new access', () => {
  test.each(Object.entries(CASES))('is broken by %s', async (_name, [strict, loose, rule]) => {
    const proof = await prove(strict, loose);
    expect(proof.holds).toBe(false);
    expect(rulesOf(proof)).toContain(rule);
    expect((await prove(strict, strict)).holds).toBe(true);
  });

  test.each(Object.entries(CASES).filter(([name]) => !CROSSED.has(name)))(
    'holds after less of %s',
    async (_name, [strict, loose]) => {
      const proof = await prove(loose, strict);
      expect(proof.differences).toEqual([]);
    },
  );

  test.each(Object.entries(CASES))('is not confused with equivalence by %s', async (_name, [strict, loose]) => {
    expect((await prove(strict, loose, 'equivalent')).holds).toBe(false);
    expect((await prove(loose, loose, 'equivalent')).holds).toBe(true);
  });

  it('shows the shortest request, with its outcomes and both places', async () => {
    const { differences } = await prove(manifestOf(route()), manifestOf(route({ access: 'public' })));
    expect(differences).toMatchObject([
      {
        rule: 'route-public',
        message:
          'the route "r" is public: it no longer requires a token: refused with 401 token_missing before, and now forwarded to "up" with 200',
        witness: { request: { method: 'GET', url: '/a/x' } },
        file: 'new.yaml',
        counterpart: { file: 'old.yaml' },
      },
    ]);
  });
});

it('a redirect in place of an upstream opens nothing', async () => {
  const old = manifestOf(route({ upstreamPath: { replace: '/a', with: '/b' } }));
  const next = manifestOf(route({ redirect: { to: '/b/{id}' } }));
  expect((await prove(old, next)).holds).toBe(true);
});

it('endpoints in another order are the same servers', async () => {
  const upstreams = (...urls: string[]) => ({ upstreams: { ...BASE.upstreams, up: { urls } } });
  const old = manifestOf(post({ maxBytes: '20B' }), upstreams('http://127.0.0.1:1', 'http://127.0.0.1:2'));
  const next = manifestOf(post({ maxBytes: '10B' }), upstreams('http://127.0.0.1:2', 'http://127.0.0.1:1'));
  expect((await prove(old, next)).holds).toBe(true);
  expect(rulesOf(await prove(old, next, 'equivalent'))).toEqual(['limit-lowered']);
});

it('a change of a rate limit is shown once for all routes', async () => {
  const routes = ['a', 'b', 'c'].map((id) => ({ id, path: `/${id}`, rateLimits: ['callers'] }));
  const { differences } = await prove(manifestOf(routes, LIMITS), manifestOf(routes, limits({ allow: '6 per 1m' })));
  expect(differences.map(({ rule }) => rule)).toEqual(['rate-limit-loosened']);
  const removed = await prove(
    manifestOf(routes, LIMITS),
    manifestOf(
      routes.map(({ id, path }) => ({ id, path })),
      LIMITS,
    ),
  );
  expect(removed.differences.map(({ message }) => message)).toEqual([
    'the route "a" no longer has the rate limit "callers", like 2 more: sent 6 times, refused with 429 rate_limit_exceeded before, and now forwarded to "up" with 200',
  ]);
});

it('an upstream without requests may change', async () => {
  const next = manifestOf(route(), { upstreams: { ...BASE.upstreams, other: { url: 'http://127.0.0.1:3' } } });
  expect((await prove(manifestOf(route()), next)).differences).toEqual([]);
});

it('every kind of differences with a direction exists', () => {
  const kinds = new Set(COMPARISONS.flatMap(({ rules }) => Object.keys(rules)));
  const directed = [...kinds].filter((rule) => directionOf(rule) !== 'looser');
  expect(directed.length).toBeGreaterThan(50);
  expect(['role-widened', 'body-loosened', 'other-changed'].map(directionOf)).toEqual(['looser', 'looser', 'looser']);
});
