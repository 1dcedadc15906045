import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { GatewayCounters } from '../../src/engine/gateway/gateway-counters.ts';
import { sharedGatewayMemory } from '../../src/engine/gateway/gateway-memory.ts';
import { createSingleWorker } from '../../src/engine/shared-memory/worker-context.ts';
import { type ForkedGateway, forkGateway } from '../support/forked.ts';
import { PUBLIC_ALL, startGateway } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { keepAliveHead, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { scaledMs } from '../support/slowness.ts';
import { startRawUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const LIMIT_MS = scaledMs(600);
const PAUSE_MS = LIMIT_MS + 1_000;

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

interface HeldRequest {
  readonly socket: Socket;
  readonly path: string;
}

/** Starts a gateway in its own process, and an upstream that holds every request until the test responds. */
async function start(settings: string) {
  const held: HeldRequest[] = [];
  const upstream = await startRawUpstream((socket) => {
    socket.on('data', (bytes) => void held.push({ socket, path: bytes.toString().split(' ')[1] ?? '' }));
  });
  const text = `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${upstream.url}', breaker: { failures: 1, pause: 1h }, retry: false, ${settings} }
routes:
${PUBLIC_ALL}`;
  const gateway = await forkGateway(text);
  cleanups.push(
    () => upstream.close(),
    () => gateway.close(),
  );
  const respond = (bytes = OK) => {
    for (const { socket } of held.splice(0)) socket.write(bytes);
  };
  const request = async () => {
    const wire = await Wire.open(gateway.port);
    return wire.write(keepAliveHead('GET /x HTTP/1.1'));
  };
  return { gateway, held, respond, request };
}

const STANDSTILLS: readonly [string, (gateway: ForkedGateway, meanwhile: () => void) => Promise<void>][] = [
  ['the process is stopped', (gateway, meanwhile) => gateway.pause(PAUSE_MS, meanwhile)],
  [
    'the event loop is blocked',
    async (gateway, meanwhile) => {
      await gateway.block(PAUSE_MS);
      meanwhile();
      await pause(PAUSE_MS);
    },
  ],
];

describe.each(STANDSTILLS)('while %s', (_title, standStill) => {
  it.each([
    ['response', `timeouts: { response: ${LIMIT_MS}ms }`],
    ['total', `timeouts: { response: ${LIMIT_MS}ms, total: ${LIMIT_MS}ms }`],
  ])('a response that arrives is served after the %s timeout', async (_limit, settings) => {
    const { gateway, held, respond, request } = await start(settings);
    const wires = await Promise.all(Array.from({ length: 12 }, request));
    await eventually('the upstream has all requests', () => held.length === wires.length);
    await standStill(gateway, respond);
    for (const wire of wires) expect((await wire.response()).status).toBe(200);
    const { upstreams, standstillMs } = await gateway.usage();
    expect(upstreams[0]?.endpoints[0]).toMatchObject({ breaker: 'closed', health: 'healthy' });
    expect(standstillMs).toBeGreaterThan(1_000);
  });

  it.each([
    ['sends nothing', () => undefined, 504],
    ['closes its connections', ({ socket }: HeldRequest) => void socket.destroy(), 502],
  ])('an upstream that %s gets no blame', async (_what, treat, status) => {
    const { gateway, held, request, respond } = await start(`timeouts: { response: ${LIMIT_MS}ms }`);
    const wire = await request();
    await eventually('the upstream has the request', () => held.length === 1);
    await standStill(gateway, () => held.splice(0).forEach(treat));
    expect((await wire.response()).status).toBe(status);
    const next = await request();
    await eventually('the upstream has the next request', () => held.length === 1);
    respond();
    expect((await next.response()).status).toBe(200);
    expect((await gateway.usage()).upstreams[0]?.endpoints[0]).toMatchObject({ breaker: 'closed', health: 'healthy' });
  });

  it.each([
    ['responds', OK],
    ['does not respond', ''],
  ])('a health check that the upstream %s to does not fail', async (_what, response) => {
    const settings = `health: { path: /health, interval: 100ms, timeout: ${LIMIT_MS}ms, healthy: 1, unhealthy: 1 }`;
    const { gateway, held, respond } = await start(settings);
    await eventually('the first check begins', () => held.length === 1);
    respond();
    await eventually('the second check begins', () => held.length === 1);
    await standStill(gateway, () => respond(response));
    await eventually('the next check begins', () => held.length === 1);
    expect((await gateway.usage()).upstreams[0]?.endpoints[0]).toMatchObject({ check: 'healthy' });
  });
});

describe('a gateway that stood still', () => {
  it('blames an upstream that still does not respond', async () => {
    const { gateway, request } = await start(`timeouts: { response: ${LIMIT_MS}ms }`);
    await gateway.pause(PAUSE_MS, () => undefined);
    await eventually('the standstill is noticed', async () => (await gateway.usage()).standstillMs > 0);
    // A busy machine may stop the process again.
    await eventually('the breaker opens', async () => {
      await (await request()).response();
      return (await gateway.usage()).upstreams[0]?.endpoints[0]?.breaker === 'open';
    });
  });

  it('counts a standstill of all workers once', () => {
    const memory = sharedGatewayMemory({ ...createSingleWorker(), count: 2 });
    const [first, second] = [0, 1].map((index) => new GatewayCounters(memory, { index, count: 2 }));
    expect([first?.addStandstill(60_000), second?.addStandstill(60_000)]).toEqual([true, false]);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    expect(second?.addStandstill(5)).toBe(true);
    expect(first?.standstillMs.total).toBe(60_005);
  });

  it('writes one log line', async () => {
    const gateway = await startGateway(
      `version: 1\nlisten: 127.0.0.1:0\nupstreams: { up: { url: 'http://127.0.0.1:9' } }\nroutes:\n${PUBLIC_ALL}`,
    );
    cleanups.push(() => gateway.close());
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    const lines = () => gateway.told.filter(({ msg }) => msg === 'the process stood still');
    await eventually('the line is written', () => lines().length > 0);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ level: 40, count: 1, ms: expect.any(Number) });
    expect(gateway.gateway.standstillMs).toBeGreaterThan(1_000);
  });
});
