import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chunked, head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually, type Site, startSite } from '../support/site.ts';

const ROUTES = `  - id: strict
    method: [POST, PUT, DELETE]
    path: /strict
    upstream: up
    access: public
    body:
      maxBytes: 1KB
      schema:
        type: object
        additionalProperties: false
        required: [email, subject]
        properties:
          email: { type: string, minLength: 3 }
          subject: { type: string }
          count: { type: integer, minimum: 0 }
          kind: { enum: [letter, note] }
          people:
            type: array
            items: { type: object, required: [name], properties: { name: { type: string }, 'a/b~c': { type: 'null' } } }
  - { id: loose, method: POST, path: /loose, upstream: up, access: public, body: { schema: { type: object, required: [toString], properties: { toString: { type: integer } } } } }
  - { id: limited, method: any, path: /limited, upstream: up, access: public, body: { maxBytes: 1KB } }
  - { id: private, method: POST, path: /private, upstream: up, access: protected, body: { maxBytes: 1KB } }
  - { id: open, method: any, path: /open, upstream: up, access: public }
`;
const JSON_TYPE = 'Content-Type: application/json';
const VALID = '{"email":"a@b","subject":"s"}';

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

afterEach(async () => {
  expect((await site.post('/strict', VALID, JSON_TYPE)).status).toBe(200);
  site.upstream.requests.length = 0;
});

const postChunked = (path: string, ...parts: string[]) =>
  sendRequest(site.port, head(`POST ${path} HTTP/1.1`, 'Transfer-Encoding: chunked', JSON_TYPE) + chunked(...parts));

describe('the size limit of a body', () => {
  const LIMIT = 1024;

  describe.each([
    ['of a route with a schema', '/strict', (length: number) => VALID.padEnd(length)],
    ['of a route without a schema', '/limited', (length: number) => 'a'.repeat(length)],
  ])('%s', (_title, path, make) => {
    it.each([
      [LIMIT - 1, 200],
      [LIMIT, 200],
      [LIMIT + 1, 413],
      [LIMIT * 100, 413],
    ])('applies to %i bytes with status %i, with a length and in chunks', async (length, status) => {
      const body = make(length);
      const half = Math.floor(length / 2);
      const all = [
        await site.post(path, body, JSON_TYPE),
        await postChunked(path, body),
        await postChunked(path, body.slice(0, half), body.slice(half)),
      ];
      expect(all.map((got) => got.status)).toEqual([status, status, status]);
      if (status === 200) for (const request of site.upstream.requests) expect(request.body.toString()).toBe(body);
      else {
        expect(all[0]?.json().code).toBe('body_too_large');
        expect(site.upstream.requests).toEqual([]);
      }
    });

    it('refuses a body by its length before its first byte arrives', async () => {
      const wire = await Wire.open(site.port);
      wire.write(keepAliveHead(`POST ${path} HTTP/1.1`, JSON_TYPE, 'Content-Length: 1025'));
      const got = await wire.response();
      expect([got.status, got.value('connection')]).toEqual([413, 'close']);
      wire.end();
    });

    it('refuses a body by its length before 100 Continue', async () => {
      const wire = await Wire.open(site.port);
      wire.write(keepAliveHead(`POST ${path} HTTP/1.1`, JSON_TYPE, 'Content-Length: 1025', 'Expect: 100-continue'));
      expect((await wire.message()).status).toBe(413);
      wire.end();
    });

    it('refuses a chunked body at the first byte over the limit', async () => {
      const wire = await Wire.open(site.port);
      wire.write(keepAliveHead(`POST ${path} HTTP/1.1`, JSON_TYPE, 'Transfer-Encoding: chunked'));
      wire.write(`${(1025).toString(16)}\r\n${'a'.repeat(1025)}\r\n`);
      expect((await wire.response()).status).toBe(413);
      wire.end();
    });
  });

  it('counts bytes, not characters', async () => {
    expect((await site.post('/limited', 'é'.repeat(512))).status).toBe(200);
    expect((await site.post('/limited', 'é'.repeat(513))).status).toBe(413);
  });

  it('does not exist for a route without one', async () => {
    expect((await site.post('/open', Buffer.alloc(3_000_000))).status).toBe(200);
  });
});

describe('the content type of a body', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json;',
    'application/json ; ;\t;charset=utf-8 ; ;',
    'application/json ; charset="utf-8"',
    'application/problem+json',
    'application/vnd.a.b-c+json; charset=utf-8',
  ])('may be %s', async (type) => {
    expect((await site.post('/strict', VALID, `Content-Type: ${type}`)).status).toBe(200);
  });

  it.each([
    '',
    'text/plain',
    'text/json',
    'application/xml',
    'application/jsonx',
    'application/xjson',
    'application/json5',
    'application/json-seq',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'application/json, text/plain',
    'text/plain, application/json',
    'application/json, application/json',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset=',
    "application/json; charset='utf-8'",
    'application/json; boundary=a',
    'application/json charset=utf-8',
    'application/json; charset=utf-8 charset=utf-8',
    'application / json',
    '*/*',
    'application/*',
    'json',
    'application/+json',
    '"application/json"',
  ])('is refused with 415: %j', async (type) => {
    const got = await site.post('/strict', VALID, `Content-Type: ${type}`);
    expect([got.status, got.json().code]).toEqual([415, 'media_type_unsupported']);
    expect(got.value('accept')).toBe('application/json');
    expect(site.upstream.requests).toEqual([]);
  });

  it('is refused with 415 if it is missing', async () => {
    expect((await site.post('/strict', VALID)).status).toBe(415);
    expect((await site.get('/strict')).status).toBe(405);
  });

  it('is refused with 400 if it is repeated', async () => {
    for (const second of ['application/json', 'text/plain'])
      for (const path of ['/strict', '/open'])
        expect((await site.post(path, VALID, JSON_TYPE, `content-type: ${second}`)).status).toBe(400);
    expect(site.upstream.requests).toEqual([]);
  });

  it.each(['gzip', 'identity', 'br', ''])('is refused with 415 beside Content-Encoding: %j', async (encoding) => {
    expect((await site.post('/strict', VALID, JSON_TYPE, `Content-Encoding: ${encoding}`)).status).toBe(415);
    expect(site.upstream.requests).toEqual([]);
  });

  it('is ignored by a route without a schema', async () => {
    for (const type of ['text/csv; charset=windows-1251', 'x', ''])
      expect((await site.post('/limited', 'a', `Content-Type: ${type}`, 'Content-Encoding: gzip')).status).toBe(200);
  });
});

const SECRET = 'SENTINEL';

describe('an invalid body is refused with 400 and a pointer', () => {
  it.each<[string, string | Buffer, string[]]>([
    ['a missing member', `{"email":"${SECRET}"}`, ['/subject']],
    ['two missing members', '{}', ['/email', '/subject']],
    ['a wrong type', `{"email":1,"subject":"${SECRET}"}`, ['/email']],
    ['null', `{"email":null,"subject":"${SECRET}"}`, ['/email']],
    ['a number in a string', `{"email":"abc","subject":"${SECRET}","count":"1"}`, ['/count']],
    ['a string that is too short', `{"email":"a","subject":"${SECRET}"}`, ['/email']],
    ['an unknown member', `{"email":"abc","subject":"s","${SECRET}":"${SECRET}"}`, ['']],
    ['a value that is not listed', `{"email":"abc","subject":"s","kind":"${SECRET}"}`, ['/kind']],
    ['a negative number', '{"email":"abc","subject":"s","count":-73}', ['/count']],
    ['a fraction', '{"email":"abc","subject":"s","count":1.5}', ['/count']],
    ['a nested value', `{"email":"abc","subject":"s","people":[{"name":"a"},{"name":1}]}`, ['/people/1/name']],
    ['a missing nested member', `{"email":"abc","subject":"s","people":[{}]}`, ['/people/0/name']],
    [
      'a name that the pointer escapes',
      `{"email":"abc","subject":"s","people":[{"name":"a","a/b~c":1}]}`,
      ['/people/0/a~1b~0c'],
    ],
    ['a list', `["${SECRET}"]`, ['']],
    ['a string', `"${SECRET}"`, ['']],
    ['null as the document', 'null', ['']],
    ['text that is not JSON', `{${SECRET}}`, ['']],
    ['incomplete JSON', VALID.slice(0, -1), ['']],
    ['trailing garbage', `${VALID}${SECRET}`, ['']],
    ['two documents', `${VALID}${VALID}`, ['']],
    ['a comment', `${VALID}//${SECRET}`, ['']],
    ['a trailing comma', '{"email":"abc","subject":"s",}', ['']],
    ['single quotes', "{'email':'abc','subject':'s'}", ['']],
    ['NaN', '{"email":"abc","subject":"s","count":NaN}', ['']],
    ['a number out of range', '{"email":"abc","subject":"s","count":1e400}', ['/count']],
    ['an integer beyond 2^53', '{"email":"abc","subject":"s","count":9007199254740993}', ['/count']],
    ['an integer beyond 2^53 as a power', '{"email":"abc","subject":"s","count":1e300}', ['/count']],
    ['blanks', '  \n', ['']],
    ['a byte order mark', `\ufeff${VALID}`, ['']],
    ['duplicate names', `{"email":"abc","email":"${SECRET}","subject":"s"}`, ['/email']],
    ['escaped duplicate names', `{"email":"abc","\\u0065mail":"${SECRET}","subject":"s"}`, ['/email']],
    ['nested duplicate names', `{"email":"abc","subject":"s","people":[{"name":"a","name":"b"}]}`, ['/people/0/name']],
    ['__proto__', `{"email":"abc","subject":"s","__proto__":{"a":"${SECRET}"}}`, ['/__proto__']],
    ['__proto__ with the required members', `{"__proto__":{"email":"abc","subject":"s"}}`, ['/__proto__']],
    ['a lone surrogate', '{"email":"abc","subject":"\\ud800"}', ['/subject']],
    ['Latin-1', Buffer.from(`{"email":"abc","subject":"\xe9"}`, 'latin1'), ['']],
    ['UTF-16', Buffer.from(VALID, 'utf16le'), ['']],
    ['a NUL', `${VALID}\0`, ['']],
    ['deep nesting', `{"email":"abc","subject":"s","people":${'['.repeat(80)}${']'.repeat(80)}}`, [expect.any(String)]],
  ])('%s', async (_title, body, pointers) => {
    const got = await site.post('/strict', body, JSON_TYPE);
    expect([got.status, got.value('content-type')]).toEqual([400, 'application/problem+json']);
    const problem = got.json();
    expect(problem.code).toBe('body_invalid');
    expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
    for (const { message } of problem.errors) expect(message).toMatch(/^[a-z].*[^.]$/);
    expect(got.body.toString()).not.toContain(SECRET);
    expect(site.upstream.requests).toEqual([]);
  });

  it('an empty body, in every framing', async () => {
    for (const got of [
      await site.post('/strict', '', JSON_TYPE),
      await postChunked('/strict'),
      await sendRequest(site.port, head('POST /strict HTTP/1.1', JSON_TYPE)),
    ])
      expect([got.status, got.json().errors]).toEqual([400, [{ pointer: '', message: 'must not be empty' }]]);
    expect(site.upstream.requests).toEqual([]);
  });

  it('an inherited property does not count as a member', async () => {
    expect((await site.post('/loose', '{}', JSON_TYPE)).json().errors[0].pointer).toBe('/toString');
    expect((await site.post('/loose', '{"toString":1}', JSON_TYPE)).status).toBe(200);
  });

  it('a body in chunks of one byte', async () => {
    expect((await postChunked('/strict', ...`{"email":1,"subject":"s"}`)).status).toBe(400);
    expect((await postChunked('/strict', ...VALID)).status).toBe(200);
  });
});

describe('the forwarded body', () => {
  it.each([
    ['blanks', ` \n\t{ "email" :\r\n"a@b" , "subject":"s" }\n `],
    ['escapes', '{"\\u0065mail":"\\u0061@b\\/","subject":"\\ud83d\\ude00"}'],
    ['numbers as written', '{"email":"a@b","subject":"s","count":1.0e1}'],
    ['the order of members', '{"subject":"s","kind":"note","email":"a@b"}'],
    ['characters beyond ASCII', '{"email":"ü@ё","subject":"€😀\u2028"}'],
  ])('is the validated body byte for byte: %s', async (_title, body) => {
    for (const got of [
      await site.post('/strict', body, JSON_TYPE),
      await postChunked('/strict', body.slice(0, 9), body.slice(9)),
    ])
      expect(got.status).toBe(200);
    for (const request of site.upstream.requests) expect(request.body.equals(Buffer.from(body))).toBe(true);
    expect(site.upstream.requests).toHaveLength(2);
  });

  it('has a Content-Length as its only framing', async () => {
    await postChunked('/strict', VALID);
    const names = site.upstream.requests[0]?.headers
      .filter((_, index) => index % 2 === 0)
      .map((name) => name.toLowerCase());
    expect(names).toContain('content-length');
    expect(names).not.toContain('transfer-encoding');
  });

  it('does not exist if the client disconnects during the body', async () => {
    for (const framing of ['Content-Length: 29', 'Transfer-Encoding: chunked']) {
      const lines = site.gateway.lines.length;
      const wire = await Wire.open(site.port);
      const part = framing.startsWith('C') ? VALID.slice(0, 20) : `1d\r\n${VALID}\r\n`;
      wire.write(keepAliveHead('POST /strict HTTP/1.1', JSON_TYPE, framing) + part);
      await new Promise((resolve) => setImmediate(resolve));
      wire.end();
      await eventually('the access line', () => site.gateway.lines.length > lines);
      expect(site.gateway.lines.at(-1)).toMatchObject({ path: '/strict', aborted: true });
    }
    expect(site.upstream.requests).toEqual([]);
  });

  it('does not exist if the client half-closes during the body', async () => {
    const wire = await Wire.open(site.port);
    wire.socket.end(keepAliveHead('POST /strict HTTP/1.1', JSON_TYPE, 'Content-Length: 29') + VALID.slice(0, 20));
    await wire.closed();
    expect(site.upstream.requests).toEqual([]);
  });
});

describe('a request that is refused before its body is complete', () => {
  const SMUGGLED = 'GET /open HTTP/1.1\r\nHost: gateway.test\r\n\r\n';

  it.each([
    ['401', '/private', 401],
    ['404', '/nowhere', 404],
    ['413', '/limited', 413],
    ['415', '/strict', 415],
    ['400', '/open/../x', 400],
  ])(
    'gets its %s at once, then the connection closes, and the rest of the body is never read as a request',
    async (_title, path, status) => {
      const refusedAtOnce = async (framing: string, first: string) => {
        const wire = await Wire.open(site.port);
        wire.write(keepAliveHead(`POST ${path} HTTP/1.1`, framing) + first);
        const got = await wire.response();
        expect([got.status, got.value('connection')]).toEqual([status, 'close']);
        // The body is still incomplete. A gateway that waits for it would wait for minutes.
        wire.write(SMUGGLED.repeat(10));
        await wire.closed();
        expect(wire.rest).toBe('');
      };
      await Promise.all([
        refusedAtOnce('Content-Length: 100000', ''),
        refusedAtOnce('Content-Length: 100000', SMUGGLED),
        // A chunked body violates the limit only when its bytes exceed it.
        status !== 413 && refusedAtOnce('Transfer-Encoding: chunked', `5000\r\n${SMUGGLED}${'a'.repeat(2_000)}`),
      ]);
      expect(site.upstream.requests).toEqual([]);
    },
  );

  it('gets its complete response while the client sends a large body', async () => {
    const wire = await Wire.open(site.port);
    wire.write(keepAliveHead('POST /private HTTP/1.1', 'Content-Length: 20000000'));
    wire.write(Buffer.alloc(20_000_000, SMUGGLED));
    const got = await wire.response();
    expect([got.status, got.json().code, got.isComplete]).toEqual([401, 'token_missing', true]);
    wire.end();
    expect(site.upstream.requests).toEqual([]);
  });
});
