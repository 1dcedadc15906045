import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quantile } from '../../src/admin/traffic-counts.ts';
import { createTrafficHistory } from '../../src/admin/traffic-history.ts';
import { TOTALS_LENGTH } from '../../src/engine/gateway/telemetry/request-counters.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: '\${UP}' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
  - { id: two, method: GET, path: /two, upstream: up, access: public }
`;

let upstream: Upstream;
let site: GatewayWithAdmin;

beforeAll(async () => {
  upstream = await startUpstream(
    ({ url }, response) => void response.writeHead(url?.includes('bad') ? 503 : 200).end('ok'),
  );
  site = await startGatewayWithAdmin(MANIFEST, { UP: upstream.url });
});
afterAll(async () => {
  await site.close();
  await upstream.close();
});

/** Sends a request and waits until it is counted. */
async function send(path: string): Promise<void> {
  const before = site.lines.length;
  await (await fetch(site.url + path)).text();
  await eventually('counted', () => site.lines.length > before);
}

async function read(path: string) {
  return JSON.parse(await (await fetch(site.admin.url + path)).text());
}

describe('/traffic', () => {
  it('reports the traffic of each route', async () => {
    await send('/one');
    await send('/one?bad');
    await send('/nowhere');
    const quantiles = { p50_ms: expect.any(Number), p95_ms: expect.any(Number), p99_ms: expect.any(Number) };
    const { routes, ...others } = await read('/traffic');
    expect(others).toEqual({
      in_flight: 0,
      connections: expect.any(Number),
      tunnels: 0,
      seconds: expect.any(Number),
      // The request that matches no route is not forwarded.
      limits: [],
      upstreams: [{ id: 'up', requests: 2, client_errors: 0, server_errors: 1, ...quantiles }],
    });
    expect(routes).toEqual([
      { id: 'one', requests: 2, client_errors: 0, server_errors: 1, ...quantiles },
      { id: null, requests: 1, client_errors: 1, server_errors: 0, ...quantiles },
    ]);
    expect(await read('/history')).toEqual({ intervals: [], statuses: {} });
  });

  it('drops requests that are older than the window, and counts newer ones', async () => {
    const traffic = createTrafficHistory(site.gateway, 10);
    await send('/one');
    await send('/two');
    const counted = () => traffic.recent().routes.find(({ id }) => id === 'two')?.requests;
    await eventually('the request is counted', () => counted() !== undefined);
    await eventually('the request is dropped', () => counted() === undefined);
    expect(traffic.recent().seconds).toBeLessThan(5);
    await send('/two');
    await eventually('only the new request is counted', () => counted() === 1);
    traffic.close();
  });
});

describe('the last hour', () => {
  it('counts every request once, also over a reload that removes its route', async () => {
    const traffic = createTrafficHistory(site.gateway, 20);
    const sumOf = (member: 'requests' | 'server_errors') =>
      traffic.lastHour().reduce((sum, interval) => sum + interval[member], 0);
    for (let count = 0; count < 5; count += 1) await send(count === 0 ? '/two?bad' : '/two');
    site.swap(MANIFEST.replace(/.*id: two.*\n/, ''));
    await send('/two');
    await eventually('all requests are counted', () => sumOf('requests') >= 6);
    const after = traffic.lastHour().length + 3;
    await eventually('some intervals later', () => traffic.lastHour().length >= after);
    expect([sumOf('requests'), sumOf('server_errors')]).toEqual([6, 1]);
    const refused = traffic.lastHour().flatMap(({ refusals }) => Object.entries(refusals));
    expect(refused).toEqual([['route_unknown', 1]]);
    const { at, ...empty } = traffic.lastHour().at(-1) ?? {};
    expect(at).toBeInstanceOf(Date);
    expect(empty).toMatchObject({ requests: 0, refusals: {}, p50_ms: null, p95_ms: null, p99_ms: null });
    traffic.close();
  });

  it('has at most 360 intervals', async () => {
    const traffic = createTrafficHistory(site.gateway, 1);
    await eventually('an hour of intervals', () => traffic.lastHour().length === 360);
    const [first] = traffic.lastHour();
    await eventually('the oldest interval is dropped', () => traffic.lastHour()[0] !== first);
    expect(traffic.lastHour().length).toBe(360);
    traffic.close();
  });
});

describe('a quantile', () => {
  const buckets = (...counts: number[]) =>
    Float64Array.from({ length: TOTALS_LENGTH - 6 }, (_, index) => counts[index] ?? 0);

  const totalOf = (counts: Float64Array) => counts.reduce((sum, count) => sum + count, 0);

  it.each([
    [buckets(), 0.5, null],
    [buckets(4), 0.5, 0.125],
    [buckets(0, 0, 10), 0.5, 0.75],
    [buckets(1, 0, 1), 0.5, 0.25],
    [buckets(1, 0, 1), 0.99, 0.99],
    [buckets(1, 1), 1, 0.5],
  ])('is interpolated within its bucket: case %#', (counts, share, expected) => {
    expect(quantile(counts, totalOf(counts), share)).toBe(expected);
  });

  it('is the highest bound for values above it', () => {
    const counts = buckets();
    counts[counts.length - 1] = 1;
    expect(quantile(counts, 1, 0.5)).toBe(30_000);
  });
});
