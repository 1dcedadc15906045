import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Forked, forkGateway } from '../support/forked.ts';
import { manifest, startGateway } from '../support/gateway.ts';
import { ask, head, type RawAnswer } from '../support/raw.ts';
import { ANSWER_OK, type Site, startSite } from '../support/site.ts';

const MB = 1024 * 1024;
const ROUTES = `  - { id: login, method: any, path: /login, upstream: up, access: public, login: { token: /data/access_token, maxBytes: 64KB } }
  - { id: all, method: any, path: /all/**, upstream: up, access: public }
`;

let site: Site;
let good: string;
let third: string;

beforeAll(async () => {
  site = await startSite(ROUTES);
  good = await site.issuer.token({ company_role: 'admin' });
  third = await site.issuer.token({ company_role: 'viewer' });
});

afterAll(() => site.close());

afterEach(async () => {
  site.respond = ANSWER_OK;
  expect((await site.get('/all/next')).status).toBe(200);
  site.upstream.requests.length = 0;
});

/** What the upstream answers to the next login, and what comes of it. */
async function login(body: string | Buffer, headers: OutgoingHttpHeaders = {}, status = 200, method = 'POST') {
  site.respond = (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Upstream': 'SENTINEL', ...headers });
    response.end(body);
  };
  return ask(site.port, head(`${method} /login HTTP/1.1`));
}

function expectRefused(got: RawAnswer, status: number, code: string): void {
  expect([got.status, got.json().code]).toEqual([status, code]);
  expect(got.value('content-type')).toBe('application/problem+json');
  expect(got.value('content-length')).toBe(String(got.body.length));
  for (const name of ['x-upstream', 'content-encoding', 'set-cookie', 'etag', 'transfer-encoding', 'location'])
    expect(got.values(name)).toEqual([]);
  const all = [got.line, ...got.headers.flat(), got.body.toString('latin1')].join('\n');
  for (const secret of [good, third, 'SENTINEL']) expect(all).not.toContain(secret);
}

const answerWith = (token: unknown) => JSON.stringify({ data: { access_token: token, other: 'SENTINEL' } });

/** The last eight bytes of gzip are a sum of the content and its length. */
function withWrongSum(body: Buffer): Buffer {
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

describe('a token of an allowed role', () => {
  it('is let out as it came: status, reason, headers, bytes', async () => {
    const body = ` {\n"data" : {"access_token":"${good}", "\\u0061":1e2 }  }\n`;
    const cookies = ['a=1; HttpOnly', 'b=2'];
    for (const framing of [{ 'Content-Length': body.length }, {}]) {
      const got = await login(body, { 'Set-Cookie': cookies, ETag: '"x"', ...framing }, 201);
      expect([got.status, got.body.toString(), got.value('x-upstream')]).toEqual([201, body, 'SENTINEL']);
      expect(got.values('set-cookie')).toEqual(cookies);
      expect(got.values('content-length').length + got.values('transfer-encoding').length).toBe(1);
    }
  });

  it('is let out where the answer ends with the connection', async () => {
    const got = await login(answerWith(good), { Connection: 'close' });
    expect([got.status, got.body.toString(), got.isWhole]).toEqual([200, answerWith(good), true]);
  });

  it.each(ENCODINGS)('is let out encoded as it came: %s', async (name, encode) => {
    const body = encode(Buffer.from(answerWith(good)));
    const got = await login(body, { 'Content-Encoding': name });
    expect([got.status, got.value('content-encoding')]).toEqual([200, name]);
    expect(got.body.equals(body)).toBe(true);
  });
});

describe('a token of a third role', () => {
  it.each([['plain', (body: Buffer) => body] as const, ...ENCODINGS])('is not let out: %s', async (name, encode) => {
    const headers = { 'Set-Cookie': `session=${third}`, ETag: '"SENTINEL"', Location: '/SENTINEL' };
    const encoding = name === 'plain' ? {} : { 'Content-Encoding': name };
    const got = await login(encode(Buffer.from(answerWith(third))), { ...headers, ...encoding });
    expectRefused(got, 403, 'role_not_allowed');
    expect(got.json().message).toBe('admins and users only');
  });

  it.each([201, 202, 203, 299])('is not let out with %i', async (status) => {
    expectRefused(await login(answerWith(third), {}, status), 403, 'role_not_allowed');
  });

  it.each(['Admin', ' admin', ['admin'], { admin: 1 }, null, 1])('is not let out with the role %j', async (role) => {
    const other = await site.issuer.token({ company_role: role });
    const got = await login(answerWith(other));
    expectRefused(got, 403, 'role_not_allowed');
    expect(got.body.toString()).not.toContain(other);
  });
});

describe('an answer without a token passes unchanged', () => {
  it.each([
    ['an MFA challenge', '{"data":{"mfa_required":true,"challenge":"abc"}}'],
    ['a token that is null', answerWith(null)],
    ['no data', '{}'],
    ['data that is null', '{"data":null}'],
    ['data that is a string', '{"data":"access_token"}'],
    ['a list', '[{"data":{"access_token":"x"}}]'],
    ['a number', '1'],
    ['a token elsewhere', '{"access_token":"x"}'],
  ])('%s', async (_what, body) => {
    const got = await login(body);
    expect([got.status, got.body.toString(), got.value('x-upstream')]).toEqual([200, body, 'SENTINEL']);
  });

  it('an empty 204, an empty 200, and the answer to HEAD', async () => {
    expect([(await login('', {}, 204)).status, (await login('', { 'Content-Length': 0 })).status]).toEqual([204, 200]);
    const got = await login('', { 'Content-Length': 999 }, 200, 'HEAD');
    expect([got.status, got.value('content-length'), got.body.length]).toEqual([200, '999', 0]);
  });

  it.each([301, 302, 303, 307, 308, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503])('%i', async (status) => {
    for (const body of ['{"error":"wrong password"}', 'no JSON', '{"a":1', '']) {
      const got = await login(body, { Location: '/elsewhere', 'Retry-After': '9', 'WWW-Authenticate': 'X' }, status);
      expect([got.status, got.body.toString(), got.value('location')]).toEqual([status, body, '/elsewhere']);
      expect(got.value('www-authenticate')).toBe('X');
    }
  });
});

describe('an answer that cannot be checked is 502', () => {
  it.each([
    ['a token that is a number', () => answerWith(1)],
    ['a token that is zero', () => answerWith(0)],
    ['a token that is false', () => answerWith(false)],
    ['a token that is a list', () => answerWith([good])],
    ['a token that is an object', () => answerWith({ token: good })],
    ['an empty token', () => answerWith('')],
    ['a token that is none', () => answerWith('opaque')],
    ['a token with a scheme', () => answerWith(`Bearer ${good}`)],
    ['a token with a blank', () => answerWith(` ${good}`)],
    ['a token with a signature that is wrong', () => answerWith(`${good.slice(0, -6)}AAAAAA`)],
    ['a token of two parts', () => answerWith(good.split('.').slice(0, 2).join('.'))],
    ['duplicate names, the good one first', () => `{"data":{"access_token":"${good}","access_token":"${third}"}}`],
    ['duplicate names, the good one last', () => `{"data":{"access_token":"${third}","access_token":"${good}"}}`],
    ['duplicate names above', () => `{"data":{},"data":{"access_token":"${third}"}}`],
    ['an escaped duplicate name', () => `{"data":{"access_token":"${good}","access\\u005ftoken":"${third}"}}`],
    ['__proto__', () => `{"__proto__":{"access_token":"${third}"},"data":{"access_token":"${good}"}}`],
    ['a byte order mark', () => `\ufeff${answerWith(good)}`],
    ['no JSON', () => '<html>SENTINEL</html>'],
    ['JSON and more', () => `${answerWith(good)}{}`],
    ['half of JSON', () => answerWith(good).slice(0, -1)],
    ['blanks alone', () => '  '],
    ['UTF-16', () => Buffer.from(answerWith(good), 'utf16le')],
    ['bytes that are no UTF-8', () => Buffer.concat([Buffer.from(answerWith(good)), Buffer.from([0xff])])],
    ['more than the limit', () => answerWith(good).padEnd(65_537)],
    ['much more than the limit', () => Buffer.alloc(5 * MB, ' ')],
  ])('%s', async (_what, body) => {
    expectRefused(await login(body(), { 'Set-Cookie': 'SENTINEL=1', ETag: 'SENTINEL' }), 502, 'login_response_refused');
  });

  it('an expired token, and one of another issuer', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [{ exp: now - 60 }, { iss: 'other' }, { aud: 'other' }, { exp: undefined }]) {
      const bad = await site.issuer.token(claims);
      const got = await login(answerWith(bad));
      expectRefused(got, 502, 'login_response_refused');
      expect(got.body.toString()).not.toContain(bad);
    }
  });

  it.each([
    ['an unknown encoding', () => [Buffer.from(answerWith(good)), 'compress']],
    ['an encoding of two steps', () => [gzipSync(gzipSync(answerWith(good))), 'gzip, gzip']],
    ['an encoding that is a name of every object', () => [Buffer.from(answerWith(good)), 'constructor']],
    ['an encoding that is not what it says', () => [Buffer.from(answerWith(good)), 'gzip']],
    ['gzip that is broken', () => [gzipSync(answerWith(good)).fill(0, 20, 40), 'gzip']],
    ['gzip that is cut', () => [gzipSync(answerWith(good)).subarray(0, -10), 'gzip']],
    ['gzip of a wrong sum', () => [withWrongSum(gzipSync(answerWith(good))), 'gzip']],
    ['brotli that is cut', () => [brotliCompressSync(answerWith(good)).subarray(0, -5), 'br']],
    ['zstd that is cut', () => [zstdCompressSync(answerWith(good)).subarray(0, -5), 'zstd']],
    ['a third role hidden behind plain bytes', () => [gzipSync(answerWith(third)), 'identity']],
  ] as [string, () => [Buffer, string]][])('%s', async (_what, make) => {
    const [body, encoding] = make();
    expectRefused(await login(body, { 'Content-Encoding': encoding }), 502, 'login_response_refused');
  });

  it.each([
    ['over the limit, stated', 65_537],
    ['within the limit', 65_536],
  ])('%s', async (_what, length) => {
    const body = answerWith(good).padEnd(length);
    const got = await login(body, { 'Content-Length': body.length });
    if (length > 65_536) expectRefused(got, 502, 'login_response_refused');
    else expect([got.status, got.body.toString()]).toEqual([200, body]);
  });

  it('an answer that breaks off', async () => {
    site.respond = (_request, response) => {
      response.writeHead(200, { 'Content-Length': 500, 'X-Upstream': 'SENTINEL' });
      response.write(answerWith(good).slice(0, 100), () => response.destroy());
    };
    expectRefused(await ask(site.port, head('POST /login HTTP/1.1')), 502, 'upstream_error');
  });
});

describe('an answer that would grow', () => {
  let forked: Forked;

  beforeAll(async () => {
    forked = await forkGateway(manifest(ROUTES, { up: site.upstream.url, jwks: site.issuer.jwksUrl }));
  });

  afterAll(() => forked.close());

  it.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
  ])('a hundredfold (%s) is 502 and costs no memory', async (name, encode) => {
    const bomb = encode(Buffer.alloc(40 * MB, ' '));
    expect(bomb.length).toBeLessThan(65_536);
    site.respond = (_request, response) => response.writeHead(200, { 'Content-Encoding': name }).end(bomb);
    const before = (await forked.usage()).maxRssBytes;
    const all = await Promise.all(Array.from({ length: 8 }, () => ask(forked.port, head('POST /login HTTP/1.1'))));
    for (const got of all) expectRefused(got, 502, 'login_response_refused');
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(60 * MB);
  });
});

it('without any keys a token is not let out: 503', async () => {
  const running = await startGateway(manifest(ROUTES, { up: site.upstream.url }));
  site.respond = (_request, response) => response.end(answerWith(good));
  expectRefused(await ask(running.port, head('POST /login HTTP/1.1')), 503, 'keys_unavailable');
  site.respond = (_request, response) => response.end('{"data":{"mfa":true}}');
  expect((await ask(running.port, head('POST /login HTTP/1.1'))).status).toBe(200);
  await running.close();
});
