import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/site.ts';

const ROUTES = 1_500;
const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
${Array.from(
  { length: ROUTES },
  (_, index) =>
    `  - { id: route-${index}, method: GET, path: '/part-${index % 50}/thing-${index}/{id}', upstream: up, access: public }`,
).join('\n')}
`;

let site: GatewayWithAdmin;

beforeAll(async () => {
  site = await startGatewayWithAdmin(MANIFEST);
  // Record one request of each route, without a network.
  const counted = { request: { method: 'GET' }, response: { headersSent: true, statusCode: 200 }, isTunnel: false };
  const ended = site.gateway.metrics.record.bind(site.gateway.metrics) as (exchange: object, ms: number) => void;
  for (const route of site.gateway.plan.routes) ended({ ...counted, route, forwardedAt: 1, answeredAt: 3 }, 6);
});
afterAll(() => site.close());

/** Requests a path and returns the response with its raw body. */
function read(path: string, headers: Record<string, string> = {}) {
  return new Promise<{ response: IncomingMessage; body: Buffer }>((resolve, reject) => {
    get(site.admin.url + path, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ response, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** Requests a path and reads nothing of the response. */
function ignore(path: string) {
  const socket = connect(site.admin.port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}

/** Removes the measured time, which differs between responses. */
function withoutTime(body: Buffer): string {
  return body.toString().replace(/"seconds":[\d.]+/, '');
}

/** Counts the turns of the event loop. @returns a function that stops counting and returns the count */
function countTurns(): () => number {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    return turns;
  };
}

const LARGE = ['/metrics', '/routes', '/traffic', '/openapi.json'];

describe('a large response', () => {
  it.each(LARGE)('of %s is written in slices, with turns of the event loop between them', async (path) => {
    await read(path);
    const turns = countTurns();
    const { response, body } = await read(path);
    const count = turns();
    expect(response.statusCode).toBe(200);
    // A slice has at most 64 kB plus one chunk.
    expect(count).toBeGreaterThan(body.length / 80_000);
    expect(response.headers['content-length']).toBeUndefined();
  });

  it.each([...LARGE, '/page/page.js'])(
    'of %s is compressed for clients that accept it, with the same content',
    async (path) => {
      const plain = await read(path);
      expect(plain.response.headers['content-encoding']).toBeUndefined();
      const { response, body } = await read(path, { 'Accept-Encoding': 'br, gzip;q=0.5' });
      expect([response.headers['content-encoding'], response.headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
      expect(body.length).toBeLessThan(plain.body.length / 2);
      const decompressed = gunzipSync(body);
      if (path === '/metrics') expect(decompressed.toString()).toContain(`route="route-${ROUTES - 1}"`);
      else expect(withoutTime(decompressed)).toBe(withoutTime(plain.body));
    },
  );

  it.each(['gzip;q=0', 'gzip;q=0.000', 'identity', 'br', 'xgzip', ''])(
    'is not compressed for Accept-Encoding "%s"',
    async (accepted) => {
      const { response } = await read('/routes', { 'Accept-Encoding': accepted });
      expect(response.headers['content-encoding']).toBeUndefined();
    },
  );

  it('to a client that does not read is closed to make room for another one', async () => {
    const ignored = Array.from({ length: 20 }, () => ignore('/metrics'));
    await eventually('a scrape is served', async () => (await read('/metrics')).response.statusCode === 200);
    expect((await scrape(site.admin.url)).value('admin_refusals_total')).toBeGreaterThan(0);
    expect((await fetch(`${site.admin.url}/livez`)).status).toBe(200);
    for (const socket of ignored) socket.destroy();
    await eventually(
      'the connections are closed',
      async () => (await scrape(site.admin.url)).value('admin_connections') <= 2,
    );
  });

  it('to a client that does not read is closed after the idle timeout', async () => {
    const impatient = await startGatewayWithAdmin(MANIFEST, {}, {}, {}, 1_000);
    const socket = connect(impatient.admin.port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
    // On a busy machine the scrape may be disconnected too.
    const open = () =>
      scrape(impatient.admin.url).then(
        ({ value }) => value('admin_connections'),
        () => undefined,
      );
    await eventually('the connection is open', async () => (await open()) === 2);
    await eventually('the connection is closed', async () => (await open()) === 1);
    socket.destroy();
    await impatient.close();
  });

  it('is refused with Retry-After while too many others are written', async () => {
    const all = await Promise.all(Array.from({ length: 30 }, () => read('/openapi.json')));
    const statuses = new Set(all.map(({ response }) => response.statusCode));
    expect([...statuses].sort()).toEqual([200, 503]);
    const refused = all.find(({ response }) => response.statusCode === 503);
    expect(refused?.response.headers['retry-after']).toBe('1');
    for (const { response, body } of all)
      if (response.statusCode === 200) expect(Object.keys(JSON.parse(body.toString()).paths).length).toBe(ROUTES);
  });

  it('does not delay probes', async () => {
    const before = await read('/livez');
    expect(before.response.statusCode).toBe(200);
    const scrapes = Array.from({ length: 6 }, () => read('/openapi.json'));
    let probes = 0;
    const all = Promise.all(scrapes).then(() => 'read');
    while ((await Promise.race([all, read('/livez').then(({ response }) => response.statusCode)])) === 200) probes += 1;
    expect(probes).toBeGreaterThan(10);
    await all;
  });

  it('of /explain is computed in slices', async () => {
    const turns = countTurns();
    const body = '{"method":"GET","url":"/part-1/thing-1/x"}';
    const response = await fetch(`${site.admin.url}/explain`, { method: 'POST', body });
    const count = turns();
    expect(JSON.parse(await response.text()).route.id).toBe('route-1');
    // A response that is computed at once takes three turns. The number of slices depends on the speed of the machine.
    expect(count).toBeGreaterThan(6);
  });
});
