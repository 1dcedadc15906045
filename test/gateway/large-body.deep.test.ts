import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually, type Site, startSite } from '../support/site.ts';

const MB = 1024 * 1024;
const SCHEMA =
  'schema: { type: object, properties: { text: { type: string, pattern: "^[^!]*$" }, list: { type: array, items: { type: integer } } } }';
const ROUTES = `  - { id: large, method: POST, path: /large, upstream: up, access: public, body: { maxBytes: 10MB, ${SCHEMA} } }
  - { id: reported, method: POST, path: /reported, upstream: up, access: public, validation: report, body: { maxBytes: 10MB, ${SCHEMA} } }
`;
const JSON_TYPE = 'Content-Type: application/json';

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

afterEach(async () => {
  site.upstream.requests.length = 0;
  expect((await site.post('/large', '{"list":[1]}', JSON_TYPE)).status).toBe(200);
  site.upstream.requests.length = 0;
});

const textOf = (length: number) => `{"text":"${'é'.repeat(9)}${'a'.repeat(length - 29)}"}`;
const hash = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** Returns a request with a chunked body in chunks of this size. */
function inChunks(path: string, body: Buffer, chunkBytes: number): Buffer {
  const parts: Buffer[] = [Buffer.from(head(`POST ${path} HTTP/1.1`, JSON_TYPE, 'Transfer-Encoding: chunked'))];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

describe('a large body', () => {
  it.each([65_535, 65_536, 65_537, 70_000, 131_073, 1_000_000, 10 * MB - 1, 10 * MB])(
    'of %i bytes is forwarded byte for byte, in both framings',
    async (length) => {
      const body = Buffer.from(textOf(length));
      expect(body.length).toBe(length);
      expect((await site.post('/large', body, JSON_TYPE)).status).toBe(200);
      expect((await sendRequest(site.port, inChunks('/large', body, 50_000))).status).toBe(200);
      expect(site.upstream.requests.map((request) => hash(request.body))).toEqual([hash(body), hash(body)]);
    },
  );

  it('is refused with 413 if it is one byte over the limit, in both framings', async () => {
    const body = Buffer.from(textOf(10 * MB + 1));
    expect((await site.post('/large', body, JSON_TYPE)).status).toBe(413);
    expect((await sendRequest(site.port, inChunks('/large', body, 50_000))).status).toBe(413);
    expect(site.upstream.requests).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['is not JSON', textOf(100_000).slice(0, -1), ''],
    ['violates the schema', textOf(100_000).replace('a"', '!"'), '/text'],
    ['has a duplicate name', textOf(100_000).replace(/}$/, ',"text":""}'), '/text'],
    ['has too many values', `{"list":[${'1,'.repeat(150_000)}1]}`, ''],
    ['is nested too deep', `{"list":${'['.repeat(MB)}${']'.repeat(MB)}}`, `/list${'/0'.repeat(63)}`],
  ])('that %s is refused with 400 and never forwarded', async (_title, body, pointer) => {
    for (const got of [
      await site.post('/large', body, JSON_TYPE),
      await sendRequest(site.port, inChunks('/large', Buffer.from(body), 9_999)),
    ]) {
      expect([got.status, got.json().errors]).toEqual([400, [{ pointer, message: expect.any(String) }]]);
    }
    expect(site.upstream.requests).toEqual([]);
  });

  it('is forwarded if violations are only reported', async () => {
    const body = textOf(100_000).replace('a"', '!"');
    expect((await site.post('/reported', body, JSON_TYPE)).status).toBe(200);
    expect(hash(site.upstream.requests[0]?.body ?? '')).toBe(hash(body));
  });

  it('may arrive in single bytes', async () => {
    const body = Buffer.from(textOf(70_000));
    expect((await sendRequest(site.port, inChunks('/large', body, 1))).status).toBe(200);
    expect(hash(site.upstream.requests[0]?.body ?? '')).toBe(hash(body));
  });

  it('is validated concurrently with many others', async () => {
    const bodies = Array.from({ length: 20 }, (_, index) =>
      textOf(100_000 + index).replace('a"', index % 2 === 0 ? 'b"' : '!"'),
    );
    const responses = await Promise.all(bodies.map((body) => site.post('/large', body, JSON_TYPE)));
    expect(responses.map(({ status }) => status)).toEqual(bodies.map((_, index) => (index % 2 === 0 ? 200 : 400)));
    expect(site.upstream.requests.map(({ body }) => hash(body)).sort()).toEqual(
      bodies
        .filter((_, index) => index % 2 === 0)
        .map(hash)
        .sort(),
    );
  });

  it('is not forwarded if its client disconnects during the validation', async () => {
    const lines = site.gateway.lines.length;
    const body = textOf(9 * MB);
    const wire = await Wire.open(site.port);
    wire.write(keepAliveHead('POST /large HTTP/1.1', JSON_TYPE, `Content-Length: ${Buffer.byteLength(body)}`));
    await new Promise((resolve) => wire.socket.write(body, resolve));
    wire.end();
    await eventually('the access line', () => site.gateway.lines.length > lines);
    // This validation starts after the others have finished.
    expect((await site.post('/large', textOf(100_000), JSON_TYPE)).status).toBe(200);
    expect(site.upstream.requests.map((request) => request.body.length)).toEqual([100_000]);
  });
});

describe('many incomplete bodies', () => {
  it('do not delay other requests and are never forwarded', async () => {
    const wires = await Promise.all(Array.from({ length: 1_000 }, () => Wire.open(site.port)));
    for (const [index, wire] of wires.entries()) {
      const framing = index % 2 === 0 ? 'Content-Length: 10000000' : 'Transfer-Encoding: chunked';
      wire.write(`${keepAliveHead('POST /large HTTP/1.1', JSON_TYPE, framing)}${index % 2 === 0 ? '' : '5\r\n'}{"a":`);
    }
    expect((await site.post('/large', '{"list":[1]}', JSON_TYPE)).status).toBe(200);
    expect((await site.post('/large', '{"list":["x"]}', JSON_TYPE)).status).toBe(400);
    expect(site.upstream.requests).toHaveLength(1);
    const lines = site.gateway.lines.length;
    for (const wire of wires) wire.end();
    await eventually('all exchanges end', () => site.gateway.lines.length >= lines + wires.length);
    expect(site.upstream.requests).toHaveLength(1);
  });
});
