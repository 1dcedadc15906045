import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { head, sendRequest } from '../support/raw.ts';
import { type Site, startSite } from '../support/site.ts';

const ROUTES = `  - { id: any, method: POST, path: /any, upstream: up, access: public, body: { schema: true } }
`;
const TYPE = 'Content-Type: application/json';

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

beforeEach(() => {
  site.upstream.requests.length = 0;
});

const bytes = (...codes: number[]) => Buffer.from(codes);

/** Sends a body as bytes, which keeps invalid UTF-8 unchanged. */
async function send(body: string | Buffer) {
  const sent = Buffer.from(body as string);
  const wire = Buffer.concat([Buffer.from(head('POST /any HTTP/1.1', TYPE, `Content-Length: ${sent.length}`)), sent]);
  return { sent, got: await sendRequest(site.port, wire) };
}

/** Documents that every parser accepts (RFC 8259). */
const VALID: readonly (string | Buffer)[] = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '42',
  '""',
  '"a"',
  '[]',
  '{}',
  ' [] ',
  '\t\r\n {} \n',
  '[null,1,"1",{}]',
  '[[[]]]',
  '[ 1 , 2 ]',
  '[1\n]',
  '{"":0}',
  '{"a":[]}',
  '{"a":{"b":{"c":null}}}',
  '{"a":1,"b":2}',
  '[0.5]',
  '[-0.0]',
  '[1.25e2]',
  '[1E2]',
  '[1e+2]',
  '[1E-2]',
  '[0e1]',
  '[0e+1]',
  '[123456789012345]',
  '[1e-400]',
  '[0.00000000000000000000000000000000000000000000000000000000000001]',
  '[1.7976931348623157e308]',
  '[5e-324]',
  '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
  '["\\u0000"]',
  '["\\u001f\\u007f"]',
  '["\\uD834\\uDD1E"]',
  '["\\ud83d\\ude00"]',
  '["\\u0041\\u00e9\\u20ac"]',
  '["\\u2028\\u2029"]',
  '["\u2028\u2029"]',
  '["é€😀"]',
  '["\u007f"]',
  '["\ufeff"]',
  '["\uffff\ufdd0"]',
  '["\\uFFFE"]',
  '["/* no comment */"]',
  '["\\\\u0000"]',
  '{"\\u0000":0}',
  '{"a\\u0022b":0}',
  '{"é":1,"e\u0301":1}',
  '{"toString":1,"constructor":{},"prototype":[]}',
  '{"__proto":1,"proto__":2}',
  '{"a":{"a":{"a":0}}}',
  '[{"a":0},{"a":0}]',
  '[1,1,1]',
  `${'['.repeat(64)}${']'.repeat(64)}`,
  `${'{"a":'.repeat(64)}1${'}'.repeat(64)}`,
];

/** Documents that no parser may accept. */
const INVALID: readonly (string | Buffer)[] = [
  '',
  ' ',
  '\n',
  '[',
  ']',
  '{',
  '}',
  '[}',
  '{]',
  '[[]',
  '[]]',
  '{}}',
  '[],',
  ',[]',
  '[,]',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
  '["a" "b"]',
  '["a",\n4\n,1,',
  '[1:2]',
  '["":1]',
  '{a:1}',
  "{'a':1}",
  '{"a" 1}',
  '{"a":}',
  '{:1}',
  '{"a"}',
  '{"a":1,}',
  '{,"a":1}',
  '{"a":1,,"b":2}',
  '{"a"::1}',
  '{"a":1:2}',
  '{1:1}',
  '{null:1}',
  '{[]:1}',
  '{"a":1 "b":2}',
  '{"a":1}x',
  '{"a":1}#',
  '{"a":1}//',
  '{"a":1}/**/',
  '/**/{}',
  '[/*1*/]',
  '[1]//',
  '#',
  '[1]\n[2]',
  '{}{}',
  '1 2',
  '""""',
  'nul',
  'nulll',
  'NULL',
  'True',
  'FALSE',
  'undefined',
  'NaN',
  '-NaN',
  'Infinity',
  '-Infinity',
  '[+1]',
  '+1',
  '[.5]',
  '[5.]',
  '[-.5]',
  '[-]',
  '-',
  '--1',
  '[1-]',
  '[- 1]',
  '01',
  '-01',
  '[00]',
  '[0x1]',
  '[0b1]',
  '[0o1]',
  '[1_000]',
  '[1e]',
  '[1e+]',
  '[1E-]',
  '[1e1.5]',
  '[1.e1]',
  '[.e1]',
  '[1ee1]',
  '[1a]',
  '[1n]',
  '[1,000]',
  '[\uff11]',
  '"',
  '"a',
  'a"',
  "'a'",
  '["a]',
  '["\\"]',
  '["\\a"]',
  '["\\x41"]',
  '["\\0"]',
  '["\\\'"]',
  '["\\u"]',
  '["\\u00"]',
  '["\\u00G0"]',
  '["\\U0041"]',
  '["\\u{41}"]',
  '["\\uD834\\u"]',
  '["\\',
  '\\u0041',
  '[\\n]',
  '["\n"]',
  '["\r\n"]',
  '["\t"]',
  '["\0"]',
  '["\u001f"]',
  '["a\u0008b"]',
  '\0',
  '[\0]',
  '[]\0',
  '[\f]',
  '\v[]',
  '[\u00a0]',
  '[]\u0085',
  '[\u2060]',
  '\u2028[]',
  '[]\u3000',
  '<a/>',
  'a=b',
  '%7B%7D',
  '[1]}',
  '*',
  '@',
  '$',
  '[(1)]',
  'data:,{}',
  '...',
  '[...]',
  '['.repeat(64),
  `${'['.repeat(65)}${']'.repeat(65)}`,
  '['.repeat(100_000),
  `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`,
  '{"a":'.repeat(50_000),
  `[${'"'.repeat(99_999)}]`,
  bytes(0xff),
  bytes(0x22, 0xff, 0x22),
  bytes(0x22, 0xc0, 0x80, 0x22),
  bytes(0x22, 0xc3, 0x22),
  bytes(0x22, 0xe9, 0x22),
  bytes(0x22, 0xed, 0xa0, 0x80, 0x22),
  bytes(0x22, 0xed, 0xb0, 0x80, 0x22),
  bytes(0x22, 0xf4, 0x90, 0x80, 0x80, 0x22),
  bytes(0x22, 0xf8, 0x88, 0x80, 0x80, 0x80, 0x22),
  bytes(0x22, 0x80, 0x22),
  bytes(0x22, 0xe0, 0x80, 0xaf, 0x22),
  bytes(0x5b, 0xe5, 0x5d),
  bytes(0xfe, 0xff),
  Buffer.from('[]', 'utf16le'),
  Buffer.from('\ufeff[]', 'utf16le'),
  bytes(0, 0x5b, 0, 0x5d),
  bytes(0xef, 0xbb, 0xbf),
  bytes(0xef, 0xbb),
];

/** Documents that parsers read differently. The gateway refuses all of them. */
const AMBIGUOUS: readonly (string | Buffer)[] = [
  '\ufeff{}',
  '\ufeff[1]',
  '{"a":1,"a":1}',
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
  '{"a":{"b":1,"b":2}}',
  '[{"a":1,"b":2,"a":3}]',
  '{"":1,"":2}',
  '{"A":1,"a":1,"A":1}',
  '["\\uD800"]',
  '["\\uDC00"]',
  '["\\uDC00\\uD800"]',
  '["\\uD800\\uD800\\uDC00"]',
  '["a\\uD83D"]',
  '["\\uD83D\\u0041"]',
  '{"\\uDBFF":1}',
  '[1e400]',
  '[-1e400]',
  '[1e999999999]',
  `[1${'0'.repeat(400)}]`,
  '{"__proto__":1}',
  '{"a":{"\\u005f_proto__":{}}}',
  '[{"__proto__":null}]',
];

describe.each([
  ['a body that every parser accepts', 'forwards', VALID, 200],
  ['a body that no parser may accept', 'refuses', INVALID, 400],
  ['a body that parsers read differently', 'refuses', AMBIGUOUS, 400],
])('%s', (_title, verb, bodies, status) => {
  it.each(
    bodies.map(
      (body) => [typeof body === 'string' ? JSON.stringify(body).slice(0, 60) : body.toString('hex'), body] as const,
    ),
  )(`the gateway ${verb} %s`, async (_text, body) => {
    const { sent, got } = await send(body);
    expect(got.status).toBe(status);
    expect(site.upstream.requests.map((request) => request.body.toString('hex'))).toEqual(
      status === 200 ? [sent.toString('hex')] : [],
    );
    if (status === 400)
      expect(got.json()).toMatchObject({ code: 'body_invalid', errors: [{ pointer: expect.any(String) }] });
  });
});

it('validates a body in chunks that split characters and escapes', async () => {
  for (const [body, status] of [
    ['["é€😀\\ud83d\\ude00"]', 200],
    ['["é\\ud83d"]', 400],
  ] as const) {
    const characters = [...Buffer.from(body)].map((byte) => String.fromCharCode(byte));
    const wire =
      head('POST /any HTTP/1.1', TYPE, 'Transfer-Encoding: chunked') +
      characters.map((character) => `1\r\n${character}\r\n`).join('');
    expect((await sendRequest(site.port, Buffer.from(`${wire}0\r\n\r\n`, 'latin1'))).status).toBe(status);
  }
});
