import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chunked, head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { type Site, startSite } from '../support/site.ts';

const ROUTES = `  - { id: upload, method: any, path: /upload, upstream: up, access: public, body: { types: [text/csv, multipart/form-data, image/*], maxBytes: 1KB } }
  - { id: patch, method: any, path: /patch, upstream: up, access: public, body: { types: [application/merge-patch+json], schema: { type: object } } }
`;
const CSV = 'name,email\r\nEva,eva@partner.example\r\n';

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

afterEach(async () => {
  site.upstream.requests.length = 0;
  expect((await site.post('/upload', CSV, 'Content-Type: text/csv')).status).toBe(200);
  expect(site.upstream.requests.map(({ body }) => body.toString())).toEqual([CSV]);
  site.upstream.requests.length = 0;
});

const postAs = (type: string, path = '/upload') => site.post(path, CSV, `Content-Type: ${type}`);

describe('a media type that the route lists', () => {
  it.each([
    'text/csv',
    'TEXT/CSV',
    'text/csv; charset=windows-1251',
    'text/csv;header=present;charset="utf-8"',
    'text/csv \t;\t charset="a\\"; b" ',
    'text/csv;',
    'text/csv; ;charset=utf-8 ;\t',
    'multipart/form-data; boundary=a',
    'multipart/form-data; boundary=a; ',
    'image/png',
    'image/svg+xml; a=b',
  ])('is accepted and the body is streamed: %s', async (type) => {
    expect((await postAs(type)).status).toBe(200);
    expect(site.upstream.requests[0]?.body.toString()).toBe(CSV);
    expect(site.upstream.requests[0]?.headers).toContain(type.trim());
  });

  it.each([
    'application/json',
    'text/csvx',
    'text/cs',
    'text/*',
    '*/*',
    'imagex/png',
    'image/',
    'text/csv, image/png',
    'text/csv; charset',
    'text/csv; charset=',
    'text/csv; =utf-8',
    'text/csv; charset="utf-8',
    'text/csv; charset=utf-8; CHARSET=utf-16',
    'text /csv',
    'text/csv charset=utf-8',
    'csv',
    '',
    `text/csv${' '.repeat(8_000)};=`,
    `text/csv${';'.repeat(8_000)}=`,
  ])('is required, so the route refuses %j with 415', async (type) => {
    const got = await postAs(type);
    expect([got.status, got.json().code]).toEqual([415, 'media_type_unsupported']);
    expect(got.value('accept')).toBe('text/csv, multipart/form-data, image/*');
    expect(got.json().detail).toBe(
      'this route accepts text/csv or multipart/form-data or image/*, without a content encoding',
    );
    expect(site.upstream.requests).toEqual([]);
  });

  it('is required for every body, in every framing', async () => {
    expect((await site.post('/upload', CSV)).status).toBe(415);
    const got = await sendRequest(
      site.port,
      head('POST /upload HTTP/1.1', 'Transfer-Encoding: chunked') + chunked(CSV),
    );
    expect(got.status).toBe(415);
    expect((await site.get('/upload')).status).toBe(200);
    expect((await sendRequest(site.port, head('POST /upload HTTP/1.1', 'Content-Length: 0'))).status).toBe(200);
    expect(site.upstream.requests.map(({ body }) => body.length)).toEqual([0, 0]);
  });

  it.each(['Content-Encoding', 'content-encoding', 'Content_Encoding', 'CONTENT.ENCODING'])(
    'is refused with a content encoding, in every spelling: %s',
    async (name) => {
      expect((await site.post('/upload', CSV, 'Content-Type: text/csv', `${name}: gzip`)).status).toBe(415);
      expect(site.upstream.requests).toEqual([]);
    },
  );

  it('is checked before the gateway requests the body', async () => {
    const wire = await Wire.open(site.port);
    wire.write(
      keepAliveHead('POST /upload HTTP/1.1', 'Content-Type: a/b', 'Content-Length: 9', 'Expect: 100-continue'),
    );
    expect((await wire.message()).status).toBe(415);
    wire.end();
  });
});

describe('the size limit of a streamed body', () => {
  it.each([
    [1023, 200],
    [1024, 200],
    [1025, 413],
  ])('applies to %i bytes with status %i, with a length and in chunks', async (length, status) => {
    const body = 'a'.repeat(length);
    const type = 'Content-Type: text/csv';
    const inChunks =
      head('POST /upload HTTP/1.1', type, 'Transfer-Encoding: chunked') + chunked(body.slice(9), 'a'.repeat(9));
    expect((await site.post('/upload', body, type)).status).toBe(status);
    expect((await sendRequest(site.port, inChunks)).status).toBe(status);
    expect(site.upstream.requests.map((request) => request.body.toString())).toEqual(
      status === 200 ? [body, body] : [],
    );
  });
});

describe('a schema together with media types', () => {
  it('accepts only these types and validates their bodies', async () => {
    const post = (body: string, type: string) => site.post('/patch', body, `Content-Type: ${type}`);
    expect((await post('{}', 'application/merge-patch+json; charset=utf-8')).status).toBe(200);
    expect((await post('[]', 'application/merge-patch+json')).status).toBe(400);
    for (const type of ['application/json', 'application/merge-patch+json; charset=utf-16', 'a/b'])
      expect((await post('{}', type)).status).toBe(415);
    expect(site.upstream.requests).toHaveLength(1);
  });

  it('accepts a GET without a body and validates a GET with a body', async () => {
    expect((await site.get('/patch')).status).toBe(200);
    const framed = 'Content-Length: 2\r\nContent-Type: application/merge-patch+json';
    expect((await sendRequest(site.port, `${head('GET /patch HTTP/1.1', framed)}[]`)).status).toBe(400);
    expect((await sendRequest(site.port, head('POST /patch HTTP/1.1'))).status).toBe(415);
    expect(site.upstream.requests).toHaveLength(1);
  });
});
