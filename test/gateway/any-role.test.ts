import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { manifest, startGateway, type TestGateway, worldOf } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { head, sendRequest } from '../support/raw.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const ROUTES = (roles: string) => `
  - { id: me, method: GET, path: /me, upstream: up, access: protected${roles} }
  - { id: admins, method: GET, path: /ME/admin, upstream: up, access: protected }
  - { id: all, method: GET, path: /me/**, upstream: up, access: protected${roles} }
  - { id: thing, method: GET, path: '/x/{id}', upstream: up, access: protected }
  - { id: own, method: GET, path: /X/me, upstream: up, access: protected${roles} }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token }${roles} }
`;

let upstream: Upstream;
let issuer: Issuer;
let body = '{}';

beforeAll(async () => {
  issuer = await startIssuer();
  upstream = await startUpstream((_request, response) => void response.end(body));
});

afterAll(async () => {
  await upstream.close();
  await issuer.close();
});

async function statusOf({ port }: TestGateway, line: string, token?: string) {
  const headers = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  const { status, ...response } = await sendRequest(port, head(`${line} HTTP/1.1`, ...headers));
  return status < 400 ? status : `${status} ${response.json().code}`;
}

describe.each([
  ['auth', 'role: any', ''],
  ['a route', 'role: { claim: /company_role, allow: [admin], message: admins only }', ', roles: any'],
])('any role in %s', (place, role, roles) => {
  let gateway: TestGateway;

  beforeAll(async () => {
    const text = manifest(ROUTES(roles), { up: upstream.url, jwks: issuer.jwksUrl });
    gateway = await startGateway(text.replace(/role: .*/, role));
  });
  afterAll(() => gateway.close());

  it('needs a valid token, with any role or none', async () => {
    for (const claims of [{}, { company_role: 'viewer' }, { company_role: undefined }, { company_role: [1] }])
      expect(await statusOf(gateway, 'GET /me', await issuer.token(claims))).toBe(200);
    expect(await statusOf(gateway, 'GET /me')).toBe('401 token_missing');
    for (const claims of [{ exp: 1 }, { aud: 'other' }, { iss: 'https://other.test' }])
      expect(await statusOf(gateway, 'GET /me', await issuer.token(claims))).toBe('401 token_invalid');
  });

  it('lets a login return a valid token only', async () => {
    for (const claims of [{ company_role: 'viewer' }, { company_role: undefined }]) {
      body = JSON.stringify({ token: await issuer.token(claims) });
      expect(await statusOf(gateway, 'POST /login')).toBe(200);
    }
    body = JSON.stringify({ token: await issuer.token({ exp: 1 }) });
    expect(await statusOf(gateway, 'POST /login')).toBe('502 login_response_refused');
    body = '{}';
  });

  it('opens no route with roles by another spelling of its path', async () => {
    if (place === 'auth') return;
    const user = await issuer.token({ company_role: 'viewer' });
    expect(await statusOf(gateway, 'GET /ME/admin', user)).toBe('403 role_not_allowed');
    expect(await statusOf(gateway, 'GET /me/admin', user)).toBe('404 route_unknown');
    expect(await statusOf(gateway, 'GET /me/other', user)).toBe(200);
    expect(await statusOf(gateway, 'GET /x/me', user)).toBe('403 role_not_allowed');
    expect(await statusOf(gateway, 'GET /x/me', await issuer.token({ company_role: 'admin' }))).toBe(200);
  });

  it('logs no role that it does not know', async () => {
    const line = gateway.lines.findLast(({ route }) => route === 'me');
    expect([line?.['required'], line?.['refusal']]).toEqual([['any'], 'token_invalid']);
  });

  it('lets a token that one route allows pass no other one, and none after a reload that removes its role', async () => {
    if (place === 'auth') return;
    const [admin, viewer] = [
      await issuer.token({ company_role: 'admin' }),
      await issuer.token({ company_role: 'viewer' }),
    ];
    const { plan } = gateway.gateway;
    for (const _round of [1, 2, 3]) {
      for (const token of [admin, viewer]) expect(await statusOf(gateway, 'GET /me', token)).toBe(200);
      expect(await statusOf(gateway, 'GET /x/7', admin)).toBe(200);
      expect(await statusOf(gateway, 'GET /x/7', viewer)).toBe('403 role_not_allowed');
    }
    const text = manifest(ROUTES(roles), { up: upstream.url, jwks: issuer.jwksUrl });
    const viewers = text.replace(/role: .*/, role.replace('[admin]', '[viewer]'));
    gateway.gateway.activate(load({ path: 'gateway.yaml', text: viewers }, worldOf(), plan).plan as typeof plan);
    expect(await statusOf(gateway, 'GET /x/7', admin)).toBe('403 role_not_allowed');
    gateway.gateway.activate(plan);
    expect(await statusOf(gateway, 'GET /x/7', admin)).toBe(200);
  });
});
