import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, head, type RawAnswer } from '../support/raw.ts';
import { ANSWER_OK, type Site, startSite } from '../support/site.ts';

const login = (id: string, rule: string) =>
  `  - { id: ${id}, method: any, path: /${id}, upstream: up, access: public, login: ${rule} }\n`;
const ROUTES = [
  login('place', '{ token: /data/access_token }'),
  login('header', '{ header: X-Auth-Token }'),
  login('anywhere', '{}'),
].join('');
const PATHS = ['/place', '/header', '/anywhere'];
const STATUSES = [200, 201, 301, 302, 307, 400, 401, 403, 404, 422, 429, 500, 503];

let site: Site;
let user: string;
let third: string;

beforeAll(async () => {
  site = await startSite(ROUTES);
  user = await site.issuer.token({ company_role: 'user' });
  third = await site.issuer.token({ company_role: 'viewer' });
});

afterAll(() => site.close());

beforeEach(() => {
  site.respond = ANSWER_OK;
});

interface Given {
  readonly body?: string | Buffer;
  readonly headers?: OutgoingHttpHeaders;
  readonly status?: number;
  readonly reason?: string;
}

async function responseTo(path: string, given: Given | ((response: ServerResponse) => void)): Promise<RawAnswer> {
  site.respond = (_request, response) => {
    if (typeof given === 'function') return given(response);
    const { body = '{}', headers = {}, status = 200, reason = 'Fine' } = given;
    response.writeHead(status, reason, { 'Content-Type': 'application/json', 'X-Upstream': 'SENTINEL', ...headers });
    response.end(body);
  };
  return ask(site.port, head(`POST ${path} HTTP/1.1`));
}

function expectRefused(got: RawAnswer, status = 403, code = 'role_not_allowed'): void {
  expect([got.status, got.json().code]).toEqual([status, code]);
  const all = [got.line, ...got.headers.flat(), got.body.toString('latin1')].join('\n');
  for (const secret of [user, third, third.slice(20), 'SENTINEL']) expect(all).not.toContain(secret);
}

const reason = () => site.gateway.lines.at(-1)?.['reason'];
const percent = (text: string) => text.replaceAll(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`);
const unicode = (text: string) =>
  text.replaceAll(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Where a token may stand beside the place that the manifest states. */
const PLACES: [string, (token: string) => Given][] = [
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

describe.each(PATHS)('on a login route (%s)', (path) => {
  it.each(PLACES)(
    'a token of a role that is not allowed never leaves, whatever the status: %s',
    async (_what, given) => {
      for (const status of STATUSES) expectRefused(await responseTo(path, { status, ...given(third) }));
    },
  );

  it.each(PLACES)('a token of an allowed role leaves: %s', async (_what, given) => {
    for (const status of [200, 302, 401]) {
      const got = await responseTo(path, { status, ...given(user) });
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
    ['JSON with two readings', (token: string) => `{"a":"${token}","a":1}`, 'application/json'],
  ] as const)('nor in an error page that is no JSON: %s', async (_what, write, type) => {
    for (const status of [302, 401, 500]) {
      const got = await responseTo(path, { status, body: write(third), headers: { 'Content-Type': type } });
      expect([403, 502]).toContain(got.status);
      expectRefused(got, got.status, got.status === 403 ? 'role_not_allowed' : 'login_response_refused');
    }
  });

  it('nor in trailers, nor in a response before the response', async () => {
    const trailing = await responseTo(path, (response) => {
      response.writeHead(200, { Trailer: 'X-Token', 'Transfer-Encoding': 'chunked' });
      response.write('{}');
      response.addTrailers({ 'X-Token': third });
      response.end();
    });
    expect(trailing.status).toBe(200);
    const early = await responseTo(path, (response) => {
      response.writeEarlyHints({ link: '</a>', 'x-token': third });
      response.end('{}');
    });
    expect(early.status).toBe(200);
    for (const got of [trailing, early])
      expect(JSON.stringify([got.line, got.headers, got.body.toString()])).not.toContain(third.slice(20));
  });

  it.each(['utf-7', 'UTF-7', '"utf-7"', 'IBM037', 'cp500', 'iso-2022-jp', 'hz-gb-2312', 'x-user-defined'])(
    'a body in %s, by which its bytes are other characters, is 502',
    async (charset) => {
      const body = `{"token":"${third.replaceAll('.', '+AC4-')}"}`;
      for (const status of [200, 401]) {
        const headers = { 'Content-Type': `application/json; a=b;CHARSET = ${charset}` };
        expectRefused(await responseTo(path, { status, body, headers }), 502, 'login_response_refused');
        expect(reason()).toBe('login_response_charset');
      }
    },
  );

  it('a body in a usual charset leaves', async () => {
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
      expect((await responseTo(path, { status: 401, headers })).status).toBe(401);
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ] as const)('a body that is compressed though no header says so is 502: %s', async (name, compress) => {
    const bytes = compress(JSON.stringify({ token: third }));
    const zipped = { body: gzipSync(bytes), headers: { 'Content-Encoding': 'gzip' } };
    const typed = { body: bytes, headers: { 'Content-Type': `application/${name}` } };
    for (const given of [{ body: bytes }, typed, { body: bytes, headers: { 'Content-Encoding': 'identity' } }, zipped])
      for (const status of [200, 401])
        expectRefused(await responseTo(path, { status, ...given }), 502, 'login_response_refused');
    expect(reason()).toBe('login_response_encoding_undeclared');
  });

  it('a part of a response is 502', async () => {
    expectRefused(await responseTo(path, { status: 206, body: third.slice(0, 60) }), 502, 'login_response_refused');
  });

  it('so is a response with more tokens than have an honest use', async () => {
    const tokens = await Promise.all(Array.from({ length: 65 }, (_, index) => site.issuer.token({ jti: `${index}` })));
    expectRefused(await responseTo(path, { body: JSON.stringify({ tokens }) }), 502, 'login_response_refused');
    expect(reason()).toBe('login_tokens_too_many');
  });
});

/** A stream with a token in clear text where decoders pass over it. */
const commented = (token: string) => {
  const plain = gzipSync('{}');
  plain[3] = 0x10;
  return Buffer.concat([plain.subarray(0, 10), Buffer.from(`${token}\0`), plain.subarray(10)]);
};
const SKIPPABLE = (text: string) => {
  const frame = Buffer.alloc(8);
  frame.writeUInt32LE(0x184d2a50, 0);
  frame.writeUInt32LE(text.length, 4);
  return Buffer.concat([frame, Buffer.from(text)]);
};

describe('an encoded response that has bytes beside its one stream', () => {
  const body = Buffer.from('{"data":{"mfa":true}}');
  const ENCODERS: [string, (bytes: Buffer) => Buffer][] = [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ];
  const BEHIND: [string, (encode: (bytes: Buffer) => Buffer) => Buffer][] = [
    ['a token', () => Buffer.from(third)],
    ['one byte', () => Buffer.from('x')],
    ['a zero', () => Buffer.alloc(1)],
    ['a line', () => Buffer.from('\r\n')],
    ['a second stream', (encode) => encode(Buffer.from(JSON.stringify({ token: third })))],
    ['a second stream of white space', (encode) => encode(Buffer.from('  '))],
    ['an empty stream', (encode) => encode(Buffer.alloc(0))],
  ];

  it.each(ENCODERS.flatMap(([name, encode]) => BEHIND.map(([what, behind]) => [name, what, encode, behind] as const)))(
    '%s with %s behind it is 502',
    async (name, _what, encode, behind) => {
      for (const path of PATHS)
        for (const status of [200, 401]) {
          const bytes = Buffer.concat([encode(body), behind(encode)]);
          const got = await responseTo(path, { status, body: bytes, headers: { 'Content-Encoding': name } });
          expectRefused(got, 502, 'login_response_refused');
        }
    },
  );

  it.each([
    ['zstd', 'a skippable frame before it', () => Buffer.concat([SKIPPABLE('a'), zstdCompressSync(body)])],
    ['zstd', 'a skippable frame behind it', () => Buffer.concat([zstdCompressSync(body), SKIPPABLE(third)])],
    ['gzip', 'another encoding around it', () => gzipSync(gzipSync(body))],
    ['gzip, gzip', 'twice', () => gzipSync(gzipSync(body))],
    ['identity, gzip', 'a list', () => gzipSync(body)],
    ['compress', 'an unknown encoding', () => body],
  ])('%s with %s is 502', async (name, _what, make) => {
    for (const path of ['/place', '/anywhere']) {
      const got = await responseTo(path, { body: make(), headers: { 'Content-Encoding': name } });
      expectRefused(got, 502, 'login_response_refused');
    }
  });

  it('a token in clear text in the head of gzip does not leave', async () => {
    for (const path of PATHS)
      expectRefused(await responseTo(path, { body: commented(third), headers: { 'Content-Encoding': 'gzip' } }));
    const got = await responseTo('/place', { body: commented('hello'), headers: { 'Content-Encoding': 'gzip' } });
    expect(got.status).toBe(200);
  });

  it.each(ENCODERS)('one stream of %s leaves, small and large', async (name, encode) => {
    for (const size of [0, 300, 70_000, 300_000]) {
      const text = JSON.stringify({ filler: 'ab'.repeat(size / 2), random: Buffer.alloc(size / 10, size).toString() });
      const got = await responseTo('/place', {
        body: encode(Buffer.from(text)),
        headers: { 'Content-Encoding': name },
      });
      expect(got.status).toBe(200);
    }
  });
});

describe('a JWT that the gateway would never accept', () => {
  it('passes beside the stated place, and not where every one must verify', async () => {
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
      expect((await responseTo('/place', { body })).status).toBe(200);
      expect((await responseTo('/place', { body, status: 401 })).status).toBe(401);
      expectRefused(await responseTo('/anywhere', { body }), 502, 'login_response_refused');
    }
  });

  it('but not one that may be accepted later, or that hides a good one', async () => {
    const now = Math.floor(Date.now() / 1000);
    const others = [
      await site.issuer.token({ nbf: now + 600, company_role: 'viewer' }),
      `${third}A`,
      `${third}_end`,
      await site.issuer.token({ company_role: 'viewer' }, { kid: 'of tomorrow' }),
    ];
    for (const other of others) {
      const body = JSON.stringify({ data: { access_token: user, id_token: other } });
      expectRefused(await responseTo('/place', { body }), 502, 'login_response_refused');
    }
  });
});

it('JSON with two readings in an error could have a token at its place: 502', async () => {
  for (const body of [`{"data":{"access_token":"opaque"},"data":{}}`, '{"a":1,"a":2}', '\ufeff{"data":{}}'])
    expectRefused(await responseTo('/place', { status: 401, body }), 502, 'login_response_refused');
});

it('a token at its place is looked at whatever the status', async () => {
  const body = (token: string) => JSON.stringify({ data: { access_token: token } });
  for (const status of STATUSES) {
    expectRefused(await responseTo('/place', { status, body: body(third) }));
    expectRefused(await responseTo('/place', { status, body: body('opaque') }), 502, 'login_response_refused');
    expect((await responseTo('/place', { status, body: body(user) })).status).toBe(status);
  }
});
