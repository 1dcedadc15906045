import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ForkedGateway, forkGateway } from '../support/forked.ts';
import { manifest, startGateway } from '../support/gateway.ts';
import { head, type RawResponse, sendRequest } from '../support/raw.ts';
import { RESPOND_OK, type Site, startSite } from '../support/site.ts';

const MB = 1024 * 1024;
const ROUTES = `  - { id: login, method: any, path: /login, upstream: up, access: public, login: { token: /data/access_token, maxBytes: 64KB } }
  - { id: all, method: any, path: /all/**, upstream: up, access: public }
`;

let site: Site;
let valid: string;
let viewer: string;

beforeAll(async () => {
  site = await startSite(ROUTES);
  valid = await site.issuer.token({ company_role: 'admin' });
  viewer = await site.issuer.token({ company_role: 'viewer' });
});

afterAll(() => site.close());

afterEach(async () => {
  site.respond = RESPOND_OK;
  expect((await site.get('/all/next')).status).toBe(200);
  site.upstream.requests.length = 0;
});

/** Returns the gateway's response to a login with this upstream response. */
async function login(body: string | Buffer, headers: OutgoingHttpHeaders = {}, status = 200, method = 'POST') {
  site.respond = (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Upstream': 'SENTINEL', ...headers });
    response.end(body);
  };
  return sendRequest(site.port, head(`${method} /login HTTP/1.1`));
}

function expectRefused(got: RawResponse, status: number, code: string): void {
  expect([got.status, got.json().code]).toEqual([status, code]);
  expect(got.value('content-type')).toBe('application/problem+json');
  expect(got.value('content-length')).toBe(String(got.body.length));
  for (const name of ['x-upstream', 'content-encoding', 'set-cookie', 'etag', 'transfer-encoding', 'location'])
    expect(got.values(name)).toEqual([]);
  const all = [got.line, ...got.headers.flat(), got.body.toString('latin1')].join('\n');
  for (const secret of [valid, viewer, 'SENTINEL']) expect(all).not.toContain(secret);
}

const bodyWith = (token: unknown) => JSON.stringify({ data: { access_token: token, other: 'SENTINEL' } });

/** Overwrites the checksum of a gzip stream, which is in its last eight bytes. */
function withWrongChecksum(body: Buffer): Buffer {
  return body.fill(0, body.length - 8, body.length - 4);
}

const ENCODINGS: [string, (body: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['deflate', deflateSync],
  ['identity', (body) => body],
];

describe('a login token of an allowed role', () => {
  it('is forwarded with an unchanged status, headers and body', async () => {
    const body = ` {\n"data" : {"access_token":"${valid}", "\\u0061":1e2 }  }\n`;
    const cookies = ['a=1; HttpOnly', 'b=2'];
    for (const framing of [{ 'Content-Length': body.length }, {}]) {
      const got = await login(body, { 'Set-Cookie': cookies, ETag: '"x"', ...framing }, 201);
      expect([got.status, got.body.toString(), got.value('x-upstream')]).toEqual([201, body, 'SENTINEL']);
      expect(got.values('set-cookie')).toEqual(cookies);
      expect(got.values('content-length').length + got.values('transfer-encoding').length).toBe(1);
    }
  });

  it('is forwarded if the end of the connection ends the response', async () => {
    const got = await login(bodyWith(valid), { Connection: 'close' });
    expect([got.status, got.body.toString(), got.isComplete]).toEqual([200, bodyWith(valid), true]);
  });

  it.each(ENCODINGS)('is forwarded in the encoding of the upstream: %s', async (name, encode) => {
    const body = encode(Buffer.from(bodyWith(valid)));
    const got = await login(body, { 'Content-Encoding': name });
    expect([got.status, got.value('content-encoding')]).toEqual([200, name]);
    expect(got.body.equals(body)).toBe(true);
  });
});

describe('a login token of a role that is not allowed', () => {
  it.each([['plain', (body: Buffer) => body] as const, ...ENCODINGS])('is refused: %s', async (name, encode) => {
    const headers = { 'Set-Cookie': `session=${viewer}`, ETag: '"SENTINEL"', Location: '/SENTINEL' };
    const encoding = name === 'plain' ? {} : { 'Content-Encoding': name };
    const got = await login(encode(Buffer.from(bodyWith(viewer))), { ...headers, ...encoding });
    expectRefused(got, 403, 'role_not_allowed');
    expect(got.json().message).toBe('admins and users only');
  });

  it.each([201, 202, 203, 299])('is refused with status %i', async (status) => {
    expectRefused(await login(bodyWith(viewer), {}, status), 403, 'role_not_allowed');
  });

  it.each(['Admin', ' admin', ['admin'], { admin: 1 }, null, 1])('is refused with the role %j', async (role) => {
    const other = await site.issuer.token({ company_role: role });
    const got = await login(bodyWith(other));
    expectRefused(got, 403, 'role_not_allowed');
    expect(got.body.toString()).not.toContain(other);
  });
});

describe('a login response without a token is forwarded unchanged', () => {
  it.each([
    ['an MFA challenge', '{"data":{"mfa_required":true,"challenge":"abc"}}'],
    ['a token that is null', bodyWith(null)],
    ['no data', '{}'],
    ['data that is null', '{"data":null}'],
    ['data that is a string', '{"data":"access_token"}'],
    ['a list', '[{"data":{"access_token":"x"}}]'],
    ['a number', '1'],
    ['a token elsewhere', '{"access_token":"x"}'],
  ])('%s', async (_title, body) => {
    const got = await login(body);
    expect([got.status, got.body.toString(), got.value('x-upstream')]).toEqual([200, body, 'SENTINEL']);
  });

  it('an empty 204, an empty 200, and a response to HEAD', async () => {
    expect([(await login('', {}, 204)).status, (await login('', { 'Content-Length': 0 })).status]).toEqual([204, 200]);
    const got = await login('', { 'Content-Length': 999 }, 200, 'HEAD');
    expect([got.status, got.value('content-length'), got.body.length]).toEqual([200, '999', 0]);
  });

  it.each([301, 302, 303, 307, 308, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503])('status %i', async (status) => {
    for (const body of ['{"error":"wrong password"}', 'not JSON', '{"a":1', '']) {
      const got = await login(body, { Location: '/elsewhere', 'Retry-After': '9', 'WWW-Authenticate': 'X' }, status);
      expect([got.status, got.body.toString(), got.value('location')]).toEqual([status, body, '/elsewhere']);
      expect(got.value('www-authenticate')).toBe('X');
    }
  });
});

describe('a login response that cannot be checked is refused with 502', () => {
  it.each([
    ['a token that is a number', () => bodyWith(1)],
    ['a token that is zero', () => bodyWith(0)],
    ['a token that is false', () => bodyWith(false)],
    ['a token that is a list', () => bodyWith([valid])],
    ['a token that is an object', () => bodyWith({ token: valid })],
    ['an empty token', () => bodyWith('')],
    ['an opaque token', () => bodyWith('opaque')],
    ['a token with a scheme', () => bodyWith(`Bearer ${valid}`)],
    ['a token with a blank', () => bodyWith(` ${valid}`)],
    ['a token with a wrong signature', () => bodyWith(`${valid.slice(0, -6)}AAAAAA`)],
    ['a token of two parts', () => bodyWith(valid.split('.').slice(0, 2).join('.'))],
    ['duplicate names, the valid one first', () => `{"data":{"access_token":"${valid}","access_token":"${viewer}"}}`],
    ['duplicate names, the valid one last', () => `{"data":{"access_token":"${viewer}","access_token":"${valid}"}}`],
    ['duplicate names above', () => `{"data":{},"data":{"access_token":"${viewer}"}}`],
    ['an escaped duplicate name', () => `{"data":{"access_token":"${valid}","access\\u005ftoken":"${viewer}"}}`],
    ['__proto__', () => `{"__proto__":{"access_token":"${viewer}"},"data":{"access_token":"${valid}"}}`],
    ['a byte order mark', () => `\ufeff${bodyWith(valid)}`],
    ['a body that is not JSON', () => '<html>SENTINEL</html>'],
    ['JSON with trailing text', () => `${bodyWith(valid)}{}`],
    ['incomplete JSON', () => bodyWith(valid).slice(0, -1)],
    ['only white space', () => '  '],
    ['UTF-16', () => Buffer.from(bodyWith(valid), 'utf16le')],
    ['invalid UTF-8', () => Buffer.concat([Buffer.from(bodyWith(valid)), Buffer.from([0xff])])],
    ['more than the limit', () => bodyWith(valid).padEnd(65_537)],
    ['much more than the limit', () => Buffer.alloc(5 * MB, ' ')],
  ])('%s', async (_title, body) => {
    expectRefused(await login(body(), { 'Set-Cookie': 'SENTINEL=1', ETag: 'SENTINEL' }), 502, 'login_response_refused');
  });

  it('an expired token, and one of another issuer', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [{ exp: now - 60 }, { iss: 'other' }, { aud: 'other' }, { exp: undefined }]) {
      const invalid = await site.issuer.token(claims);
      const got = await login(bodyWith(invalid));
      expectRefused(got, 502, 'login_response_refused');
      expect(got.body.toString()).not.toContain(invalid);
    }
  });

  it.each([
    ['an unknown encoding', () => [Buffer.from(bodyWith(valid)), 'compress']],
    ['an encoding of two steps', () => [gzipSync(gzipSync(bodyWith(valid))), 'gzip, gzip']],
    ['constructor as the encoding', () => [Buffer.from(bodyWith(valid)), 'constructor']],
    ['a body that is not in its declared encoding', () => [Buffer.from(bodyWith(valid)), 'gzip']],
    ['corrupt gzip', () => [gzipSync(bodyWith(valid)).fill(0, 20, 40), 'gzip']],
    ['truncated gzip', () => [gzipSync(bodyWith(valid)).subarray(0, -10), 'gzip']],
    ['gzip with a wrong checksum', () => [withWrongChecksum(gzipSync(bodyWith(valid))), 'gzip']],
    ['truncated brotli', () => [brotliCompressSync(bodyWith(valid)).subarray(0, -5), 'br']],
    ['truncated zstd', () => [zstdCompressSync(bodyWith(valid)).subarray(0, -5), 'zstd']],
    ['a hidden token in undeclared gzip', () => [gzipSync(bodyWith(viewer)), 'identity']],
  ] as [string, () => [Buffer, string]][])('%s', async (_title, make) => {
    const [body, encoding] = make();
    expectRefused(await login(body, { 'Content-Encoding': encoding }), 502, 'login_response_refused');
  });

  it.each([
    ['a Content-Length over the limit', 65_537],
    ['but not a Content-Length within the limit', 65_536],
  ])('%s', async (_title, length) => {
    const body = bodyWith(valid).padEnd(length);
    const got = await login(body, { 'Content-Length': body.length });
    if (length > 65_536) expectRefused(got, 502, 'login_response_refused');
    else expect([got.status, got.body.toString()]).toEqual([200, body]);
  });

  it('a response that is cut off', async () => {
    site.respond = (_request, response) => {
      response.writeHead(200, { 'Content-Length': 500, 'X-Upstream': 'SENTINEL' });
      response.write(bodyWith(valid).slice(0, 100), () => response.destroy());
    };
    expectRefused(await sendRequest(site.port, head('POST /login HTTP/1.1')), 502, 'upstream_error');
  });
});

describe('a login response that decompresses', () => {
  let forked: ForkedGateway;

  beforeAll(async () => {
    forked = await forkGateway(manifest(ROUTES, { up: site.upstream.url, jwks: site.issuer.jwksUrl }));
  });

  afterAll(() => forked.close());

  it.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
  ])('to a hundred times its size is refused with 502 and not kept in memory (%s)', async (name, encode) => {
    const bomb = encode(Buffer.alloc(40 * MB, ' '));
    expect(bomb.length).toBeLessThan(65_536);
    site.respond = (_request, response) => response.writeHead(200, { 'Content-Encoding': name }).end(bomb);
    const before = (await forked.usage()).maxRssBytes;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => sendRequest(forked.port, head('POST /login HTTP/1.1'))),
    );
    for (const got of all) expectRefused(got, 502, 'login_response_refused');
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(60 * MB);
  });
});

it('refuses a login token with 503 while there are no keys', async () => {
  const running = await startGateway(manifest(ROUTES, { up: site.upstream.url }));
  site.respond = (_request, response) => response.end(bodyWith(valid));
  expectRefused(await sendRequest(running.port, head('POST /login HTTP/1.1')), 503, 'keys_unavailable');
  site.respond = (_request, response) => response.end('{"data":{"mfa":true}}');
  expect((await sendRequest(running.port, head('POST /login HTTP/1.1'))).status).toBe(200);
  await running.close();
});
