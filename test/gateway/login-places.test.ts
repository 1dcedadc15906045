import type { OutgoingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Forked, forkGateway } from '../support/forked.ts';
import { manifest } from '../support/gateway.ts';
import { ask, head, type RawAnswer } from '../support/raw.ts';
import { ANSWER_OK, type Site, startSite } from '../support/site.ts';

const MB = 1024 * 1024;
const login = (id: string, rule: string, more = 'access: public') =>
  `  - { id: ${id}, method: any, path: /${id}, upstream: up, ${more}, login: ${rule} }\n`;
const ROUTES = [
  login('place', '{ token: /data/access_token }'),
  login('places', '{ token: [/data/access_token, /access_token] }'),
  login('header', '{ header: X-Auth-Token }'),
  login('both', '{ token: /access_token, header: X-Auth-Token }'),
  login('anywhere', '{}'),
  login('admins', '{ token: /access_token }', 'access: public, roles: [admin]'),
  login('renew', '{ token: /access_token }', 'access: protected'),
  '  - { id: private, method: GET, path: /private, upstream: up, access: protected }\n',
].join('');

let site: Site;
let admin: string;
let user: string;
let third: string;

beforeAll(async () => {
  site = await startSite(ROUTES);
  admin = await site.issuer.token({ company_role: 'admin' });
  user = await site.issuer.token({ company_role: 'user' });
  third = await site.issuer.token({ company_role: 'viewer' });
});

afterAll(() => site.close());

beforeEach(() => {
  site.respond = ANSWER_OK;
  site.upstream.requests.length = 0;
});

interface Given {
  readonly body?: unknown;
  readonly headers?: OutgoingHttpHeaders;
  readonly status?: number;
  readonly method?: string;
  readonly with?: readonly string[];
}

/** What comes of an answer of the login service; a body that is no string goes as JSON. */
async function answered(path: string, { body = '', headers = {}, status = 200, method = 'POST', ...given }: Given) {
  site.respond = (_request, response) => {
    response.writeHead(status, { 'Set-Cookie': 'a=SENTINEL', ...headers });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
  return ask(site.port, head(`${method} ${path} HTTP/1.1`, ...(given.with ?? [])));
}

function expectOut(got: RawAnswer, status = 200): void {
  expect([got.status, got.value('set-cookie')]).toEqual([status, 'a=SENTINEL']);
}

/** The refusal stands in the place of the whole answer: nothing of the upstream's is left. */
function expectRefused(got: RawAnswer, status: number, code: string): void {
  expect([got.status, got.json().code]).toEqual([status, code]);
  const all = [got.line, ...got.headers.flat(), got.body.toString('latin1')].join('\n');
  for (const secret of [admin, user, third, 'SENTINEL']) expect(all).not.toContain(secret);
}

const reason = () => site.gateway.lines.at(-1)?.['reason'];

describe('a token with several places', () => {
  it.each([
    ['the first', () => ({ data: { access_token: user } })],
    ['the second', () => ({ access_token: user })],
    ['both', () => ({ access_token: user, data: { access_token: admin } })],
    ['none of them', () => ({ mfa: { challenge: 'abc' } })],
  ])('is let out from %s', async (_what, body) => expectOut(await answered('/places', { body: body() })));

  it.each([
    ['the first', () => ({ data: { access_token: third } })],
    ['the second', () => ({ access_token: third })],
    ['the second behind a good one', () => ({ access_token: third, data: { access_token: user } })],
    ['the first before a good one', () => ({ access_token: user, data: { access_token: third } })],
  ])('of a third role is not let out from %s', async (_what, body) => {
    expectRefused(await answered('/places', { body: body() }), 403, 'role_not_allowed');
  });
});

describe('a token in a header', () => {
  it.each([
    ['as it is', 'X-Auth-Token', (token: string) => token],
    ['behind its scheme', 'x-auth-token', (token: string) => `Bearer ${token}`],
    ['behind its scheme in another case', 'X-AUTH-TOKEN', (token: string) => `bEARER ${token}`],
  ])('is let out, or not, by its role: %s', async (_what, name, write) => {
    const out = await answered('/header', { headers: { [name]: write(user) }, body: 'no JSON at all' });
    expectOut(out);
    expect([out.value('x-auth-token'), out.body.toString()]).toEqual([write(user), 'no JSON at all']);
    expectRefused(await answered('/header', { headers: { [name]: write(third) } }), 403, 'role_not_allowed');
  });

  it('that does not verify is 502', async () => {
    for (const value of [
      '',
      'opaque',
      `Bearer  ${user}`,
      `${user}, ${user}`,
      `Basic ${user}`,
      `${user.slice(0, -6)}AAAAAA`,
    ])
      expectRefused(await answered('/header', { headers: { 'X-Auth-Token': value } }), 502, 'login_response_refused');
  });

  it('that comes twice is let out only if both are good', async () => {
    expectOut(await answered('/header', { headers: { 'X-Auth-Token': [user, admin] } }));
    for (const pair of [
      [user, third],
      [third, user],
    ])
      expectRefused(await answered('/header', { headers: { 'X-Auth-Token': pair } }), 403, 'role_not_allowed');
  });

  it('is looked at whatever the status, the method and the body', async () => {
    for (const status of [201, 204, 206, 302, 304, 401, 403, 500])
      expectRefused(await answered('/header', { headers: { 'X-Auth-Token': third }, status }), 403, 'role_not_allowed');
    const got = await answered('/header', { headers: { 'X-Auth-Token': third }, method: 'HEAD' });
    expect([got.status, got.values('x-auth-token'), got.values('set-cookie')]).toEqual([403, [], []]);
    expectRefused(await answered('/both', { headers: { 'X-Auth-Token': third } }), 403, 'role_not_allowed');
  });

  it('that is not there is none: an MFA challenge passes unchanged', async () => {
    expectOut(await answered('/header', { body: { mfa: true }, status: 202 }), 202);
    expectOut(await answered('/both', { body: { mfa: true } }));
  });

  it('and in the body are both looked at', async () => {
    expectOut(await answered('/both', { headers: { 'X-Auth-Token': user }, body: { access_token: admin } }));
    for (const [inHeader, inBody] of [
      [user, third],
      [third, user],
    ])
      expectRefused(
        await answered('/both', { headers: { 'X-Auth-Token': inHeader }, body: { access_token: inBody } }),
        403,
        'role_not_allowed',
      );
  });
});

describe('a token that may stand anywhere', () => {
  const PLACES: [string, (token: string) => Given][] = [
    ['data.access_token', (token) => ({ body: { data: { access_token: token } } })],
    ['a list', (token) => ({ body: [{ tokens: [token] }] })],
    ['a string alone', (token) => ({ body: JSON.stringify(token) })],
    ['JSON in JSON', (token) => ({ body: { body: JSON.stringify({ token }) } })],
    ['gzip', (token) => ({ body: gzipSync(JSON.stringify({ token })), headers: { 'Content-Encoding': 'gzip' } })],
    ['a header', (token) => ({ headers: { Authorization: `Bearer ${token}` } })],
    ['a cookie', (token) => ({ headers: { 'Set-Cookie': ['a=SENTINEL', `session=${token}; HttpOnly`] } })],
    ['a redirect', (token) => ({ headers: { Location: `https://app/#token=${token}&a=b` }, status: 302 })],
  ];

  it.each(PLACES)('is let out, or not, by its role: %s', async (_what, given) => {
    expect((await answered('/anywhere', given(user))).status).toBe(given(user).status ?? 200);
    expectRefused(await answered('/anywhere', given(third)), 403, 'role_not_allowed');
    expectRefused(await answered('/anywhere', given(`${user.slice(0, -6)}AAAAAA`)), 502, 'login_response_refused');
  });

  it('is each of them: one that does not verify is not let out beside one that does', async () => {
    const other = await site.issuer.token({ aud: 'elsewhere' });
    expectRefused(await answered('/anywhere', { body: { a: user, id_token: other } }), 502, 'login_response_refused');
    expect(reason()).toBe('login_audience_wrong');
    expectRefused(await answered('/anywhere', { body: { a: user, b: third } }), 403, 'role_not_allowed');
  });

  it('is none in an MFA challenge, which passes unchanged', async () => {
    const body = { mfa: true, challenge: 'a.b.c', hosts: ['www.signing.example'], id: 'eyJhbGciOiJub25lIn0' };
    const got = await answered('/anywhere', { body, headers: { ETag: '"1.2.3"' } });
    expectOut(got);
    expect(got.json()).toEqual(body);
  });

  it('cannot be looked for in what is no JSON: 502', async () => {
    for (const body of ['<html></html>', `token=${user}`, `{"a":1,"a":"${user}"}`])
      expectRefused(await answered('/anywhere', { body }), 502, 'login_response_refused');
    expectOut(await answered('/anywhere', { body: 'wrong password', status: 401 }), 401);
  });
});

describe('a part of an answer', () => {
  it.each(['/place', '/anywhere'])('could be a token without its place, so it is 502: %s', async (path) => {
    const whole = JSON.stringify({ data: { access_token: third } });
    for (const status of [206, 226]) {
      const got = await answered(path, {
        status,
        body: whole.slice(whole.indexOf('"eyJ'), -2),
        with: ['Range: bytes=24-'],
      });
      expectRefused(got, 502, 'login_response_refused');
      expect(reason()).toBe('login_response_partial');
    }
    expectRefused(await answered(path, { status: 206, body: whole.slice(27, -3) }), 502, 'login_response_refused');
  });
});

describe('roles of a route', () => {
  it('go for its login too', async () => {
    expectOut(await answered('/admins', { body: { access_token: admin } }));
    const got = await answered('/admins', { body: { access_token: user } });
    expectRefused(got, 403, 'role_not_allowed');
    expect(got.json().message).toBe('admins and users only');
    expect(site.gateway.lines.at(-1)).toMatchObject({ required: ['admin'], route: 'admins' });
  });
});

describe('a protected route with a login', () => {
  it('asks for a token, and looks at the one that it gives out', async () => {
    const body = { access_token: user };
    const as = (token: string) => ({ body, with: [`Authorization: Bearer ${token}`] });
    expect((await answered('/renew', { body })).status).toBe(401);
    expectRefused(await answered('/renew', as(third)), 403, 'role_not_allowed');
    expect(site.upstream.requests).toEqual([]);
    expectOut(await answered('/renew', as(user)));
    expectRefused(await answered('/renew', { ...as(user), body: { access_token: third } }), 403, 'role_not_allowed');
  });
});

describe('what a login taught', () => {
  const isKnown = (token: string) => site.gateway.gateway.plan.auth?.verifier.cached(token) !== undefined;

  it.each(['/place', '/header', '/anywhere'])('is known at the next request, if it verified: %s', async (path) => {
    const give = (token: string) =>
      path === '/header' ? { headers: { 'X-Auth-Token': token } } : { body: { data: { access_token: token } } };
    const good = await site.issuer.token({ company_role: 'admin', jti: `good${path}` });
    expect(isKnown(good)).toBe(false);
    expectOut(await answered(path, give(good)));
    expect(isKnown(good)).toBe(true);
    site.respond = ANSWER_OK;
    expect((await site.get('/private', `Authorization: Bearer ${good}`)).status).toBe(200);

    const past = Math.floor(Date.now() / 1000) - 60;
    const bad = [
      `${good.slice(0, -6)}AAAAAA`,
      await site.issuer.token({ exp: past }),
      await site.issuer.token({ aud: 'x' }),
    ];
    for (const token of bad) {
      expectRefused(await answered(path, give(token)), 502, 'login_response_refused');
      expect(isKnown(token)).toBe(false);
      site.respond = ANSWER_OK;
      expect((await site.get('/private', `Authorization: Bearer ${token}`)).status).toBe(401);
    }
  });

  it('is no role: a token of a third role is refused at login and ever after', async () => {
    const other = await site.issuer.token({ company_role: 'viewer', jti: 'third' });
    expectRefused(await answered('/place', { body: { data: { access_token: other } } }), 403, 'role_not_allowed');
    site.respond = ANSWER_OK;
    expect((await site.get('/private', `Authorization: Bearer ${other}`)).status).toBe(403);
  });
});

describe('an answer of 20 MB', () => {
  let forked: Forked;
  beforeAll(async () => {
    forked = await forkGateway(manifest(ROUTES, { up: site.upstream.url, jwks: site.issuer.jwksUrl }));
  });
  afterAll(() => forked.close());

  it.each(['/place', '/header', '/anywhere'])('is 502 and costs no memory: %s', async (path) => {
    const chunk = Buffer.alloc(MB, ' ');
    site.respond = (_request, response) => {
      response.writeHead(200, { 'Set-Cookie': 'SENTINEL' });
      for (let index = 0; index < 20; index += 1) response.write(chunk);
      response.end();
    };
    const before = (await forked.usage()).maxRssBytes;
    const all = await Promise.all(Array.from({ length: 8 }, () => ask(forked.port, head(`POST ${path} HTTP/1.1`))));
    for (const got of all) expectRefused(got, 502, 'login_response_refused');
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(60 * MB);
    expect(forked.isAlive()).toBe(true);
  });
});
