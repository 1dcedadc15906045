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
/** A number that loses its last digits as a double. */
const INEXACT = '100.00000000000000001';

let site: Site;

beforeAll(async () => {
  site = await startSite(ROUTES);
});

afterAll(() => site.close());

it.each<[string, string, string[], string]>([
  [`/orders/${INEXACT}`, '{}', [], '/params/share'],
  [`/orders/1?q=${INEXACT}`, '{}', [], '/query/q'],
  ['/orders/1?id=9007199254740993', '{}', [], '/query/id'],
  ['/orders/1', '{}', [`X-Share: ${INEXACT}`], '/headers/X-Share'],
  ['/orders/1', `{"share":${INEXACT}}`, [], '/share'],
  ['/orders/1', `{"padding":"${'x'.repeat(100_000)}","share":${INEXACT}}`, [], '/share'],
])('refuses %.40s with %.40s and %j by a pointer', async (path, body, headers, pointer) => {
  const response = await site.post(path, body, JSON_TYPE, ...headers);
  expect([response.status, response.json().errors]).toEqual([400, [{ pointer, message: expect.any(String) }]]);
  expect(site.upstream.requests).toEqual([]);
});

it.each<[string, string]>([
  ['/orders/99.50?q=1e2&id=9007199254740991&mixed=9007199254740993', '{"share":1.10}'],
  ['/orders/0.1', `{"share":0.30000000000000004,"free":${INEXACT}}`],
])('forwards %s with %s', async (path, body) => {
  const response = await site.post(path, body, JSON_TYPE, 'X-Share: 100.99999999999999');
  expect(response.status).toBe(200);
  expect(site.upstream.requests.splice(0)[0]?.body.toString()).toBe(body);
});
