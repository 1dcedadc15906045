import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, chunked, head, keptHead, type RawAnswer, Wire } from '../support/raw.ts';
import { ANSWER_OK, type Site, startSite } from '../support/site.ts';

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
const ASKING = ['Access-Control-Request-Method: GET', 'Access-Control-Request-Headers: authorization'];

let site: Site;
/** Any origin, no credentials. */
let open: Site;
/** Without `cors`. */
let silent: Site;
let user: string;

beforeAll(async () => {
  [site, open, silent] = await Promise.all([
    startSite(ROUTES + CORS, { timeouts: '{ response: 200ms }' }),
    startSite(`${ROUTES}cors: { origins: ['*'], methods: [GET, PATCH], headers: [X-A], maxAge: 1h }\n`),
    startSite(ROUTES),
  ]);
  user = await site.issuer.token();
});
afterAll(() => Promise.all([site, open, silent].map((each) => each.close())));
beforeEach(() => {
  for (const each of [site, open, silent]) {
    each.respond = ANSWER_OK;
    each.upstream.requests.length = 0;
  }
});

/** The headers of the CORS protocol in an answer, and what it varies by. */
function said(answer: RawAnswer): Record<string, string[]> {
  const names = answer.headers.map(([name]) => name).filter((name) => /^(access-control-|vary$)/i.test(name));
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name.toLowerCase(), answer.values(name)]));
}

const TO_APP = {
  'access-control-allow-origin': [APP],
  'access-control-allow-credentials': ['true'],
  'access-control-expose-headers': ['WWW-Authenticate'],
  vary: ['Origin'],
};
const NOTHING = { vary: ['Origin'] };

const options = (path: string, ...headers: string[]) => ask(site.port, head(`OPTIONS ${path} HTTP/1.1`, ...headers));

describe('a preflight', () => {
  it('is answered before the token is asked for, and no upstream hears of it', async () => {
    const got = await options('/items', `Origin: ${APP}`, ...ASKING);
    expect([got.status, got.body.length, got.values('content-length')]).toEqual([204, 0, []]);
    expect(said(got)).toEqual({
      ...TO_APP,
      'access-control-allow-methods': ['GET, HEAD, POST'],
      'access-control-allow-headers': ['Authorization, Content-Type'],
      'access-control-max-age': ['600'],
    });
    expect(site.upstream.requests).toEqual([]);
    expect(site.gateway.lines.at(-1)).toMatchObject({ method: 'OPTIONS', path: '/items', status: 204 });
    expect(site.gateway.lines.at(-1)).not.toHaveProperty('decision');
  });

  it('on a kept connection is followed by the request itself', async () => {
    const wire = await Wire.open(site.port);
    wire.write(keptHead('OPTIONS /items HTTP/1.1', `Origin: ${APP}`, ...ASKING));
    expect((await wire.answer()).status).toBe(204);
    wire.write(keptHead('GET /items HTTP/1.1', `Origin: ${APP}`, `Authorization: Bearer ${user}`));
    expect((await wire.answer()).status).toBe(200);
    wire.end();
  });

  it.each([
    ['/items', 'DELETE', 'GET, HEAD, POST'],
    ['/items?x=1', '__proto__', 'GET, HEAD, POST'],
    ['/any/thing', 'PUT', 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'],
    ['/options', 'OPTIONS', 'OPTIONS'],
    ['/login', 'GET', 'POST'],
  ])('of %s for %s is told the methods of its routes', async (path, method, methods) => {
    const got = await options(path, `Origin: ${APP}`, `Access-Control-Request-Method: ${method}`);
    expect([got.status, got.value('access-control-allow-methods')]).toEqual([204, methods]);
    expect(site.upstream.requests).toEqual([]);
  });

  it('may be told methods, headers and an age of the manifest', async () => {
    const got = await ask(open.port, head('OPTIONS /items HTTP/1.1', `Origin: ${APP}`, ...ASKING));
    expect([got.status, said(got)]).toEqual([
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
  ])('of a path that no route knows goes on as any request: %s', async (path, status) => {
    const got = await options(path, `Origin: ${APP}`, ...ASKING);
    expect([got.status, said(got)]).toEqual([status, TO_APP]);
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
  ])('of the origin "%s" is told nothing', async (origin) => {
    const got = await options('/items', `Origin: ${origin}`, ...ASKING);
    expect([got.status, said(got)]).toEqual([204, NOTHING]);
    const answer = await site.get('/any/x', `Origin: ${origin}`);
    expect([answer.status, said(answer)]).toEqual([200, NOTHING]);
  });

  it('of two origins is told nothing', async () => {
    expect(said(await options('/items', `Origin: ${APP}`, `Origin: ${APP}`, ...ASKING))).toEqual(NOTHING);
  });
});

describe('OPTIONS that is no preflight goes by the routes', () => {
  it.each([
    ['without an origin', [...ASKING]],
    ['without a method that is asked for', [`Origin: ${APP}`]],
  ])('%s', async (_what, headers) => {
    expect((await options('/items', ...headers)).status).toBe(405);
    for (const path of ['/any/x', '/options']) expect((await options(path, ...headers)).status).toBe(200);
    expect(site.upstream.requests.map(({ method }) => method)).toEqual(['OPTIONS', 'OPTIONS']);
  });

  it('with a body', async () => {
    const headers = [`Origin: ${APP}`, ...ASKING];
    expect((await ask(site.port, `${head('OPTIONS /any/x HTTP/1.1', 'Content-Length: 2', ...headers)}{}`)).status).toBe(
      200,
    );
    const first = head('OPTIONS /any/x HTTP/1.1', 'Transfer-Encoding: chunked', ...headers);
    expect((await ask(site.port, first + chunked('{}'))).status).toBe(200);
    expect(site.upstream.requests.map(({ body }) => body.toString())).toEqual(['{}', '{}']);
  });

  it('is OPTIONS *, which asks about the server', async () => {
    const got = await options('*', `Origin: ${APP}`, ...ASKING);
    expect([got.status, got.values('access-control-allow-methods')]).toEqual([204, []]);
  });
});

describe('every refusal can be read by a page of an allowed origin', () => {
  const token = () => `Authorization: Bearer ${user}`;
  const REFUSED: [number, string, () => string][] = [
    [400, 'an ambiguous path', () => head('GET /any/../x HTTP/1.1', `Origin: ${APP}`)],
    [400, 'a message of two readings', () => head('GET /any/x HTTP/1.1', 'Host: b', `Origin: ${APP}`)],
    [401, 'no token', () => head('GET /items HTTP/1.1', `Origin: ${APP}`)],
    [401, 'a bad token', () => head('GET /items HTTP/1.1', `Origin: ${APP}`, 'Authorization: Bearer x')],
    [403, 'a role', () => head('GET /admin HTTP/1.1', `Origin: ${APP}`, token())],
    [404, 'no route', () => head('GET /nowhere HTTP/1.1', `Origin: ${APP}`)],
    [405, 'no method', () => head('PUT /items HTTP/1.1', `Origin: ${APP}`)],
    [
      413,
      'a long body',
      () =>
        head(
          'POST /items HTTP/1.1',
          `Origin: ${APP}`,
          token(),
          'Content-Type: application/json',
          'Content-Length: 9999',
        ),
    ],
    [415, 'a media type', () => head('POST /items HTTP/1.1', `Origin: ${APP}`, token(), 'Content-Length: 0')],
    [417, 'an expectation', () => head('GET /any/x HTTP/1.1', `Origin: ${APP}`, 'Expect: x')],
    [
      431,
      'many headers',
      () => head('GET /any/x HTTP/1.1', `Origin: ${APP}`, ...Array.from({ length: 200 }, (_, n) => `X-${n}: a`)),
    ],
    [
      401,
      'a handshake',
      () => head('GET /events HTTP/1.1', `Origin: ${APP}`, 'Upgrade: websocket').replace('close', 'Upgrade'),
    ],
  ];

  it.each(REFUSED)('%i for %s', async (status, what, bytes) => {
    const got = await ask(site.port, bytes());
    expect([got.status, said(got)]).toEqual([status, TO_APP]);
    const other = await ask(site.port, bytes().replace(APP, 'https://evil.example'));
    // A page of another origin may open no WebSocket either, with a token or without.
    expect([other.status, said(other)]).toEqual([what === 'a handshake' ? 403 : status, NOTHING]);
  });

  it('502, 504, and a login that is refused', async () => {
    site.respond = (request) => void request.socket.destroy();
    expect(await statusAndSaid(site.get('/any/x', `Origin: ${APP}`))).toEqual([502, TO_APP]);
    site.respond = () => undefined;
    expect(await statusAndSaid(site.get('/any/x', `Origin: ${APP}`))).toEqual([504, TO_APP]);
    const third = await site.issuer.token({ company_role: 'viewer' });
    site.respond = (_request, response) => {
      response.setHeader('Access-Control-Allow-Origin', 'https://evil.example');
      response.end(JSON.stringify({ access_token: third }));
    };
    expect(await statusAndSaid(site.post('/login', '', `Origin: ${APP}`))).toEqual([403, TO_APP]);
  });
});

async function statusAndSaid(answer: Promise<RawAnswer>): Promise<[number, Record<string, string[]>]> {
  const got = await answer;
  return [got.status, said(got)];
}

describe('an answer of the upstream', () => {
  const OWN: [string, string][] = [
    ['Access-Control-Allow-Origin', 'https://evil.example'],
    ['access-control-allow-origin', '*'],
    ['ACCESS-CONTROL-ALLOW-CREDENTIALS', 'true'],
    ['Access-Control-Expose-Headers', 'X-Secret'],
    ['Access-Control-Allow-Methods', 'TRACE'],
    ['Access-Control-Allow-Headers', '*'],
    ['Access-Control-Max-Age', '1'],
    ['Access-Control-Allow-Private-Network', 'true'],
  ];
  const answerWith = (headers: [string, string][], status = 200) => {
    for (const each of [site, open, silent])
      each.respond = (_request, response) => response.writeHead(status, headers.flat()).end();
  };

  it.each([200, 201, 204, 206, 304, 302, 404, 500])(
    'has what the gateway says in place of its own: %i',
    async (status) => {
      answerWith([...OWN, ['X-Other', 'Access-Control-Allow-Origin']], status);
      const got = await site.get('/any/x', `Origin: ${APP}`);
      expect([got.status, said(got)]).toEqual([status, TO_APP]);
      expect(got.value('x-other')).toBe('Access-Control-Allow-Origin');
      expect(said(await site.get('/any/x'))).toEqual(NOTHING);
      expect(said(await ask(open.port, head('GET /any/x HTTP/1.1')))).toEqual({ 'access-control-allow-origin': ['*'] });
    },
  );

  it('of a login that passes, too', async () => {
    const body = JSON.stringify({ access_token: user });
    site.respond = (_request, response) => response.writeHead(200, OWN.flat()).end(body);
    const got = await site.post('/login', '', `Origin: ${APP}`);
    expect([got.status, got.body.toString(), said(got)]).toEqual([200, body, TO_APP]);
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
  ])('that varies by %j then varies by %j', async (own, merged) => {
    answerWith(own.map((value) => ['Vary', value]));
    expect((await site.get('/any/x')).values('vary')).toEqual(merged);
    expect((await ask(open.port, head('GET /any/x HTTP/1.1'))).values('vary')).toEqual(own);
  });

  it('is let through untouched where the manifest has no "cors"', async () => {
    answerWith([...OWN, ['Vary', 'Accept']]);
    const got = await ask(silent.port, head('GET /any/x HTTP/1.1', `Origin: ${APP}`));
    for (const [name, value] of OWN) expect(got.values(name)).toContain(value);
    expect(got.values('vary')).toEqual(['Accept']);
  });
});

describe('without "cors" in the manifest', () => {
  it('OPTIONS goes by the routes, and refusals say nothing', async () => {
    const asked = async (path: string) => {
      const got = await ask(silent.port, head(`OPTIONS ${path} HTTP/1.1`, `Origin: ${APP}`, ...ASKING));
      return [got.status, said(got)];
    };
    expect(await asked('/items')).toEqual([405, {}]);
    expect(await asked('/any/x')).toEqual([200, {}]);
    expect(await asked('/nowhere')).toEqual([404, {}]);
    expect(silent.upstream.requests.map(({ url }) => url)).toEqual(['/any/x']);
  });
});
