import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { claims, ecKey, keyFile, tokenOf } from '../plan/tokens/keys.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const [staff, partners] = [ecKey('one'), ecKey('one')];
const KEYS = { staff, partners };
type Issuer = keyof typeof KEYS;

const token = (issuer: Issuer, more: object = {}) =>
  tokenOf(
    { alg: 'ES256', kid: 'one' },
    claims({ iss: `https://${issuer}.test`, aud: 'signing', ...more }),
    KEYS[issuer],
  );

const method = (name: Issuer, more = '') => `
    - name: ${name}
      jwt: { jwks: ${keyFile(KEYS[name])}, algorithms: [ES256], issuer: 'https://${name}.test', audience: signing }${more}`;

const ROUTES = `
  - { id: first, method: GET, path: /first, upstream: up, access: protected }
  - { id: second, method: GET, path: /second, upstream: up, access: protected, issuers: [partners] }
  - { id: both, method: GET, path: /both, upstream: up, access: protected, issuers: [staff, partners] }
  - { id: readers, method: GET, path: /readers, upstream: up, access: protected, issuers: [staff, partners], roles: [user, read] }
  - { id: subject, method: GET, path: /subject, upstream: up, access: protected, issuers: [staff, partners], rateLimits: [subject] }
  - { id: tenant, method: GET, path: /tenant, upstream: up, access: protected, issuers: [staff, partners], rateLimits: [tenant] }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token } }
  - { id: partner-login, method: POST, path: /partner-login, upstream: up, access: public, login: { token: /token, issuer: partners } }
`;

const MANIFEST = (up: string, tokens: string) => `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${up}' } }
auth:
  tokens:${tokens}
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
  forward: { X-User-Id: /sub, X-User-Issuer: /iss }
rateLimits:
  subject: { key: subject, allow: 1 per 1h }
  tenant: { key: { claim: /tenant, fold: case }, missing: refuse, allow: 1 per 1h }
routes:${ROUTES}`;

const SCOPES = `
      role: { claim: /scope, format: words, allow: [read, write], message: readers and writers only }`;

let upstream: Upstream;
let gateway: TestGateway;
let body = '{}';
let received: IncomingHttpHeaders = {};

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    received = request.headers;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  });
  gateway = await startGateway(MANIFEST(upstream.url, method('staff') + method('partners', SCOPES)));
});

beforeEach(() => {
  body = '{}';
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function get(path: string, bearer: string) {
  const { status, body: text } = await sendRequest(
    gateway.port,
    head(`GET ${path} HTTP/1.1`, `Authorization: Bearer ${bearer}`),
  );
  return `${status}${status === 403 ? ` ${JSON.parse(text.toString()).detail}` : ''}`;
}

const SCOPE = { company_role: undefined, scope: 'read other' };

describe('a route', () => {
  it('accepts tokens of the first method only, unless it names others', async () => {
    expect(await get('/first', token('staff'))).toBe('200');
    expect(await get('/first', token('partners', SCOPE))).toBe('401');
    expect(await get('/second', token('partners', SCOPE))).toBe('200');
    expect(await get('/second', token('staff'))).toBe('401');
    expect(await get('/both', token('staff'))).toBe('200');
    expect(await get('/both', token('partners', SCOPE))).toBe('200');
  });

  it('does not tell a client which issuer it accepts, but the log does', async () => {
    gateway.lines.length = 0;
    const bytes = head('GET /first HTTP/1.1', `Authorization: Bearer ${token('partners', SCOPE)}`);
    const response = await sendRequest(gateway.port, bytes);
    expect(response.body.toString()).not.toContain('issuer');
    expect(gateway.lines[0]).toMatchObject({ refusal: 'token_invalid', reason: 'issuer_wrong' });
    expect(gateway.lines[0]).not.toHaveProperty('issuer');
  });

  it('logs the method that accepted the token, also if it refuses the role', async () => {
    gateway.lines.length = 0;
    await get('/both', token('staff'));
    await get('/both', token('partners', SCOPE));
    await get('/both', token('partners'));
    expect(gateway.lines.map(({ issuer, status }) => [issuer, status])).toEqual([
      ['staff', 200],
      ['partners', 200],
      ['partners', 403],
    ]);
  });

  it('requires the role of the method that verified the token, and answers with its message', async () => {
    expect(await get('/both', token('partners'))).toBe('403 readers and writers only');
    expect(await get('/both', token('partners', { scope: 'user' }))).toBe('403 readers and writers only');
    expect(await get('/both', token('staff', SCOPE))).toBe('403 admins and users only');
    expect(await get('/both', token('staff', { company_role: 'read' }))).toBe('403 admins and users only');
  });

  it('forwards equal subjects of two issuers with their issuers, also from the cache', async () => {
    const bearers = [token('staff', { sub: 'same' }), token('partners', { sub: 'same', ...SCOPE })];
    const seen: unknown[] = [];
    for (const bearer of [...bearers, ...bearers]) {
      expect(await get('/both', bearer)).toBe('200');
      seen.push([received['x-user-id'], received['x-user-issuer']]);
    }
    const expected = ['staff', 'partners'].map((name) => ['same', `https://${name}.test`]);
    expect(seen).toEqual([...expected, ...expected]);
  });

  it('with roles requires those that each method allows', async () => {
    expect(await get('/readers', token('staff'))).toBe('200');
    expect(await get('/readers', token('staff', { company_role: 'admin' }))).toBe('403 admins and users only');
    expect(await get('/readers', token('partners', SCOPE))).toBe('200');
    expect(await get('/readers', token('partners', { scope: 'write' }))).toBe('403 readers and writers only');
  });
});

describe('a rate limit', () => {
  it.each([
    ['subject', '/subject', { sub: 'same' }],
    ['claim', '/tenant', { tenant: 'Same' }],
  ])('by %s counts equal values of two issuers apart', async (_key, path, more) => {
    expect(await get(path, token('staff', more))).toBe('200');
    expect(await get(path, token('staff', { ...more, jti: 'other' }))).toBe('429');
    expect(await get(path, token('partners', { ...more, ...SCOPE }))).toBe('200');
    expect(await get(path, token('partners', { ...more, ...SCOPE, jti: 'other' }))).toBe('429');
  });

  it('by claim has no value of one issuer that looks like that of another', async () => {
    expect(await get('/tenant', token('staff', { tenant: 'partners:x' }))).toBe('200');
    expect(await get('/tenant', token('partners', { tenant: 'x', ...SCOPE }))).toBe('200');
  });
});

describe('a login', () => {
  const login = async (path: string, response: object) => {
    body = JSON.stringify(response);
    return (await sendRequest(gateway.port, head(`POST ${path} HTTP/1.1`, 'Content-Length: 0'))).status;
  };

  it('forwards tokens of its own method only', async () => {
    expect(await login('/login', { token: token('staff') })).toBe(200);
    expect(await login('/login', { token: token('partners', SCOPE) })).toBe(502);
    expect(await login('/partner-login', { token: token('partners', SCOPE) })).toBe(200);
    expect(gateway.lines.at(-1)).toMatchObject({ route: 'partner-login', issuer: 'partners' });
    expect(await login('/partner-login', { token: token('staff') })).toBe(502);
  });

  it('refuses a role that its method does not allow, also for a token of another method elsewhere', async () => {
    expect(await login('/login', { token: token('staff', { company_role: 'guest' }) })).toBe(403);
    expect(await login('/partner-login', { token: token('partners') })).toBe(403);
    expect(await login('/login', { token: token('staff'), other: token('partners', SCOPE) })).toBe(200);
    expect(await login('/login', { token: token('staff'), other: token('partners') })).toBe(403);
    expect(await login('/partner-login', { other: token('staff', { company_role: 'guest' }) })).toBe(403);
  });
});

describe('a reload', () => {
  it('that adds a method opens no route, and keeps the first one', async () => {
    const routes = MANIFEST(upstream.url, method('staff')).replaceAll(
      /, issuers: \[[a-z, ]+\]|, issuer: partners|, roles: \[user, read\]/g,
      '',
    );
    const other = await startGateway(routes);
    const statusOf = async (bearer: string) =>
      (await sendRequest(other.port, head('GET /both HTTP/1.1', `Authorization: Bearer ${bearer}`))).status;
    expect([await statusOf(token('staff')), await statusOf(token('partners', SCOPE))]).toEqual([200, 401]);
    for (const line of other.lines) expect(line).not.toHaveProperty('issuer');
    other.swap(routes.replace('\n  role:', `${method('partners', SCOPES)}\n  role:`));
    expect([await statusOf(token('staff')), await statusOf(token('partners', SCOPE))]).toEqual([200, 401]);
    await other.close();
  });
});
