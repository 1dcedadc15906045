import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../support/issuer.ts';
import type { Message } from '../support/message.ts';
import { keepAliveHead, type RawResponse, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

/**
 * Every class of route with every kind of token. Each cell is a real request, and the resulting table must equal the table below.
 * A cell is the status. The column `why` has the reasons that the log contains for the refusals.
 */
const APP = 'https://app.example';
const ROUTES = `  - { id: public, method: any, path: /public, upstream: up, access: public }
  - { id: protected, method: any, path: /protected, upstream: up, access: protected }
  - { id: admins, method: any, path: /admins, upstream: up, access: protected, roles: [admin] }
  - { id: login, method: any, path: /login, upstream: up, access: public, login: { token: /token } }
  - { id: login-admins, method: any, path: /login-admins, upstream: up, access: public, login: { token: /token }, roles: [admin] }
  - { id: login-header, method: any, path: /login-header, upstream: up, access: public, login: { header: X-Token } }
  - { id: login-any, method: any, path: /login-any, upstream: up, access: public, login: {} }
  - { id: socket, method: GET, path: /socket, upstream: up, access: protected, websocket: true }
cors: { origins: ['${APP}'] }
`;

/** Creates a token for the Authorization header of a request or for the response of a login. */
type MakeToken = () => string | Promise<string>;
/** A token, or other credentials of a request. Most of the latter cannot be in a login response. */
type Kind =
  | MakeToken
  | { readonly headers: () => string[] | Promise<string[]>; readonly query?: string; readonly login?: 'too' };

let issuer: Issuer;
let upstream: WireUpstream;
let single: TestGateway;
let lists: TestGateway;
/** The token in the next login response of the upstream. */
let loginToken: string | undefined;

beforeAll(async () => {
  issuer = await startIssuer();
  upstream = await startWireUpstream(respond);
  const text = manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl });
  single = await startGateway(text);
  lists = await startGateway(text.replace('allow:', 'array: true, allow:'));
});
afterAll(async () => {
  await Promise.all([single.close(), lists.close()]);
  await upstream.close();
  await issuer.close();
});

function respond(request: Message): string | ((socket: Socket) => void) {
  const key = request.headers.find(([name]) => name === 'Sec-WebSocket-Key')?.[1];
  if (key !== undefined) {
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
  }
  const body = JSON.stringify({ token: request.line.includes('/login-header') ? undefined : loginToken });
  const header = request.line.includes('/login-header') && loginToken !== undefined ? `X-Token: ${loginToken}\r\n` : '';
  return `HTTP/1.1 200 OK\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`;
}

const COLUMNS = [
  'public',
  'protected',
  'admins',
  'login',
  'login-admins',
  'login-header',
  'login-any',
  'socket',
  'preflight',
];
const HANDSHAKE = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];

/** Returns a cell and the reason in the log for a class of route and a kind of token. */
async function cellOf(gateway: TestGateway, column: string, kind: Kind): Promise<[status: string, why: string]> {
  const isLogin = column.startsWith('login');
  if (isLogin && typeof kind !== 'function' && kind.login === undefined) return ['-', ''];
  const token = typeof kind === 'function' ? await kind() : undefined;
  loginToken = isLogin ? token : undefined;
  const credentials = typeof kind === 'function' ? [`Authorization: Bearer ${token}`] : await kind.headers();
  const path = column === 'preflight' ? 'protected' : column;
  const query = typeof kind === 'function' ? '' : (kind.query ?? '');
  const headers = [
    `Origin: ${APP}`,
    ...(isLogin ? [] : credentials),
    ...(column === 'socket' ? ['Connection: Upgrade', ...HANDSHAKE] : ['Connection: close']),
    ...(column === 'preflight' ? ['Access-Control-Request-Method: GET'] : []),
  ];
  const method = column === 'preflight' ? 'OPTIONS' : 'GET';
  const [before, line] = [upstream.messages.length, gateway.lines.length];
  const response = await sendRequestOrUpgrade(
    gateway.port,
    keepAliveHead(`${method} /${path}${query} HTTP/1.1`, ...headers),
  );
  await eventually('the access log line', () => gateway.lines.length > line);
  const { reason = '' } = gateway.lines[line] ?? {};
  expectConsistent(response, { column, isLogin, forwarded: upstream.messages.length - before, token });
  return [String(response.status), String(reason).replace(/^login_/, '')];
}

async function sendRequestOrUpgrade(port: number, bytes: string): Promise<RawResponse> {
  if (!bytes.includes('Upgrade: websocket')) return sendRequest(port, Buffer.from(bytes, 'latin1'));
  const wire = await Wire.open(port);
  wire.write(Buffer.from(bytes, 'latin1'));
  const message = await wire.message();
  wire.end();
  return message;
}

interface Cell {
  readonly column: string;
  readonly isLogin: boolean;
  readonly forwarded: number;
  readonly token: string | undefined;
}

/** Checks the invariants of every cell. */
function expectConsistent(response: RawResponse, { column, isLogin, forwarded, token }: Cell): void {
  const { status } = response;
  const isPassed = status === 200 || status === 101;
  expect({ column, status, forwarded }).toEqual({ column, status, forwarded: isPassed || isLogin ? 1 : 0 });
  const challenge = response.value('www-authenticate') ?? '';
  const begin = /^Bearer realm="signing-gateway"/.test(challenge);
  expect({ status, begin }).toEqual({ status, begin: status === 401 || status === 403 });
  expect({ status, insufficient: challenge.includes('insufficient_scope') }).toEqual({
    status,
    insufficient: status === 403,
  });
  if (status !== 101) expect(response.values('access-control-allow-origin')).toEqual([APP]);
  if (isPassed || token === undefined || token.length < 8) return;
  expect([...response.headers.flat(), response.body.toString('latin1')].join('\n')).not.toContain(token);
}

async function tableOf(gateway: TestGateway, columns: readonly string[], kinds: Record<string, Kind>): Promise<string> {
  const rows = [['token', 'why', ...columns]];
  for (const [name, kind] of Object.entries(kinds)) {
    const cells: [string, string][] = [];
    for (const column of columns) cells.push(await cellOf(gateway, column, kind));
    const why = new Set(cells.map(([, reason]) => reason).filter((reason) => reason !== ''));
    rows.push([name, [...why].join(' '), ...cells.map(([status]) => status)]);
  }
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(' | ')
      .trimEnd(),
  );
  return `\n${lines.join('\n')}\n`;
}

const withClaims =
  (claims: Record<string, unknown>, header: Record<string, unknown> = {}): MakeToken =>
  () =>
    issuer.token(claims, header);
const changed =
  (change: (token: string) => string): MakeToken =>
  async () =>
    change(await issuer.token());
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = Math.floor(Date.now() / 1000);
const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'someone', iat: now, exp: now + 600, company_role: 'admin' };

/** Creates a token that is signed with a key that the issuer does not have. */
async function forged(header: (own: object) => { alg: string } & Record<string, unknown>): Promise<string> {
  const { alg } = header({});
  if (alg === 'none') return `${part(header({}))}.${part(claims)}.`;
  if (alg === 'HS256') {
    const secret = new TextEncoder().encode(JSON.stringify(issuer.keys[0]));
    return new SignJWT(claims).setProtectedHeader(header({})).sign(secret);
  }
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return new SignJWT(claims).setProtectedHeader(header(await exportJWK(publicKey))).sign(privateKey);
}

const KINDS: Record<string, Kind> = {
  none: { headers: () => [], login: 'too' },
  'another scheme': { headers: async () => [`Authorization: Basic ${await issuer.token()}`] },
  'a scheme alone': { headers: () => ['Authorization: Bearer'] },
  'in a cookie': { headers: async () => [`Cookie: access_token=${await issuer.token()}`] },
  'in the query': { headers: () => [], query: '?access_token=x.y.z' },
  'in two headers': { headers: async () => Array(2).fill(`Authorization: Bearer ${await issuer.token()}`) },
  'after two spaces': { headers: async () => [`Authorization: Bearer  ${await issuer.token()}`] },

  'a word': () => 'opaque',
  'two parts': changed((token) => token.split('.').slice(0, 2).join('.')),
  'four parts': changed((token) => `${token}.a`),
  padded: changed((token) => `${token}==`),
  '9 kB': withClaims({ filler: 'x'.repeat(7_000) }),
  'two roles': async () => {
    const [header = '', , signature] = (await issuer.token()).split('.');
    return `${header}.${Buffer.from('{"company_role":"viewer","company_role":"admin"}').toString('base64url')}.${signature}`;
  },

  'alg none': () => forged(() => ({ alg: 'none' })),
  'HMAC by the public key': () => forged(() => ({ alg: 'HS256', kid: 'one' })),
  'another family': () => forged(() => ({ alg: 'RS256', kid: 'one' })),
  'another key': () => forged(() => ({ alg: 'ES256', kid: 'one' })),
  'its own key': () => forged((jwk) => ({ alg: 'ES256', kid: 'one', jwk })),
  'an unknown key': () => forged(() => ({ alg: 'ES256', kid: 'two' })),
  'another signature': changed((token) => `${token.slice(0, -6)}AAAAAA`),
  crit: withClaims({}, { crit: ['b64'], b64: true }),

  expired: withClaims({ exp: now - 60 }),
  'without exp': withClaims({ exp: undefined }),
  'not yet': withClaims({ nbf: now + 600 }),
  'of tomorrow': withClaims({ iat: now + 86_400, exp: now + 90_000 }),
  'another issuer': withClaims({ iss: 'https://evil.example' }),
  'no issuer': withClaims({ iss: undefined }),
  'another audience': withClaims({ aud: 'elsewhere' }),
  'no audience': withClaims({ aud: undefined }),

  'role admin': withClaims({ company_role: 'admin' }),
  'role user': withClaims({ company_role: 'user' }),
  'role viewer': withClaims({ company_role: 'viewer' }),
  'role Admin': withClaims({ company_role: 'Admin' }),
  'role " admin"': withClaims({ company_role: ' admin' }),
  'role ""': withClaims({ company_role: '' }),
  'role __proto__': withClaims({ company_role: '__proto__' }),
  'role null': withClaims({ company_role: null }),
  'role 1': withClaims({ company_role: 1 }),
  'role true': withClaims({ company_role: true }),
  'no role': withClaims({ company_role: undefined }),
  'roles [admin]': withClaims({ company_role: ['admin'] }),
  'roles {admin}': withClaims({ company_role: { admin: true } }),
};

const LISTS: Record<string, Kind> = {
  'role admin': withClaims({ company_role: 'admin' }),
  'role user': withClaims({ company_role: 'user' }),
  'roles [admin]': withClaims({ company_role: ['admin'] }),
  'roles [user]': withClaims({ company_role: ['user'] }),
  'roles [viewer, user]': withClaims({ company_role: ['viewer', 'user'] }),
  'roles [user, admin]': withClaims({ company_role: ['user', 'admin'] }),
  'roles [viewer]': withClaims({ company_role: ['viewer'] }),
  'roles []': withClaims({ company_role: [] }),
  'roles [Admin]': withClaims({ company_role: ['Admin'] }),
  'roles [" admin"]': withClaims({ company_role: [' admin'] }),
  'roles [[admin]]': withClaims({ company_role: [['admin']] }),
  'roles [{}, 1, null]': withClaims({ company_role: [{}, 1, null] }),
  'roles {0: admin}': withClaims({ company_role: { 0: 'admin', length: 1 } }),
  'roles null': withClaims({ company_role: null }),
};

describe('the response to a token', () => {
  it('depends on the route and the kind of token', async () => {
    expect(await tableOf(single, COLUMNS, KINDS)).toBe(TABLE);
  });

  it('depends on the list of roles', async () => {
    expect(await tableOf(lists, COLUMNS, LISTS)).toBe(LISTS_TABLE);
  });
});

const TABLE = `
token                  | why                   | public | protected | admins | login | login-admins | login-header | login-any | socket | preflight
none                   | token_missing         | 200    | 401       | 401    | 200   | 200          | 200          | 200       | 401    | 204
another scheme         | token_missing         | 200    | 401       | 401    | -     | -            | -            | -         | 401    | 204
a scheme alone         | token_missing         | 200    | 401       | 401    | -     | -            | -            | -         | 401    | 204
in a cookie            | token_missing         | 200    | 401       | 401    | -     | -            | -            | -         | 401    | 204
in the query           | token_missing         | 200    | 401       | 401    | -     | -            | -            | -         | 401    | 204
in two headers         | header_repeated       | 400    | 400       | 400    | -     | -            | -            | -         | 400    | 400
after two spaces       | token_malformed       | 200    | 401       | 401    | -     | -            | -            | -         | 401    | 204
a word                 | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 200       | 401    | 204
two parts              | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 200       | 401    | 204
four parts             | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 200       | 401    | 204
padded                 | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 200       | 401    | 204
9 kB                   | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
two roles              | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
alg none               | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 200       | 401    | 204
HMAC by the public key | algorithm_not_allowed | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
another family         | algorithm_not_allowed | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
another key            | signature_wrong       | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
its own key            | signature_wrong       | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
an unknown key         | key_unknown           | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
another signature      | signature_wrong       | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
crit                   | token_malformed       | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
expired                | token_expired         | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
without exp            | claims_wrong          | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
not yet                | token_not_yet_valid   | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
of tomorrow            | token_not_yet_valid   | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
another issuer         | issuer_wrong          | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
no issuer              | issuer_wrong          | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
another audience       | audience_wrong        | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
no audience            | audience_wrong        | 200    | 401       | 401    | 502   | 502          | 502          | 502       | 401    | 204
role admin             |                       | 200    | 200       | 200    | 200   | 200          | 200          | 200       | 101    | 204
role user              | role_not_allowed      | 200    | 200       | 403    | 200   | 403          | 200          | 200       | 101    | 204
role viewer            | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role Admin             | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role " admin"          | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role ""                | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role __proto__         | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role null              | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role 1                 | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role true              | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
no role                | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles [admin]          | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles {admin}          | role_not_allowed      | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
`;

const LISTS_TABLE = `
token                | why              | public | protected | admins | login | login-admins | login-header | login-any | socket | preflight
role admin           | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
role user            | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles [admin]        |                  | 200    | 200       | 200    | 200   | 200          | 200          | 200       | 101    | 204
roles [user]         | role_not_allowed | 200    | 200       | 403    | 200   | 403          | 200          | 200       | 101    | 204
roles [viewer, user] | role_not_allowed | 200    | 200       | 403    | 200   | 403          | 200          | 200       | 101    | 204
roles [user, admin]  |                  | 200    | 200       | 200    | 200   | 200          | 200          | 200       | 101    | 204
roles [viewer]       | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles []             | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles [Admin]        | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles [" admin"]     | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles [[admin]]      | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles [{}, 1, null]  | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles {0: admin}     | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
roles null           | role_not_allowed | 200    | 403       | 403    | 403   | 403          | 403          | 403       | 403    | 204
`;
