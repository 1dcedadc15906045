import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { head, sendRequest } from '../support/raw.ts';
import { eventually, type Site, startSite } from '../support/site.ts';

const ROUTES = `  - id: reported
    method: [GET, POST]
    path: /reported/{id}
    upstream: up
    access: public
    validation: report
    params: { properties: { id: { type: integer } } }
    query: { properties: { page: { type: integer } }, unknown: refuse }
    body: { maxBytes: 1KB, schema: { type: object, properties: { email: { type: string } }, additionalProperties: { type: integer } } }
  - { id: typed, method: POST, path: /typed, upstream: up, access: public, validation: report, body: { types: [text/csv] } }
`;
const JSON_TYPE = 'Content-Type: application/json';

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

afterEach(() => {
  site.upstream.requests.length = 0;
});

/** Sends a request and returns the `reported` member of its access line. */
async function reportedOf(request: () => Promise<{ status: number }>): Promise<unknown> {
  const before = site.gateway.lines.length;
  expect((await request()).status).toBe(200);
  await eventually('the access line', () => site.gateway.lines.length > before);
  return site.gateway.lines.at(-1)?.['reported'];
}

describe('a route with `validation: report`', () => {
  it('forwards invalid requests unchanged and logs their violations', async () => {
    const body = '{ "email": 1, "SENTINEL": "SENTINEL-VALUE" }';
    const reported = await reportedOf(() => site.post('/reported/x?page=y&z=SENTINEL-VALUE', body, JSON_TYPE));
    expect(reported).toEqual([
      { code: 'parameter_invalid', pointers: ['/params/id', '/query/page', '/query'] },
      { code: 'body_invalid', pointers: ['/*', '/email'] },
    ]);
    expect(site.upstream.requests).toMatchObject([{ url: '/reported/x?page=y&z=SENTINEL-VALUE' }]);
    expect(site.upstream.requests[0]?.body.toString()).toBe(body);
    expect(JSON.stringify(site.gateway.lines.at(-1))).not.toContain('SENTINEL');
  });

  it('reports nothing for valid requests', async () => {
    expect(await reportedOf(() => site.post('/reported/1?page=1', '{"email":"a"}', JSON_TYPE))).toBeUndefined();
    expect(await reportedOf(() => site.get('/reported/1'))).toBeUndefined();
  });

  it('counts each request that it would refuse once', async () => {
    const before = site.gateway.gateway.metrics.reportedRequests.get('reported') ?? 0;
    await reportedOf(() => site.post('/reported/x?page=y', '{"email":1}', JSON_TYPE));
    await reportedOf(() => site.get('/reported/1'));
    expect(site.gateway.gateway.metrics.reportedRequests.get('reported')).toBe(before + 1);
  });

  it.each([
    ['a body that is not JSON', '{', JSON_TYPE, 'body_invalid', ['']],
    ['a repeated member', '{"email":"a","email":"a"}', JSON_TYPE, 'body_invalid', ['/email']],
    ['another content type', 'a,b', 'Content-Type: text/csv', 'media_type_unsupported', []],
    ['no content type', '{}', 'X-Nothing: 1', 'media_type_unsupported', []],
    ['a compressed body', '{}', `${JSON_TYPE}\r\nContent-Encoding: gzip`, 'media_type_unsupported', []],
  ])('forwards %s', async (_case, body, header, code, pointers) => {
    expect(await reportedOf(() => site.post('/reported/1', body, header))).toEqual([{ code, pointers }]);
    expect(site.upstream.requests[0]?.body.toString()).toBe(body);
  });

  it('streams a body of another type', async () => {
    expect(await reportedOf(() => site.post('/typed', 'abc', JSON_TYPE))).toEqual([
      { code: 'media_type_unsupported', pointers: [] },
    ]);
    expect(site.upstream.requests[0]?.body.toString()).toBe('abc');
  });

  it('still refuses a body that exceeds the limit', async () => {
    expect((await site.post('/reported/1', ' '.repeat(1025), JSON_TYPE)).status).toBe(413);
    expect((await site.post('/reported/1', ' '.repeat(1025), 'Content-Type: a/b')).status).toBe(413);
    const framed = head('POST /reported/1 HTTP/1.1', 'Content-Type: a/b', 'Transfer-Encoding: chunked');
    expect((await sendRequest(site.port, `${framed}401\r\n${' '.repeat(1025)}\r\n0\r\n\r\n`)).status).toBe(413);
    expect(site.upstream.requests).toEqual([]);
  });

  it('still refuses an ambiguous path and an unknown path', async () => {
    expect((await site.get('/reported/..')).status).toBe(400);
    expect((await site.get('/reported/a/b')).status).toBe(404);
  });
});
