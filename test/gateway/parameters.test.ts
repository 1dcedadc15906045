import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { type Site, startSite } from '../support/site.ts';

const ROUTES = `  - id: job
    method: any
    path: /jobs/{job}/files/{file}
    upstream: up
    access: public
    params: { properties: { job: { type: string, pattern: '^[a-z0-9é-]+$', maxLength: 9 }, file: { type: integer, minimum: 1 } } }
  - id: list
    method: any
    path: /list
    upstream: up
    access: public
    query:
      properties:
        page: { type: integer, minimum: 1 }
        ratio: { type: number }
        all: { type: boolean }
        size: { enum: [1, 2, large] }
        mixed: { anyOf: [{ type: integer, minimum: 10 }, { type: string, maxLength: 2 }] }
        text: { pattern: '^[a-z ]*$' }
        'a b/~': { maxLength: 1 }
        no: { not: { type: integer }, maxLength: 3 }
        per_page: { maxLength: 1 }
        'user[role]': { maxLength: 1 }
        filter.name: { maxLength: 1 }
        filter_name: { maxLength: 2 }
  - id: closed
    method: any
    path: /closed
    upstream: up
    access: public
    query: { properties: { q: {}, tag: { maxLength: 3 }, from: true }, required: [from], unknown: refuse, repeated: [tag] }
  - { id: once, method: any, path: /once, upstream: up, access: public, query: { repeated: refuse } }
  - id: headed
    method: any
    path: /headed
    upstream: up
    access: public
    headers: { properties: { X-Count: { type: integer }, Idempotency-Key: { maxLength: 5 } }, required: [Idempotency-Key] }
  - { id: private, method: any, path: /private, upstream: up, access: protected, query: { properties: { page: { type: integer } } } }
`;

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

afterEach(async () => {
  site.upstream.requests.length = 0;
  expect((await site.get('/list?page=1')).status).toBe(200);
  site.upstream.requests.length = 0;
});

const invalidPointers = async (path: string, ...headers: string[]) => {
  const response = await site.get(path, ...headers);
  if (response.status === 200) return [];
  expect([response.status, response.json().code]).toEqual([400, 'parameter_invalid']);
  return response.json().errors.map(({ pointer }: { pointer: string }) => pointer);
};

/** Expects that a valid request is forwarded unchanged and that an invalid one is not forwarded. */
const expectPointers = async (path: string, expected: readonly string[], ...headers: string[]) => {
  expect([path, await invalidPointers(path, ...headers)]).toEqual([path, expected]);
  expect(site.upstream.requests.map(({ url }) => url)).toEqual(expected.length === 0 ? [path] : []);
};

describe('path parameters', () => {
  it.each<[string, string[]]>([
    ['/jobs/a-1/files/7', []],
    ['/jobs/%C3%A9/files/7/', []],
    ['/jobs/A/files/7', ['/params/job']],
    ['/jobs/a%20b/files/7', ['/params/job']],
    ['/jobs/a123456789/files/7', ['/params/job']],
    ['/jobs/a/files/0', ['/params/file']],
    ['/jobs/a/files/1.0', ['/params/file']],
    ['/jobs/A/files/x', ['/params/job', '/params/file']],
  ])('are validated in %s: %j', (path, expected) => expectPointers(path, expected));
});

describe('query parameters', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['?', []],
    ['?page=1', []],
    ['?page=12&page=3', []],
    ['?%70age=1', []],
    ['?x="<>\'{}|&&=&page=1&%zz=%zz&y', []],
    ['?pages=x&pag=x&page[]=x', []],
    ['?PAGE=x', ['/query/page']],
    ['?page=1&page%20=x', ['/query/page']],
    ['?page=1&p%C2%ADage=x', ['/query/page']],
    ['?page=1&%EF%BC%B0AGE=1', ['/query/page']],
    ['?page=0', ['/query/page']],
    ['?page=1&page=x', ['/query/page']],
    ...[
      'page%00',
      '%00page',
      'page%00x',
      'pa%00ge',
      'page%01',
      'page%7F',
      'page%C2%85',
      '+page',
      'page%C2%A0',
      'page%E2%80%8B',
    ]
      .concat('page%F3%A0%81%81', 'p%C3%A1ge', 'PAGE%00%FF', '%FFpage', 'page%A0', 'page%EF%BF%BF', '%0D%0Apage')
      .map((name): [string, string[]] => [`?${name}=9`, ['/query/page']]),
    ...['per.page', 'per+page', 'per%20page', 'per[page', 'per%5Bpage', 'PER.page%00'].map(
      (name): [string, string[]] => [`?per_page=1&${name}=99`, ['/query/per_page']],
    ),
    ...['perPage', 'per-page', '_perpage'].map((name): [string, string[]] => [`?${name}=99`, ['/query/per_page']]),
    ['?per[page]=99&user[role]=1&user_role=99&filter.name=1&filter_name=12', []],
    [
      '?user[role]=12&filter.name=12&filter_name=123',
      ['/query/user[role]', '/query/filter.name', '/query/filter_name'],
    ],
    ['?filter+name=1', ['/query/filter_name']],
    ['?%00=9&pag%00f%FF=9&page%zz=9', []],
    ['?%70age=x', ['/query/page']],
    ['?page', ['/query/page']],
    ['?page=', ['/query/page']],
    ['?page=+1', ['/query/page']],
    ['?page=%2B1', ['/query/page']],
    ['?page=1%20', ['/query/page']],
    ['?page=01', ['/query/page']],
    ['?page=0x10', ['/query/page']],
    ['?page=1e2', ['/query/page']],
    ['?page=1.0', ['/query/page']],
    ['?page=9007199254740993', ['/query/page']],
    ['?page=1;page=2', ['/query/page']],
    ['?page=%zz', ['/query/page']],
    ['?page=%31', []],
    ['?ratio=-1.5e3', []],
    ['?ratio=1e400', ['/query/ratio']],
    ['?ratio=Infinity', ['/query/ratio']],
    ['?ratio=.5', ['/query/ratio']],
    ['?all=true', []],
    ['?all=1', ['/query/all']],
    ['?all=TRUE', ['/query/all']],
    ['?size=1', []],
    ['?size=large', []],
    ['?size=3', ['/query/size']],
    ['?mixed=10', []],
    ['?mixed=9', []],
    ['?mixed=abc', ['/query/mixed', '/query/mixed', '/query/mixed']],
    ['?text=a+b%20c', []],
    ['?text=123', ['/query/text']],
    ['?text=%C3%28', ['/query/text']],
    ['?text=100%', ['/query/text']],
    ['?a+b/~=1', []],
    ['?a%20b%2F~=12', ['/query/a b~1~0']],
    ['?no=123', []],
    ['?page=x&ratio=y&all=z', ['/query/page', '/query/ratio', '/query/all']],
  ])('are validated in %s: %j', (query, expected) => expectPointers(`/list${query}`, expected));

  it.each<[string, string[]]>([
    ['?from=1&q=2&tag=a&tag=b', []],
    ['?from=1&tag=a&tag=long', ['/query/tag']],
    ['?q=1', ['/query/from']],
    ['?from=1&from=2', ['/query/from']],
    ['?from=1&%66rom=2', ['/query/from']],
    ['?from=1&other=2', ['/query']],
    ['?from=1&FROM=2', ['/query']],
    ['?from=1&tag[]=2', ['/query']],
    ['?from=1&%zz=2', ['/query']],
    ['?from=1;tag=long', ['/query']],
    ['?from=1%3Btag=long', []],
  ])('are checked against a closed list of names in %s: %j', (query, expected) =>
    expectPointers(`/closed${query}`, expected),
  );

  it.each<[string, string[]]>([
    ['?a=1&b=2', []],
    ['?a=1&a=1', ['/query']],
    ...['a.b', 'a+b', 'a[b', '+a_b', 'a_b%00x', 'aB', 'A-B', 'a_b%FF', 'a%C2%ADb'].map((name): [string, string[]] => [
      `?a_b=1&${name}=1`,
      ['/query'],
    ]),
    ['?a[b]=1&a[c]=1', []],
  ])('are refused if repeated in %s: %j', (query, expected) => expectPointers(`/once${query}`, expected));

  it('report at most 20 violations', async () => {
    expect(await invalidPointers(`/list?${'page=x&'.repeat(500)}`)).toHaveLength(20);
  });
});

describe('header parameters', () => {
  const KEY = 'Idempotency-Key: a';

  it.each<[string[], string[]]>([
    [[KEY], []],
    [['idempotency-KEY: a', 'X-COUNT: 12'], []],
    [[], ['/headers/Idempotency-Key']],
    [[KEY, 'X-Count: x'], ['/headers/X-Count']],
    [[KEY, 'X-Count: 1', 'x-count: x'], ['/headers/X-Count']],
    [[KEY, 'X_Count: x'], ['/headers/X-Count']],
    [['Idempotency-Key: abcdef'], ['/headers/Idempotency-Key']],
    // Connection removes the header, so the upstream would not receive the validated value.
    [[KEY, 'Connection: idempotency-key'], ['/headers/Idempotency-Key']],
    [['Idempotency_Key: a', 'Connection: x, Idempotency_Key'], ['/headers/Idempotency-Key']],
    [[KEY, 'Connection: X-Other'], []],
  ])('are validated in %j: %j', (headers, expected) => expectPointers('/headed', expected, ...headers));
});

describe('the refusal of a parameter', () => {
  it('names each violation and omits the value', async () => {
    const response = await site.get('/list?page=SENTINEL&text=SENTINEL1', 'X-Count: SENTINEL');
    expect(response.body.toString()).not.toContain('SENTINEL');
    expect(response.json().errors).toEqual([
      { pointer: '/query/page', message: 'must be integer' },
      { pointer: '/query/text', message: 'must match pattern "^[a-z ]*$"' },
    ]);
    expect(JSON.stringify(site.gateway.lines.at(-1))).not.toContain('SENTINEL');
  });

  it('follows the token check and precedes 100 Continue', async () => {
    expect((await site.get('/private?page=x')).status).toBe(401);
    const token = `Authorization: Bearer ${await site.issuer.token()}`;
    expect((await site.get('/private?page=x', token)).status).toBe(400);
    expect((await site.get('/private?page=1', token)).status).toBe(200);
    const wire = await Wire.open(site.port);
    wire.write(keepAliveHead('POST /list?page=x HTTP/1.1', 'Content-Length: 5', 'Expect: 100-continue'));
    expect((await wire.message()).status).toBe(400);
    wire.end();
    expect((await sendRequest(site.port, head('HEAD /list?page=x HTTP/1.1'))).status).toBe(400);
  });
});
