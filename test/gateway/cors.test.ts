import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chunked, head, keepAliveHead, type RawResponse, sendRequest, Wire } from '../support/raw.ts';
import { RESPOND_OK, type Site, startSite } from '../support/site.ts';

const APP = 'https://app.example';
const ROUTES = `  - { id: list, method: GET, path: /items, upstream: up, access: protected }
  - { id: add, method: POST, path: /items, upstream: up, access: protected, body: { schema: { type: object }, maxBytes: 1KB } }
  - { id: admin, method: GET, path: /admin, upstream: up, access: protected, roles: [admin] }
  - { id: any, method: any, path: /any/**, upstream: up, access: public }
  - { id: options, method: OPTIONS, path: /options, upstream: up, access: public }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /access_token } }
  - { id: events, method: GET, path: /events, upstream: up, access: protected, websocket: true }
`;
const CORS = `cors: { origins: [${APP}, 'http://localhost:5173'], credentials: true, exposedHeaders: [WWW-Authenticate] }
`;
const PREFLIGHT = ['Access-Control-Request-Method: GET', 'Access-Control-Request-Headers: authorization'];

let site: Site;
/** A site that allows any origin without credentials. */
let open: Site;
/** A site without `cors`. */
let silent: Site;
let user: string;

beforeAll(async () => {
  [site, open, silent] = await Promise.all([
    startSite(ROUTES + CORS, { timeouts: '{ response: 1s }' }),
    startSite(`${ROUTES}cors: { origins: ['*'], methods: [GET, PATCH], headers: [X-A], maxAge: 1h }\n`),
    startSite(ROUTES),
  ]);
  user = await site.issuer.token();
});
afterAll(() => Promise.all([site, open, silent].map((each) => each.close())));
beforeEach(() => {
  for (const each of [site, open, silent]) {
    each.respond = RESPOND_OK;
    each.upstream.requests.length = 0;
  }
});

/** Returns the CORS headers and the `Vary` headers of a response. */
function corsHeadersOf(response: RawResponse): Record<string, string[]> {
  const names = response.headers.map(([name]) => name).filter((name) => /^(access-control-|vary$)/i.test(name));
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name.toLowerCase(), response.values(name)]));
}

const TO_APP = {
  'access-control-allow-origin': [APP],
  'access-control-allow-credentials': ['true'],
  'access-control-expose-headers': ['WWW-Authenticate'],
  vary: ['Origin'],
};
const NO_CORS = { vary: ['Origin'] };

const options = (path: string, ...headers: string[]) =>
  sendRequest(site.port, head(`OPTIONS ${path} HTTP/1.1`, ...headers));

describe('a preflight', () => {
  it('gets its response without a token and without the upstream', async () => {
    const got = await options('/items', `Origin: ${APP}`, ...PREFLIGHT);
    expect([got.status, got.body.length, got.values('content-length')]).toEqual([204, 0, []]);
    expect(corsHeadersOf(got)).toEqual({
      ...TO_APP,
      'access-control-allow-methods': ['GET, HEAD, POST'],
      'access-control-allow-headers': ['Authorization, Content-Type'],
      'access-control-max-age': ['600'],
    });
    expect(site.upstream.requests).toEqual([]);
    expect(site.gateway.lines.at(-1)).toMatchObject({ method: 'OPTIONS', path: '/items', status: 204 });
    expect(site.gateway.lines.at(-1)).not.toHaveProperty('decision');
  });

  it('may be followed by its request on the same connection', async () => {
    const wire = await Wire.open(site.port);
    wire.write(keepAliveHead('OPTIONS /items HTTP/1.1', `Origin: ${APP}`, ...PREFLIGHT));
    expect((await wire.response()).status).toBe(204);
    wire.write(keepAliveHead('GET /items HTTP/1.1', `Origin: ${APP}`, `Authorization: Bearer ${user}`));
    expect((await wire.response()).status).toBe(200);
    wire.end();
  });

  it.each([
    ['/items', 'DELETE', 'GET, HEAD, POST'],
    ['/items?x=1', '__proto__', 'GET, HEAD, POST'],
    ['/any/thing', 'PUT', 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'],
    ['/options', 'OPTIONS', 'OPTIONS'],
    ['/login', 'GET', 'POST'],
  ])('of %s for %s gets the methods of its routes', async (path, method, methods) => {
    const got = await options(path, `Origin: ${APP}`, `Access-Control-Request-Method: ${method}`);
    expect([got.status, got.value('access-control-allow-methods')]).toEqual([204, methods]);
    expect(site.upstream.requests).toEqual([]);
  });

  it('gets the methods, headers and age that the manifest configures', async () => {
    const got = await sendRequest(open.port, head('OPTIONS /items HTTP/1.1', `Origin: ${APP}`, ...PREFLIGHT));
    expect([got.status, corsHeadersOf(got)]).toEqual([
      204,
      {
        'access-control-allow-origin': ['*'],
        'access-control-allow-methods': ['GET, PATCH'],
        'access-control-allow-headers': ['X-A'],
        'access-control-max-age': ['3600'],
      },
    ]);
  });

  it.each([
    ['/nowhere', 404],
    ['/any/../items', 400],
    ['/any/%2e%2e/items', 400],
    ['/Items', 404],
  ])('of a path without a route is handled like any request: %s', async (path, status) => {
    const got = await options(path, `Origin: ${APP}`, ...PREFLIGHT);
    expect([got.status, corsHeadersOf(got)]).toEqual([status, TO_APP]);
  });

  it.each([
    ['https://evil.example'],
    ['https://app.example.evil.example'],
    ['https://evil-app.example'],
    ['https://app.example:444'],
    ['https://APP.example'],
    ['http://app.example'],
    ['https://app.example/'],
    ['null'],
    ['*'],
    [''],
    [`${APP}, ${APP}`],
    ['constructor'],
  ])('of the origin "%s" gets no CORS headers', async (origin) => {
    const got = await options('/items', `Origin: ${origin}`, ...PREFLIGHT);
    expect([got.status, corsHeadersOf(got)]).toEqual([204, NO_CORS]);
    const response = await site.get('/any/x', `Origin: ${origin}`);
    expect([response.status, corsHeadersOf(response)]).toEqual([200, NO_CORS]);
  });

  it('with two Origin headers gets no CORS headers', async () => {
    expect(corsHeadersOf(await options('/items', `Origin: ${APP}`, `Origin: ${APP}`, ...PREFLIGHT))).toEqual(NO_CORS);
  });
});

describe('OPTIONS that is not a preflight reaches its route', () => {
  it.each([
    ['without an origin', [...PREFLIGHT]],
    ['without a requested method', [`Origin: ${APP}`]],
  ])('%s', async (_title, headers) => {
    expect((await options('/items', ...headers)).status).toBe(405);
    for (const path of ['/any/x', '/options']) expect((await options(path, ...headers)).status).toBe(200);
    expect(site.upstream.requests.map(({ method }) => method)).toEqual(['OPTIONS', 'OPTIONS']);
  });

  it('with a body', async () => {
    const headers = [`Origin: ${APP}`, ...PREFLIGHT];
    expect(
      (await sendRequest(site.port, `${head('OPTIONS /any/x HTTP/1.1', 'Content-Length: 2', ...headers)}{}`)).status,
    ).toBe(200);
    const first = head('OPTIONS /any/x HTTP/1.1', 'Transfer-Encoding: chunked', ...headers);
    expect((await sendRequest(site.port, first + chunked('{}'))).status).toBe(200);
    expect(site.upstream.requests.map(({ body }) => body.toString())).toEqual(['{}', '{}']);
  });

  it('except OPTIONS *, to which the gateway responds', async () => {
    const got = await options('*', `Origin: ${APP}`, ...PREFLIGHT);
    expect([got.status, got.values('access-control-allow-methods')]).toEqual([204, []]);
  });
});

describe('a page of an allowed origin can read every refusal', () => {
  const token = () => `Authorization: Bearer ${user}`;
  const REFUSED: [number, string, () => string][] = [
    [400, 'an ambiguous path', () => head('GET /any/../x HTTP/1.1', `Origin: ${APP}`)],
    [400, 'an ambiguous message', () => head('GET /any/x HTTP/1.1', 'Host: b', `Origin: ${APP}`)],
    [401, 'no token', () => head('GET /items HTTP/1.1', `Origin: ${APP}`)],
    [401, 'an invalid token', () => head('GET /items HTTP/1.1', `Origin: ${APP}`, 'Authorization: Bearer x')],
    [403, 'a role that is not allowed', () => head('GET /admin HTTP/1.1', `Origin: ${APP}`, token())],
    [404, 'an unknown path', () => head('GET /nowhere HTTP/1.1', `Origin: ${APP}`)],
    [405, 'a method without a route', () => head('PUT /items HTTP/1.1', `Origin: ${APP}`)],
    [
      413,
      'a body over the limit',
      () =>
        head(
          'POST /items HTTP/1.1',
          `Origin: ${APP}`,
          token(),
          'Content-Type: application/json',
          'Content-Length: 9999',
        ),
    ],
    [
      415,
      'an unsupported media type',
      () => head('POST /items HTTP/1.1', `Origin: ${APP}`, token(), 'Content-Length: 0'),
    ],
    [417, 'an unknown expectation', () => head('GET /any/x HTTP/1.1', `Origin: ${APP}`, 'Expect: x')],
    [
      431,
      'too many headers',
      () => head('GET /any/x HTTP/1.1', `Origin: ${APP}`, ...Array.from({ length: 200 }, (_, n) => `X-${n}: a`)),
    ],
    [
      401,
      'a WebSocket handshake',
      () =>
        head(
          'GET /events HTTP/1.1',
          `Origin: ${APP}`,
          'Upgrade: websocket',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Sec-WebSocket-Version: 13',
        ).replace('close', 'Upgrade'),
    ],
  ];

  it.each(REFUSED)('%i for %s', async (status, title, bytes) => {
    const got = await sendRequest(site.port, bytes());
    expect([got.status, corsHeadersOf(got)]).toEqual([status, TO_APP]);
    const other = await sendRequest(site.port, bytes().replace(APP, 'https://evil.example'));
    // A page of another origin may not open a WebSocket, with or without a token.
    expect([other.status, corsHeadersOf(other)]).toEqual([title === 'a WebSocket handshake' ? 403 : status, NO_CORS]);
  });

  it('502, 504, and 403 for a login', async () => {
    site.respond = (request) => void request.socket.destroy();
    expect(await statusAndCorsOf(site.get('/any/x', `Origin: ${APP}`))).toEqual([502, TO_APP]);
    site.respond = () => undefined;
    expect(await statusAndCorsOf(site.get('/any/x', `Origin: ${APP}`))).toEqual([504, TO_APP]);
    const viewer = await site.issuer.token({ company_role: 'viewer' });
    site.respond = (_request, response) => {
      response.setHeader('Access-Control-Allow-Origin', 'https://evil.example');
      response.end(JSON.stringify({ access_token: viewer }));
    };
    expect(await statusAndCorsOf(site.post('/login', '', `Origin: ${APP}`))).toEqual([403, TO_APP]);
  });
});

async function statusAndCorsOf(response: Promise<RawResponse>): Promise<[number, Record<string, string[]>]> {
  const got = await response;
  return [got.status, corsHeadersOf(got)];
}

describe('a response of the upstream', () => {
  const UPSTREAM_HEADERS: [string, string][] = [
    ['Access-Control-Allow-Origin', 'https://evil.example'],
    ['access-control-allow-origin', '*'],
    ['ACCESS-CONTROL-ALLOW-CREDENTIALS', 'true'],
    ['Access-Control-Expose-Headers', 'X-Secret'],
    ['Access-Control-Allow-Methods', 'TRACE'],
    ['Access-Control-Allow-Headers', '*'],
    ['Access-Control-Max-Age', '1'],
    ['Access-Control-Allow-Private-Network', 'true'],
  ];
  const respondWith = (headers: [string, string][], status = 200) => {
    for (const each of [site, open, silent])
      each.respond = (_request, response) => response.writeHead(status, headers.flat()).end();
  };

  it.each([200, 201, 204, 206, 304, 302, 404, 500])(
    'gets the CORS headers of the gateway instead of its own: %i',
    async (status) => {
      respondWith([...UPSTREAM_HEADERS, ['X-Other', 'Access-Control-Allow-Origin']], status);
      const got = await site.get('/any/x', `Origin: ${APP}`);
      expect([got.status, corsHeadersOf(got)]).toEqual([status, TO_APP]);
      expect(got.value('x-other')).toBe('Access-Control-Allow-Origin');
      expect(corsHeadersOf(await site.get('/any/x'))).toEqual(NO_CORS);
      expect(corsHeadersOf(await sendRequest(open.port, head('GET /any/x HTTP/1.1')))).toEqual({
        'access-control-allow-origin': ['*'],
      });
    },
  );

  it('to a successful login gets the CORS headers of the gateway', async () => {
    const body = JSON.stringify({ access_token: user });
    site.respond = (_request, response) => response.writeHead(200, UPSTREAM_HEADERS.flat()).end(body);
    const got = await site.post('/login', '', `Origin: ${APP}`);
    expect([got.status, got.body.toString(), corsHeadersOf(got)]).toEqual([200, body, TO_APP]);
  });

  it.each<[string[], string[]]>([
    [[], ['Origin']],
    [['Accept-Encoding'], ['Accept-Encoding, Origin']],
    [
      ['Accept', 'Accept-Language'],
      ['Accept, Origin', 'Accept-Language'],
    ],
    [
      ['Accept', 'origin'],
      ['Accept', 'origin'],
    ],
    [['Accept,ORIGIN'], ['Accept,ORIGIN']],
    [['Accept , Origin , X'], ['Accept , Origin , X']],
    [['*'], ['*']],
    [['X-Origin'], ['X-Origin, Origin']],
    [['Origin-X, X'], ['Origin-X, X, Origin']],
    [[''], ['Origin']],
  ])('with the Vary headers %j leaves with %j', async (upstreamValues, merged) => {
    respondWith(upstreamValues.map((value) => ['Vary', value]));
    expect((await site.get('/any/x')).values('vary')).toEqual(merged);
    expect((await sendRequest(open.port, head('GET /any/x HTTP/1.1'))).values('vary')).toEqual(upstreamValues);
  });

  it('stays unchanged if the manifest has no "cors"', async () => {
    respondWith([...UPSTREAM_HEADERS, ['Vary', 'Accept']]);
    const got = await sendRequest(silent.port, head('GET /any/x HTTP/1.1', `Origin: ${APP}`));
    for (const [name, value] of UPSTREAM_HEADERS) expect(got.values(name)).toContain(value);
    expect(got.values('vary')).toEqual(['Accept']);
  });
});

describe('a manifest without "cors"', () => {
  it('handles OPTIONS by the routes and adds no CORS headers to refusals', async () => {
    const preflight = async (path: string) => {
      const got = await sendRequest(silent.port, head(`OPTIONS ${path} HTTP/1.1`, `Origin: ${APP}`, ...PREFLIGHT));
      return [got.status, corsHeadersOf(got)];
    };
    expect(await preflight('/items')).toEqual([405, {}]);
    expect(await preflight('/any/x')).toEqual([200, {}]);
    expect(await preflight('/nowhere')).toEqual([404, {}]);
    expect(silent.upstream.requests.map(({ url }) => url)).toEqual(['/any/x']);
  });
});
