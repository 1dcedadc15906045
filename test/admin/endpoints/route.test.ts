import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RouteHistories } from '../../../src/admin/route-histories.ts';
import { createTrafficHistory } from '../../../src/admin/traffic-history.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../../support/admin.ts';
import { eventually } from '../../support/site.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const SECRET = 'sentinel-7f3a9c21';
const MORE = `routes:
  - id: included
    method: GET
    # A comment inside the route.
    path: /included

    upstream: up
    access: public
    requestHeaders: { set: { X-Api-Key: ${SECRET}, X-Plain: visible } }
  # A comment before the next route.
  - { id: flow, method: GET, path: /flow,
      upstream: up, access: public }
  -
    id: dashed
    method: GET
    path: /dashed
    upstream: up
    access: public
`;
const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
include: more.yaml
upstreams: { up: { url: '\${UP}', timeouts: { total: 9s } } }
routes:
  - { id: one, method: POST, path: /one, upstream: up, access: public, timeout: 3s, body: { maxBytes: 5B } }
`;

let upstream: Upstream;
let site: GatewayWithAdmin;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => void response.end('ok'));
  site = await startGatewayWithAdmin(MANIFEST, { UP: upstream.url }, { 'more.yaml': MORE });
});
afterAll(async () => {
  await site.close();
  await upstream.close();
});

const read = async (query: string) =>
  (await fetch(`${site.admin.url}/route${query}`)).json() as Promise<Record<string, unknown>>;

describe('/route', () => {
  it('reports the limits and the lines of a route', async () => {
    expect(await read('?id=one')).toMatchObject({
      id: 'one',
      body: { limit_bytes: 5 },
      upstream_timeouts_ms: { total: 3_000 },
      upstream_limits: { endpoints: 1 },
      source: { file: 'gateway.yaml', line: 7, text: MANIFEST.split('\n')[6] },
      refusals: {},
      statuses: {},
    });
  });

  it('finds the lines in an included file, and redacts secrets', async () => {
    const lines = MORE.split('\n');
    const { source, ...details } = await read('?id=included');
    expect(details).toMatchObject({ upstream_timeouts_ms: { total: 9_000 } });
    expect(source).toEqual({
      file: 'more.yaml',
      line: 2,
      text: lines.slice(1, 9).join('\n').replace(SECRET, '•'.repeat(SECRET.length)),
    });
    expect((await read('?id=flow'))['source']).toEqual({
      file: 'more.yaml',
      line: 11,
      text: lines.slice(10, 12).join('\n'),
    });
    expect((await read('?id=dashed'))['source']).toEqual({
      file: 'more.yaml',
      line: 14,
      text: lines.slice(13, 18).join('\n'),
    });
  });

  it('responds with 400 without an id, and with 404 for an unknown one', async () => {
    expect(await read('')).toMatchObject({ status: 400 });
    expect(await read('?id=none')).toMatchObject({ status: 404 });
  });

  it('counts the requests and refusals of a route, each once', async () => {
    const traffic = createTrafficHistory(site.gateway, 5);
    const post = async (body: string) => (await fetch(`${site.url}/one`, { method: 'POST', body })).status;
    expect([await post('12345'), await post('123456'), await post('123456')]).toEqual([200, 413, 413]);
    const sumOf = (member: 'requests' | 'client_errors') =>
      traffic.ofRoute('one').intervals.reduce((sum, interval) => sum + interval[member], 0);
    await eventually('the requests are counted', () => sumOf('requests') === 3);
    const before = traffic.ofRoute('one').intervals.length;
    await eventually('two intervals later', () => traffic.ofRoute('one').intervals.length >= before + 2);
    expect([sumOf('requests'), sumOf('client_errors')]).toEqual([3, 2]);
    expect(traffic.ofRoute('one').refusals).toEqual({ body_too_large: 2 });
    expect(traffic.ofRoute('flow').intervals.every(({ requests, p95_ms }) => requests === 0 && p95_ms === null)).toBe(
      true,
    );
    traffic.close();
  });
});

describe('the histories of routes', () => {
  const COUNTS = { requests: 2, client_errors: 1, server_errors: 0, p50_ms: 1, p95_ms: 2.5, p99_ms: 22.6 };

  it('forget an interval after an hour, and its refusals within five minutes less', () => {
    const histories = new RouteHistories();
    histories.startInterval(new Date(1), 30);
    histories.record('one', COUNTS, [['token_missing', 1]]);
    for (let interval = 2; interval <= 100; interval += 1) histories.startInterval(new Date(interval), 30);
    expect(histories.of('one').intervals[0]).toEqual({ at: new Date(1), seconds: 30, ...COUNTS });
    expect(histories.of('one').refusals).toEqual({ token_missing: 1 });
    for (let interval = 101; interval <= 121; interval += 1) histories.startInterval(new Date(interval), 30);
    expect(histories.of('one').intervals.length).toBe(120);
    expect(histories.of('one').intervals.every(({ requests }) => requests === 0)).toBe(true);
    expect(histories.of('one').refusals).toEqual({});
  });

  it('exist for at most a thousand routes, until one of them has no request for an hour', () => {
    const histories = new RouteHistories();
    histories.startInterval(new Date(), 30);
    for (let id = 0; id <= 1_000; id += 1) histories.record(`r${id}`, COUNTS, []);
    const requestsOf = (id: string) => histories.of(id).intervals.reduce((sum, { requests }) => sum + requests, 0);
    expect([requestsOf('r999'), requestsOf('r1000')]).toEqual([2, 0]);
    for (let interval = 0; interval < 120; interval += 1) histories.startInterval(new Date(), 30);
    histories.record('r1000', COUNTS, []);
    expect(requestsOf('r1000')).toBe(2);
  });
});
