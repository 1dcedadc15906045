import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RawResponse } from '../support/raw.ts';
import { RESPOND_OK } from '../support/site.ts';
import { LOGIN_PATHS, type LoginResponse, type LoginSite, startLoginSite } from './login-site.ts';

const STATUSES = [200, 201, 301, 302, 307, 400, 401, 403, 404, 422, 429, 500, 503];

let site: LoginSite;
let user: string;
let viewer: string;

beforeAll(async () => {
  site = await startLoginSite();
  ({ user, viewer } = site);
});

afterAll(() => site.close());

beforeEach(() => {
  site.respond = RESPOND_OK;
});

function expectRefused(got: RawResponse, status = 403, code = 'role_not_allowed'): void {
  expect([got.status, got.json().code]).toEqual([status, code]);
  const all = [got.line, ...got.headers.flat(), got.body.toString('latin1')].join('\n');
  for (const secret of [user, viewer, viewer.slice(20), 'SENTINEL']) expect(all).not.toContain(secret);
}

const reason = () => site.gateway.lines.at(-1)?.['reason'];
const percent = (text: string) => text.replaceAll(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`);
const unicode = (text: string) =>
  text.replaceAll(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Locations of a token other than the configured location. */
const LOCATIONS: [string, (token: string) => LoginResponse][] = [
  ['a member of JSON', (token) => ({ body: JSON.stringify({ debug: { token } }) })],
  ['behind a prefix', (token) => ({ body: JSON.stringify({ debug: `token_${token}` }) })],
  ['behind other characters of base64url', (token) => ({ body: JSON.stringify({ debug: `xx${token}` }) })],
  ['escaped', (token) => ({ body: `{"debug":"${unicode(token)}"}` })],
  ['escaped in JSON in JSON', (token) => ({ body: JSON.stringify({ debug: `{"t":"\\u0065${token.slice(1)}"}` }) })],
  ['percent-encoded', (token) => ({ body: JSON.stringify({ url: `/#access_token=${percent(token)}` }) })],
  ['a redirect', (token) => ({ headers: { Location: `https://app.example/#access_token=${token}&state=1` } })],
  ['an encoded redirect', (token) => ({ headers: { Location: `https://app.example/?r=${percent(`#t=${token}`)}` } })],
  ['a cookie', (token) => ({ headers: { 'Set-Cookie': ['a=b', `session=${token}; HttpOnly`] } })],
  ['a cookie with a prefix', (token) => ({ headers: { 'Set-Cookie': `session=s%3Atoken_${token}` } })],
  ['Authorization', (token) => ({ headers: { Authorization: `Bearer ${token}` } })],
  ['a header of its own', (token) => ({ headers: { 'X-Token': token } })],
  ['Refresh', (token) => ({ headers: { Refresh: `0; url=/done#token=${token}` } })],
  ['Link', (token) => ({ headers: { Link: `</me?access_token=${token}>; rel=next` } })],
  ['the name of a header', (token) => ({ headers: { [`X-${token}`]: 'a' } })],
  ['the reason phrase', (token) => ({ reason: token })],
  ['gzip', (token) => ({ body: gzipSync(JSON.stringify({ token })), headers: { 'Content-Encoding': 'gzip' } })],
];

describe.each(LOGIN_PATHS)('a login route (%s)', (path) => {
  it.each(LOCATIONS)(
    'never forwards a token of a role that is not allowed, with any status: %s',
    async (_title, loginResponse) => {
      for (const status of STATUSES) expectRefused(await site.login(path, { status, ...loginResponse(viewer) }));
    },
  );

  it.each(LOCATIONS)('forwards a token of an allowed role: %s', async (_title, loginResponse) => {
    for (const status of [200, 302, 401]) {
      const got = await site.login(path, { status, ...loginResponse(user) });
      expect([got.status, got.value('x-upstream')]).toEqual([status, 'SENTINEL']);
    }
  });

  it.each([
    ['HTML', (token: string) => `<script>location = "/#t=${token}"</script>`, 'text/html'],
    ['entities of HTML', (token: string) => `<p>${token.replaceAll('.', '&#46;')}</p>`, 'text/html'],
    ['a form', (token: string) => `access_token=${token}&token_type=bearer`, 'application/x-www-form-urlencoded'],
    ['events', (token: string) => `data: {"token":"${token}"}\n\n`, 'text/event-stream'],
    ['parts', (token: string) => `--b\r\n\r\n${token}\r\n--b--\r\n`, 'multipart/mixed; boundary=b'],
    ['UTF-16', (token: string) => Buffer.from(`{"token":"${token}"}`, 'utf16le'), 'application/json; charset=utf-16'],
    ['ambiguous JSON', (token: string) => `{"a":"${token}","a":1}`, 'application/json'],
  ] as const)(
    'never forwards a token that is not allowed in an error page that is not JSON: %s',
    async (_title, write, type) => {
      for (const status of [302, 401, 500]) {
        const got = await site.login(path, { status, body: write(viewer), headers: { 'Content-Type': type } });
        expect([403, 502]).toContain(got.status);
        expectRefused(got, got.status, got.status === 403 ? 'role_not_allowed' : 'login_response_refused');
      }
    },
  );

  it('never forwards a token that is not allowed in trailers or an informational response', async () => {
    const trailing = await site.login(path, (response) => {
      response.writeHead(200, { Trailer: 'X-Token', 'Transfer-Encoding': 'chunked' });
      response.write('{}');
      response.addTrailers({ 'X-Token': viewer });
      response.end();
    });
    expect(trailing.status).toBe(200);
    const early = await site.login(path, (response) => {
      response.writeEarlyHints({ link: '</a>', 'x-token': viewer });
      response.end('{}');
    });
    expect(early.status).toBe(200);
    for (const got of [trailing, early])
      expect(JSON.stringify([got.line, got.headers, got.body.toString()])).not.toContain(viewer.slice(20));
  });

  it.each(['utf-7', 'UTF-7', '"utf-7"', 'IBM037', 'cp500', 'iso-2022-jp', 'hz-gb-2312', 'x-user-defined'])(
    'refuses a body in the charset %s with 502',
    async (charset) => {
      const body = `{"token":"${viewer.replaceAll('.', '+AC4-')}"}`;
      for (const status of [200, 401]) {
        const headers = { 'Content-Type': `application/json; a=b;CHARSET = ${charset}` };
        expectRefused(await site.login(path, { status, body, headers }), 502, 'login_response_refused');
        expect(reason()).toBe('login_response_charset');
      }
    },
  );

  it('forwards a body in a common charset', async () => {
    for (const charset of [
      'utf-8',
      'UTF8',
      '"utf-8"',
      'us-ascii',
      'ISO-8859-1',
      'windows-1252',
      'Shift_JIS',
      'utf-16le',
      '',
    ]) {
      const headers = { 'Content-Type': `application/json; charset=${charset}` };
      expect((await site.login(path, { status: 401, headers })).status).toBe(401);
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ] as const)('refuses a body that is compressed without Content-Encoding with 502: %s', async (name, compress) => {
    const bytes = compress(JSON.stringify({ token: viewer }));
    const zipped = { body: gzipSync(bytes), headers: { 'Content-Encoding': 'gzip' } };
    const typed = { body: bytes, headers: { 'Content-Type': `application/${name}` } };
    for (const loginResponse of [
      { body: bytes },
      typed,
      { body: bytes, headers: { 'Content-Encoding': 'identity' } },
      zipped,
    ])
      for (const status of [200, 401])
        expectRefused(await site.login(path, { status, ...loginResponse }), 502, 'login_response_refused');
    expect(reason()).toBe('login_response_encoding_undeclared');
  });

  it('refuses a partial response with 502', async () => {
    expectRefused(await site.login(path, { status: 206, body: viewer.slice(0, 60) }), 502, 'login_response_refused');
  });

  it('refuses a response with too many tokens with 502', async () => {
    const tokens = await Promise.all(Array.from({ length: 65 }, (_, index) => site.issuer.token({ jti: `${index}` })));
    expectRefused(await site.login(path, { body: JSON.stringify({ tokens }) }), 502, 'login_response_refused');
    expect(reason()).toBe('login_tokens_too_many');
  });
});

/** Returns a gzip stream with a token in a comment, which decoders skip. */
const gzipWithComment = (token: string) => {
  const plain = gzipSync('{}');
  plain[3] = 0x10;
  return Buffer.concat([plain.subarray(0, 10), Buffer.from(`${token}\0`), plain.subarray(10)]);
};
/** Returns a zstd frame that decoders skip. */
const skippableFrame = (text: string) => {
  const frame = Buffer.alloc(8);
  frame.writeUInt32LE(0x184d2a50, 0);
  frame.writeUInt32LE(text.length, 4);
  return Buffer.concat([frame, Buffer.from(text)]);
};

describe('an encoded response with bytes outside its stream', () => {
  const body = Buffer.from('{"data":{"mfa":true}}');
  const ENCODERS: [string, (bytes: Buffer) => Buffer][] = [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ];
  const TRAILING: [string, (encode: (bytes: Buffer) => Buffer) => Buffer][] = [
    ['a token', () => Buffer.from(viewer)],
    ['one byte', () => Buffer.from('x')],
    ['a zero', () => Buffer.alloc(1)],
    ['a line', () => Buffer.from('\r\n')],
    ['a second stream', (encode) => encode(Buffer.from(JSON.stringify({ token: viewer })))],
    ['a second stream of white space', (encode) => encode(Buffer.from('  '))],
    ['an empty stream', (encode) => encode(Buffer.alloc(0))],
  ];

  it.each(
    ENCODERS.flatMap(([name, encode]) => TRAILING.map(([title, append]) => [name, title, encode, append] as const)),
  )('is refused with 502: %s before %s', async (name, _title, encode, append) => {
    for (const path of LOGIN_PATHS)
      for (const status of [200, 401]) {
        const bytes = Buffer.concat([encode(body), append(encode)]);
        const got = await site.login(path, { status, body: bytes, headers: { 'Content-Encoding': name } });
        expectRefused(got, 502, 'login_response_refused');
      }
  });

  it.each([
    ['zstd', 'a skippable frame before it', () => Buffer.concat([skippableFrame('a'), zstdCompressSync(body)])],
    ['zstd', 'a skippable frame behind it', () => Buffer.concat([zstdCompressSync(body), skippableFrame(viewer)])],
    ['gzip', 'another encoding around it', () => gzipSync(gzipSync(body))],
    ['gzip, gzip', 'twice', () => gzipSync(gzipSync(body))],
    ['identity, gzip', 'a list', () => gzipSync(body)],
    ['compress', 'an unknown encoding', () => body],
  ])('is refused with 502: %s with %s', async (name, _title, make) => {
    for (const path of ['/pointer', '/anywhere']) {
      const got = await site.login(path, { body: make(), headers: { 'Content-Encoding': name } });
      expectRefused(got, 502, 'login_response_refused');
    }
  });

  it('is refused with 403 for a token in the header of a gzip stream', async () => {
    for (const path of LOGIN_PATHS)
      expectRefused(await site.login(path, { body: gzipWithComment(viewer), headers: { 'Content-Encoding': 'gzip' } }));
    const got = await site.login('/pointer', {
      body: gzipWithComment('hello'),
      headers: { 'Content-Encoding': 'gzip' },
    });
    expect(got.status).toBe(200);
  });

  it.each(ENCODERS)('is forwarded if it is one stream of %s, small or large', async (name, encode) => {
    for (const size of [0, 300, 70_000, 300_000]) {
      const text = JSON.stringify({ filler: 'ab'.repeat(size / 2), random: Buffer.alloc(size / 10, size).toString() });
      const got = await site.login('/pointer', {
        body: encode(Buffer.from(text)),
        headers: { 'Content-Encoding': name },
      });
      expect(got.status).toBe(200);
    }
  });
});

describe('a JWT that the gateway does not accept', () => {
  it('is forwarded outside the configured location, but not on a route where every token must verify', async () => {
    const now = Math.floor(Date.now() / 1000);
    const others = [
      await site.issuer.token({ aud: 'an-app', company_role: 'viewer' }),
      await site.issuer.token({ iss: 'https://other.test' }),
      await site.issuer.token({ exp: now - 600, company_role: 'viewer' }),
      `${Buffer.from('{"alg":"RSA-OAEP","enc":"A256GCM"}').toString('base64url')}.a2V5.aXY.Y2lwaGVy.dGFn`,
      `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${Buffer.from('{"sub":"a"}').toString('base64url')}.c2ln`,
    ];
    for (const other of others) {
      const body = JSON.stringify({ data: { access_token: user, id_token: other } });
      expect((await site.login('/pointer', { body })).status).toBe(200);
      expect((await site.login('/pointer', { body, status: 401 })).status).toBe(401);
      expectRefused(await site.login('/anywhere', { body }), 502, 'login_response_refused');
    }
  });

  it('is not forwarded if it could become valid or contains a valid token', async () => {
    const now = Math.floor(Date.now() / 1000);
    const others = [
      await site.issuer.token({ nbf: now + 600, company_role: 'viewer' }),
      `${viewer}A`,
      `${viewer}_end`,
      await site.issuer.token({ company_role: 'viewer' }, { kid: 'of tomorrow' }),
    ];
    for (const other of others) {
      const body = JSON.stringify({ data: { access_token: user, id_token: other } });
      expectRefused(await site.login('/pointer', { body }), 502, 'login_response_refused');
    }
  });
});

it('refuses ambiguous JSON in an error response with 502, because it could contain a token', async () => {
  for (const body of [`{"data":{"access_token":"opaque"},"data":{}}`, '{"a":1,"a":2}', '\ufeff{"data":{}}'])
    expectRefused(await site.login('/pointer', { status: 401, body }), 502, 'login_response_refused');
});

it('checks a token at its configured location with any status', async () => {
  const body = (token: string) => JSON.stringify({ data: { access_token: token } });
  for (const status of STATUSES) {
    expectRefused(await site.login('/pointer', { status, body: body(viewer) }));
    expectRefused(await site.login('/pointer', { status, body: body('opaque') }), 502, 'login_response_refused');
    expect((await site.login('/pointer', { status, body: body(user) })).status).toBe(status);
  }
});
