import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { keepAliveHead, Wire } from '../support/raw.ts';
import { runs } from '../support/runs.ts';
import { eventually } from '../support/site.ts';
import { scaledMs } from '../support/slowness.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const KB = 1024;
const MB = KB * KB;
const JSON_TYPE = 'Content-Type: application/json';
const ROUTES = `  - { id: checked, method: POST, path: /checked, upstream: up, access: public, body: { maxBytes: 512KB, schema: { type: array } } }
  - { id: slow, method: POST, path: /slow, upstream: up, access: public, body: { maxBytes: 512KB, schema: { pattern: '(?:a|b)*a(?:a|b){200}$' } } }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token, maxBytes: 512KB } }
  - { id: streamed, method: POST, path: /streamed, upstream: up, access: public }
`;

let gateway: TestGateway;
let upstream: Upstream;
const wires: Wire[] = [];

/** @param loginBody the upstream's response body to a login */
async function start(limit = '1MB', loginBody = '{}') {
  upstream = await startUpstream((request, response) => {
    if (request.url === '/login') response.setHeader('Content-Type', 'application/json');
    response.end(request.url === '/login' ? loginBody : 'ok');
  });
  const server = `{ trustedProxies: [127.0.0.1], limits: { bufferedBodies: ${limit} } }`;
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url, server }));
}

afterEach(async () => {
  for (const wire of wires.splice(0)) wire.end();
  await gateway.close();
  await upstream.close();
});

const buffers = () => gateway.gateway.bufferBudget;
const isEmpty = () => buffers().usedBytes === 0 && buffers().clientCount === 0;

async function open(): Promise<Wire> {
  const wire = await Wire.open(gateway.port);
  wires.push(wire);
  return wire;
}

/** Sends a request with this Content-Length and the beginning of its body. */
async function begin(path: string, client: string, length: number, sent: number): Promise<Wire> {
  const wire = await open();
  const headers = [JSON_TYPE, `X-Forwarded-For: ${client}`, `Content-Length: ${length}`];
  wire.write(keepAliveHead(`POST ${path} HTTP/1.1`, ...headers));
  wire.write(`[${' '.repeat(sent - 1)}`);
  return wire;
}

describe('the memory limit of buffered bodies', () => {
  it('counts received bytes, not the Content-Length', async () => {
    await start();
    for (let index = 0; index < 30; index += 1) await begin('/checked', '192.0.2.1', 512 * KB, 10);
    await eventually('the gateway receives the bytes', () => buffers().usedBytes === 300);
    const other = await begin('/checked', '192.0.2.2', 1_000, 999);
    other.write(']');
    expect((await other.response()).status).toBe(200);
  });

  it('refuses further bodies with 503 while it is reached', async () => {
    await start();
    for (let index = 0; index < 4; index += 1) await begin('/checked', `192.0.2.${index}`, 512 * KB, 256 * KB);
    await eventually('the gateway receives the bytes', () => buffers().usedBytes === MB);
    const refused = await begin('/checked', '192.0.2.9', 1_000, 500);
    const response = await refused.response();
    expect([response.status, response.json().code, response.value('retry-after')]).toEqual([503, 'gateway_busy', '1']);
    expect(buffers().refusedCounts).toEqual({ buffer_full: 1, buffer_share: 0 });
    await eventually('the access log contains the reason', () =>
      gateway.lines.some(({ reason }) => reason === 'buffer_full'),
    );
    // A body without a schema is streamed, so it needs no memory.
    const streamed = await begin('/streamed', '192.0.2.9', 1_000, 1_000);
    expect((await streamed.response()).status).toBe(200);
    for (const wire of wires) wire.end();
    await eventually('all memory is released', isEmpty);
    const next = await begin('/checked', '192.0.2.9', 1_000, 999);
    next.write(']');
    expect((await next.response()).status).toBe(200);
  });

  it.each([
    ['one client', () => '192.0.2.1'],
    ['all clients of one IPv6 network', (index: number) => `2001:db8:1:2::${index}`],
  ])('gives at most half of it to %s', async (_title, clientAt) => {
    await start();
    for (let index = 0; index < 8; index += 1) await begin('/checked', clientAt(index), 512 * KB, 100 * KB);
    await eventually('the client is refused', () => buffers().refusedCounts.buffer_share >= 3);
    expect(buffers().usedBytes).toBeLessThanOrEqual(MB / 2);
    const other = await begin('/checked', '192.0.2.2', 200 * KB, 200 * KB - 1);
    other.write(']');
    expect((await other.response()).status).toBe(200);
  });

  it('applies to responses of login routes without an upstream error', async () => {
    await start('1MB', `{"padding":"${' '.repeat(500 * KB)}"}`);
    for (let index = 0; index < 2; index += 1) await begin('/checked', `192.0.2.${index}`, 512 * KB, 200 * KB);
    await eventually('the gateway receives the bytes', () => buffers().usedBytes === 400 * KB);
    const login = await begin('/login', '192.0.2.7', 1, 1);
    const response = await login.response();
    expect([response.status, response.json().code, response.value('retry-after')]).toEqual([503, 'gateway_busy', '1']);
    for (const wire of wires) wire.end();
    await eventually('all memory is released', isEmpty);
    gateway.swap(
      manifest(ROUTES, {
        up: upstream.url,
        server: '{ trustedProxies: [127.0.0.1], limits: { bufferedBodies: 8MB } }',
      }),
    );
    expect((await (await begin('/login', '192.0.2.7', 1, 1)).response()).status).toBe(200);
    expect(buffers().limitBytes).toBe(8 * MB);
  });

  it('is released once, however exchanges end', async () => {
    await start('4MB', '{"token":null}');
    const step = fc.record({
      path: fc.constantFrom('/checked', '/slow', '/login', '/streamed'),
      end: fc.constantFrom('complete', 'closed', 'closed later', 'invalid', 'too long', 'reset'),
      bytes: fc.integer({ min: 2, max: 150 * KB }),
      client: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        await Promise.all(
          steps.map(async ({ path, end, bytes, client }) => {
            const length = end === 'too long' ? 3 * MB : end === 'closed' || end === 'reset' ? bytes + 1 : bytes;
            const wire = await begin(path, `192.0.2.${client}`, length, bytes - 1);
            if (end === 'complete') wire.write(']');
            else if (end === 'invalid') wire.write('!');
            else if (end === 'reset') wire.socket.resetAndDestroy();
            else if (end === 'closed') wire.end();
            else if (end === 'closed later') wire.socket.write(']', () => wire.end());
            if (end === 'complete' || end === 'invalid') await wire.response();
          }),
        );
        for (const wire of wires.splice(0)) wire.end();
        await eventually('all memory is released', () => isEmpty() && gateway.gateway.metrics.inFlight === 0);
        expect(buffers().usedBytes).toBe(0);
      }),
      { numRuns: runs(15) },
    );
  });
});

describe('clients that disconnect while their bodies are validated', () => {
  it('do not delay a body of another route', async () => {
    await start('256MB');
    const body = `"${'a'.repeat(512 * KB - 2)}"`;
    for (let index = 0; index < 30; index += 1) {
      const wire = await open();
      wire.write(
        keepAliveHead(
          'POST /slow HTTP/1.1',
          JSON_TYPE,
          `X-Forwarded-For: 192.0.2.${index}`,
          `Content-Length: ${body.length}`,
        ),
      );
      await new Promise((resolve) => wire.socket.write(body, resolve));
    }
    for (const wire of wires) wire.end();
    const other = await open();
    other.write(
      `${keepAliveHead('POST /checked HTTP/1.1', JSON_TYPE, 'Content-Length: 70000')}[${' '.repeat(69_998)}]`,
    );
    const startedAt = performance.now();
    expect((await other.response()).status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(scaledMs(5_000));
    other.end();
    await eventually('all memory is released', isEmpty);
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/checked']);
  });
});
