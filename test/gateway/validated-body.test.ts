import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { chunked, head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const MB = 1024 * 1024;
const FORM =
  'multipart: { parts: { file: { types: [application/pdf], maxBytes: 3MB, required: true }, note: { maxBytes: 5B, maxCount: 2 } } }';
const ROUTES = `  - { id: form, method: [GET, POST], path: /form, upstream: up, access: public, body: { maxBytes: 4MB, ${FORM} } }
  - { id: csv, method: POST, path: /csv, upstream: up, access: public, body: { csv: { header: [name, email] } } }
  - { id: both, method: POST, path: /both, upstream: up, access: public, body: { types: [text/csv, multipart/form-data, application/pdf], ${FORM}, csv: { header: [name, email], delimiter: ';' } } }
  - { id: reported, method: POST, path: /reported, upstream: up, access: public, validation: report, body: { maxBytes: 4MB, ${FORM} } }
`;

let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

beforeEach(() => {
  upstream.messages.length = 0;
});

afterEach(async () => {
  upstream.messages.length = 0;
  expect((await post('/csv', 'text/csv', 'name,email\n')).status).toBe(200);
  expect(upstream.messages.map(({ body }) => body.toString())).toEqual(['name,email\n']);
});

const TYPE = 'multipart/form-data; boundary=X-YZ';
const part = (name: string, type: string, body: string) =>
  `--X-YZ\r\nContent-Disposition: form-data; name="${name}"; filename="f"\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
const END = '--X-YZ--\r\n';
const FILE = part('file', 'application/pdf', 'pdf');

const post = (path: string, type: string, body: string) =>
  sendRequest(
    gateway.port,
    head(`POST ${path} HTTP/1.1`, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`) + body,
  );
const postChunked = (path: string, type: string, ...chunks: string[]) =>
  sendRequest(
    gateway.port,
    head(`POST ${path} HTTP/1.1`, `Content-Type: ${type}`, 'Transfer-Encoding: chunked') + chunked(...chunks),
  );

describe('a valid body', () => {
  it.each([
    ['/form', TYPE, FILE + END],
    ['/form', TYPE, part('note', 'text/plain', 'a') + FILE + part('note', 'text/plain', 'b') + END],
    ['/form', TYPE, part('file', 'application/pdf', 'x\r\n--X-Y'.repeat(200_000)) + END],
    ['/csv', 'text/csv; charset=utf-8', `name,email\n${'Eva,eva@partner.example\n'.repeat(20_000)}`],
    ['/both', TYPE, FILE + END],
    ['/both', 'text/csv', 'name;email\n'],
    ['/both', 'application/pdf', 'neither of them'],
  ])('is forwarded byte for byte in both framings: %s', async (path, type, body) => {
    const half = Math.floor(body.length / 2);
    expect((await post(path, type, body)).status).toBe(200);
    expect((await postChunked(path, type, body.slice(0, half), body.slice(half))).status).toBe(200);
    expect((await postChunked(path, type, ...body.slice(0, 300), body.slice(300))).status).toBe(200);
    expect(upstream.messages).toHaveLength(3);
    for (const message of upstream.messages) expect(message.body.toString() === body).toBe(true);
  });
});

describe('an invalid body', () => {
  it.each<[string, string, string, string, string]>([
    ['an unknown part', '/form', TYPE, FILE + part('other', 'text/plain', 'a') + END, ''],
    ['a part missing', '/form', TYPE, part('note', 'text/plain', 'a') + END, '/file'],
    ['another type', '/form', TYPE, part('file', 'text/html', 'a') + END, '/file'],
    ['too many parts', '/form', TYPE, part('note', 'a/b', 'a').repeat(3) + FILE + END, '/note'],
    ['a part too long', '/form', TYPE, part('note', 'a/b', '123456') + FILE + END, '/note'],
    ['a long part too long', '/form', TYPE, part('file', 'application/pdf', 'a'.repeat(3 * MB + 1)) + END, '/file'],
    ['no end', '/form', TYPE, FILE, ''],
    ['no end of a long part', '/form', TYPE, part('file', 'application/pdf', 'a'.repeat(2 * MB)), ''],
    ['text after the end', '/form', TYPE, `${FILE}${END}x`, ''],
    ['a wrong boundary', '/form', TYPE, (FILE + END).replaceAll('X-YZ', 'X-YZZ'), ''],
    ['another header row', '/csv', 'text/csv', 'name,mail\nEva,eva@partner.example\n', ''],
    ['another delimiter', '/both', 'text/csv', 'name,email\n', ''],
    ['no content', '/csv', 'text/csv', '', ''],
    ['no content of a form', '/form', TYPE, '', ''],
  ])('with %s gets 400 and never reaches the upstream completely', async (_case, path, type, body, pointer) => {
    for (const response of [
      await post(path, type, body),
      await postChunked(path, type, body),
      await postChunked(path, type, ...body.slice(0, 200), body.slice(200)),
    ]) {
      expect([response.status, response.json().code]).toEqual([400, 'body_invalid']);
      expect(response.json().errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
    }
    await eventually('every aborted exchange is closed', () => upstream.sockets.every((socket) => socket.closed));
    expect(upstream.messages).toEqual([]);
  });

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary="a b"',
    'multipart/form-data; boundary=a; boundary=X-YZ',
    "multipart/form-data; boundary*=utf-8''X-YZ",
    'multipart/mixed; boundary=X-YZ',
    'text/csv; charset=utf-16',
  ])('of the type %s gets 415', async (type) => {
    expect((await post('/both', type, FILE + END)).status).toBe(415);
    expect(upstream.messages).toEqual([]);
  });

  it('is refused at once while the client still sends, and its connection closes', async () => {
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('POST /form HTTP/1.1', `Content-Type: ${TYPE}`, 'Content-Length: 3000000'));
    wire.write(part('other', 'text/plain', 'a'));
    const response = await wire.response();
    expect([response.status, response.value('connection')]).toEqual([400, 'close']);
    wire.write(`GET /form HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(10));
    await wire.closed();
    expect(wire.rest).toBe('');
    expect(upstream.messages).toEqual([]);
  });

  it('gets 413 when it exceeds the limit', async () => {
    const body = part('file', 'application/pdf', 'a'.repeat(2 * MB)) + part('note', 'a/b', 'a'.repeat(2 * MB)) + END;
    expect((await post('/form', TYPE, body)).status).toBe(413);
    const long = part('file', 'application/pdf', 'a'.repeat(5 * MB));
    expect([400, 413]).toContain((await postChunked('/form', TYPE, long)).status);
    expect(upstream.messages).toEqual([]);
  });

  it('without a content type gets 415, except for GET', async () => {
    expect((await sendRequest(gateway.port, head('POST /form HTTP/1.1'))).status).toBe(415);
    expect((await sendRequest(gateway.port, head('GET /form HTTP/1.1'))).status).toBe(200);
  });

  it('is forwarded and reported once with `validation: report`', async () => {
    const body = part('other', 'text/plain', 'a').repeat(3);
    const before = gateway.lines.length;
    expect((await postChunked('/reported', TYPE, ...body)).status).toBe(200);
    await eventually('the access line', () => gateway.lines.length > before);
    expect(gateway.lines.at(-1)?.['reported']).toEqual([{ code: 'body_invalid', pointers: [''] }]);
    expect(upstream.messages.map((message) => message.body.toString())).toEqual([body]);
  });
});

describe('an early response', () => {
  it('is cut off when the body turns out to be invalid', async () => {
    const other = await startWireUpstream(() => '');
    const running = await startGateway(manifest(ROUTES, { up: other.url }));
    const wire = await Wire.open(running.port);
    wire.write(keepAliveHead('POST /form HTTP/1.1', `Content-Type: ${TYPE}`, 'Transfer-Encoding: chunked'));
    const chunks = [part('note', 'a/b', 'a'), part('note', 'a/b', 'b')].map(
      (text) => `${text.length.toString(16)}\r\n${text}\r\n`,
    );
    wire.write(chunks[0] ?? '');
    await new Promise((resolve) => setImmediate(resolve));
    wire.write(chunks[1] ?? '');
    await eventually('the first chunk at the upstream', () => other.bytes().includes('name="note"'));
    other.sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    await wire.until('half');
    wire.write(chunks[0] ?? '');
    await wire.closed();
    expect((await wire.message()).isComplete).toBe(false);
    expect(other.messages).toEqual([]);
    await running.close();
    await other.close();
  });
});
