import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Site, startSite } from '../support/site.ts';

const ROUTES = `  - id: order
    method: POST
    path: /orders/{share}
    upstream: up
    access: public
    params: { properties: { share: { type: number, maximum: 100 } } }
    query: { properties: { q: { type: number, multipleOf: 0.5 }, id: { type: integer }, mixed: { type: [integer, string] } } }
    headers: { properties: { X-Share: { type: number, exclusiveMaximum: 101 } } }
    body: { schema: { properties: { share: { type: number, maximum: 100 }, free: { type: number } } } }
`;
const JSON_TYPE = 'Content-Type: application/json';
const CUT = '100.00000000000000001';

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

it.each<[string, string, string[], string]>([
  [`/orders/${CUT}`, '{}', [], '/params/share'],
  [`/orders/1?q=${CUT}`, '{}', [], '/query/q'],
  ['/orders/1?id=9007199254740993', '{}', [], '/query/id'],
  ['/orders/1', '{}', [`X-Share: ${CUT}`], '/headers/X-Share'],
  ['/orders/1', `{"share":${CUT}}`, [], '/share'],
  ['/orders/1', `{"padding":"${'x'.repeat(100_000)}","share":${CUT}}`, [], '/share'],
])('%.40s with %.40s and %j is refused at its place', async (path, body, headers, pointer) => {
  const answer = await site.post(path, body, JSON_TYPE, ...headers);
  expect([answer.status, answer.json().errors]).toEqual([400, [{ pointer, message: expect.any(String) }]]);
  expect(site.upstream.requests).toEqual([]);
});

it.each<[string, string]>([
  ['/orders/99.50?q=1e2&id=9007199254740991&mixed=9007199254740993', '{"share":1.10}'],
  ['/orders/0.1', `{"share":0.30000000000000004,"free":${CUT}}`],
])('%s with %s goes on', async (path, body) => {
  const answer = await site.post(path, body, JSON_TYPE, 'X-Share: 100.99999999999999');
  expect(answer.status).toBe(200);
  expect(site.upstream.requests.splice(0)[0]?.body.toString()).toBe(body);
});
