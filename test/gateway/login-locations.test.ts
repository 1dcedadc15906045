import type { OutgoingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ForkedGateway, forkGateway } from '../support/forked.ts';
import { manifest } from '../support/gateway.ts';
import { head, type RawResponse, sendRequest } from '../support/raw.ts';
import { RESPOND_OK, type Site, startSite } from '../support/site.ts';
import { loginRoute } from './login-site.ts';

const MB = 1024 * 1024;
const ROUTES = [
  loginRoute('pointer', '{ token: /data/access_token }'),
  loginRoute('pointers', '{ token: [/data/access_token, /access_token] }'),
  loginRoute('header', '{ header: X-Auth-Token }'),
  loginRoute('both', '{ token: /access_token, header: X-Auth-Token }'),
  loginRoute('anywhere', '{}'),
  loginRoute('admins', '{ token: /access_token }', 'access: public, roles: [admin]'),
  loginRoute('renew', '{ token: /access_token }', 'access: protected'),
  '  - { id: private, method: GET, path: /private, upstream: up, access: protected }\n',
].join('');

let site: Site;
let admin: string;
let user: string;
let viewer: string;

beforeAll(async () => {
  site = await startSite(ROUTES);
  admin = await site.issuer.token({ company_role: 'admin' });
  user = await site.issuer.token({ company_role: 'user' });
  viewer = await site.issuer.token({ company_role: 'viewer' });
});

afterAll(() => site.close());

beforeEach(() => {
  site.respond = RESPOND_OK;
  site.upstream.requests.length = 0;
});

interface LoginResponse {
  readonly body?: unknown;
  readonly headers?: OutgoingHttpHeaders;
  readonly status?: number;
  readonly method?: string;
  readonly with?: readonly string[];
}

/** Returns the gateway's response to a login with this upstream response. A body that is not a string is sent as JSON. */
async function loginWith(
  path: string,
  { body = '', headers = {}, status = 200, method = 'POST', ...request }: LoginResponse,
) {
  site.respond = (_request, response) => {
    response.writeHead(status, { 'Set-Cookie': 'a=SENTINEL', ...headers });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
  return sendRequest(site.port, head(`${method} ${path} HTTP/1.1`, ...(request.with ?? [])));
}

function expectForwarded(got: RawResponse, status = 200): void {
  expect([got.status, got.value('set-cookie')]).toEqual([status, 'a=SENTINEL']);
}

/** Expects a refusal that contains nothing from the upstream's response. */
function expectRefused(got: RawResponse, status: number, code: string): void {
  expect([got.status, got.json().code]).toEqual([status, code]);
  const all = [got.line, ...got.headers.flat(), got.body.toString('latin1')].join('\n');
  for (const secret of [admin, user, viewer, 'SENTINEL']) expect(all).not.toContain(secret);
}

const reason = () => site.gateway.lines.at(-1)?.['reason'];

describe('a token with several configured locations', () => {
  it.each([
    ['the first', () => ({ data: { access_token: user } })],
    ['the second', () => ({ access_token: user })],
    ['both', () => ({ access_token: user, data: { access_token: admin } })],
    ['none, without a token', () => ({ mfa: { challenge: 'abc' } })],
  ])('is forwarded if its role is allowed: %s', async (_title, body) =>
    expectForwarded(await loginWith('/pointers', { body: body() })),
  );

  it.each([
    ['the first', () => ({ data: { access_token: viewer } })],
    ['the second', () => ({ access_token: viewer })],
    ['the second behind a valid one', () => ({ access_token: viewer, data: { access_token: user } })],
    ['the first before a valid one', () => ({ access_token: user, data: { access_token: viewer } })],
  ])('is refused if its role is not allowed: %s', async (_title, body) => {
    expectRefused(await loginWith('/pointers', { body: body() }), 403, 'role_not_allowed');
  });
});

describe('a token in a header', () => {
  it.each([
    ['without a scheme', 'X-Auth-Token', (token: string) => token],
    ['behind its scheme', 'x-auth-token', (token: string) => `Bearer ${token}`],
    ['behind its scheme in another case', 'X-AUTH-TOKEN', (token: string) => `bEARER ${token}`],
  ])('is forwarded or refused by its role: %s', async (_title, name, write) => {
    const forwarded = await loginWith('/header', { headers: { [name]: write(user) }, body: 'not JSON' });
    expectForwarded(forwarded);
    expect([forwarded.value('x-auth-token'), forwarded.body.toString()]).toEqual([write(user), 'not JSON']);
    expectRefused(await loginWith('/header', { headers: { [name]: write(viewer) } }), 403, 'role_not_allowed');
  });

  it('is refused with 502 if it does not verify', async () => {
    for (const value of [
      '',
      'opaque',
      `Bearer  ${user}`,
      `${user}, ${user}`,
      `Basic ${user}`,
      `${user.slice(0, -6)}AAAAAA`,
    ])
      expectRefused(await loginWith('/header', { headers: { 'X-Auth-Token': value } }), 502, 'login_response_refused');
  });

  it('may be repeated if both tokens are allowed', async () => {
    expectForwarded(await loginWith('/header', { headers: { 'X-Auth-Token': [user, admin] } }));
    for (const pair of [
      [user, viewer],
      [viewer, user],
    ])
      expectRefused(await loginWith('/header', { headers: { 'X-Auth-Token': pair } }), 403, 'role_not_allowed');
  });

  it('is checked with any status, method and body', async () => {
    for (const status of [201, 204, 206, 302, 304, 401, 403, 500])
      expectRefused(
        await loginWith('/header', { headers: { 'X-Auth-Token': viewer }, status }),
        403,
        'role_not_allowed',
      );
    const got = await loginWith('/header', { headers: { 'X-Auth-Token': viewer }, method: 'HEAD' });
    expect([got.status, got.values('x-auth-token'), got.values('set-cookie')]).toEqual([403, [], []]);
    expectRefused(await loginWith('/both', { headers: { 'X-Auth-Token': viewer } }), 403, 'role_not_allowed');
  });

  it('is optional, so an MFA challenge stays unchanged', async () => {
    expectForwarded(await loginWith('/header', { body: { mfa: true }, status: 202 }), 202);
    expectForwarded(await loginWith('/both', { body: { mfa: true } }));
  });

  it('is checked together with a token in the body', async () => {
    expectForwarded(await loginWith('/both', { headers: { 'X-Auth-Token': user }, body: { access_token: admin } }));
    for (const [inHeader, inBody] of [
      [user, viewer],
      [viewer, user],
    ])
      expectRefused(
        await loginWith('/both', { headers: { 'X-Auth-Token': inHeader }, body: { access_token: inBody } }),
        403,
        'role_not_allowed',
      );
  });
});

describe('a token without a configured location', () => {
  const LOCATIONS: [string, (token: string) => LoginResponse][] = [
    ['data.access_token', (token) => ({ body: { data: { access_token: token } } })],
    ['a list', (token) => ({ body: [{ tokens: [token] }] })],
    ['a string alone', (token) => ({ body: JSON.stringify(token) })],
    ['JSON in JSON', (token) => ({ body: { body: JSON.stringify({ token }) } })],
    ['gzip', (token) => ({ body: gzipSync(JSON.stringify({ token })), headers: { 'Content-Encoding': 'gzip' } })],
    ['a header', (token) => ({ headers: { Authorization: `Bearer ${token}` } })],
    ['a cookie', (token) => ({ headers: { 'Set-Cookie': ['a=SENTINEL', `session=${token}; HttpOnly`] } })],
    ['a redirect', (token) => ({ headers: { Location: `https://app/#token=${token}&a=b` }, status: 302 })],
  ];

  it.each(LOCATIONS)('is forwarded or refused by its role: %s', async (_title, responseWith) => {
    expect((await loginWith('/anywhere', responseWith(user))).status).toBe(responseWith(user).status ?? 200);
    expectRefused(await loginWith('/anywhere', responseWith(viewer)), 403, 'role_not_allowed');
    expectRefused(
      await loginWith('/anywhere', responseWith(`${user.slice(0, -6)}AAAAAA`)),
      502,
      'login_response_refused',
    );
  });

  it('is refused beside a valid token if it does not verify', async () => {
    const other = await site.issuer.token({ aud: 'elsewhere' });
    expectRefused(await loginWith('/anywhere', { body: { a: user, id_token: other } }), 502, 'login_response_refused');
    expect(reason()).toBe('login_audience_wrong');
    expectRefused(await loginWith('/anywhere', { body: { a: user, b: viewer } }), 403, 'role_not_allowed');
  });

  it('is optional in an MFA challenge, which stays unchanged', async () => {
    const body = { mfa: true, challenge: 'a.b.c', hosts: ['www.signing.example'], id: 'eyJhbGciOiJub25lIn0' };
    const got = await loginWith('/anywhere', { body, headers: { ETag: '"1.2.3"' } });
    expectForwarded(got);
    expect(got.json()).toEqual(body);
  });

  it('causes 502 if the response is not JSON', async () => {
    for (const body of ['<html></html>', `token=${user}`, `{"a":1,"a":"${user}"}`])
      expectRefused(await loginWith('/anywhere', { body }), 502, 'login_response_refused');
    expectForwarded(await loginWith('/anywhere', { body: 'wrong password', status: 401 }), 401);
  });
});

describe('a partial login response', () => {
  it.each(['/pointer', '/anywhere'])('is refused with 502, because it could contain a token: %s', async (path) => {
    const complete = JSON.stringify({ data: { access_token: viewer } });
    for (const status of [206, 226]) {
      const got = await loginWith(path, {
        status,
        body: complete.slice(complete.indexOf('"eyJ'), -2),
        with: ['Range: bytes=24-'],
      });
      expectRefused(got, 502, 'login_response_refused');
      expect(reason()).toBe('login_response_partial');
    }
    expectRefused(await loginWith(path, { status: 206, body: complete.slice(27, -3) }), 502, 'login_response_refused');
  });
});

describe('the roles of a route', () => {
  it('apply to its login', async () => {
    expectForwarded(await loginWith('/admins', { body: { access_token: admin } }));
    const got = await loginWith('/admins', { body: { access_token: user } });
    expectRefused(got, 403, 'role_not_allowed');
    expect(got.json().message).toBe('admins and users only');
    expect(site.gateway.lines.at(-1)).toMatchObject({ required: ['admin'], route: 'admins' });
  });
});

describe('a protected login route', () => {
  it('requires a token and checks the token in its response', async () => {
    const body = { access_token: user };
    const as = (token: string) => ({ body, with: [`Authorization: Bearer ${token}`] });
    expect((await loginWith('/renew', { body })).status).toBe(401);
    expectRefused(await loginWith('/renew', as(viewer)), 403, 'role_not_allowed');
    expect(site.upstream.requests).toEqual([]);
    expectForwarded(await loginWith('/renew', as(user)));
    expectRefused(await loginWith('/renew', { ...as(user), body: { access_token: viewer } }), 403, 'role_not_allowed');
  });
});

describe('the token of a login', () => {
  const isCached = (token: string) => site.gateway.gateway.plan.auth?.verifier.cached(token) !== undefined;

  it.each(['/pointer', '/header', '/anywhere'])('is cached for the next request if it verifies: %s', async (path) => {
    const responseWith = (token: string) =>
      path === '/header' ? { headers: { 'X-Auth-Token': token } } : { body: { data: { access_token: token } } };
    const valid = await site.issuer.token({ company_role: 'admin', jti: `good${path}` });
    expect(isCached(valid)).toBe(false);
    expectForwarded(await loginWith(path, responseWith(valid)));
    expect(isCached(valid)).toBe(true);
    site.respond = RESPOND_OK;
    expect((await site.get('/private', `Authorization: Bearer ${valid}`)).status).toBe(200);

    const past = Math.floor(Date.now() / 1000) - 60;
    const invalid = [
      `${valid.slice(0, -6)}AAAAAA`,
      await site.issuer.token({ exp: past }),
      await site.issuer.token({ aud: 'x' }),
    ];
    for (const token of invalid) {
      expectRefused(await loginWith(path, responseWith(token)), 502, 'login_response_refused');
      expect(isCached(token)).toBe(false);
      site.respond = RESPOND_OK;
      expect((await site.get('/private', `Authorization: Bearer ${token}`)).status).toBe(401);
    }
  });

  it('is refused at login and afterwards if its role is not allowed', async () => {
    const other = await site.issuer.token({ company_role: 'viewer', jti: 'viewer' });
    expectRefused(await loginWith('/pointer', { body: { data: { access_token: other } } }), 403, 'role_not_allowed');
    site.respond = RESPOND_OK;
    expect((await site.get('/private', `Authorization: Bearer ${other}`)).status).toBe(403);
  });
});

describe('a login response of 20 MB', () => {
  let forked: ForkedGateway;
  beforeAll(async () => {
    forked = await forkGateway(manifest(ROUTES, { up: site.upstream.url, jwks: site.issuer.jwksUrl }));
  });
  afterAll(() => forked.close());

  it.each(['/pointer', '/header', '/anywhere'])('is refused with 502 and not kept in memory: %s', async (path) => {
    const chunk = Buffer.alloc(MB, ' ');
    site.respond = (_request, response) => {
      response.writeHead(200, { 'Set-Cookie': 'SENTINEL' });
      for (let index = 0; index < 20; index += 1) response.write(chunk);
      response.end();
    };
    const before = (await forked.usage()).maxRssBytes;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => sendRequest(forked.port, head(`POST ${path} HTTP/1.1`))),
    );
    for (const got of all) expectRefused(got, 502, 'login_response_refused');
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(60 * MB);
    expect(forked.isAlive()).toBe(true);
  });
});
