import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sharedGatewayCounters } from '../../src/engine/gateway/gateway-counters.ts';
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

const RESPONSE_LIMIT = `timeouts: { response: ${LIMIT_MS}ms }`;
const healthOf = (path: string) =>
  `health: { path: ${path}, interval: 100ms, timeout: ${LIMIT_MS}ms, healthy: 1, unhealthy: 1 }`;

/** The settings of each upstream. Requests to it have its name as their path. */
const UPSTREAMS = {
  response: RESPONSE_LIMIT,
  total: `timeouts: { response: ${LIMIT_MS}ms, total: ${LIMIT_MS}ms }`,
  silent: RESPONSE_LIMIT,
  closing: RESPONSE_LIMIT,
  responding: healthOf('/responding'),
  unresponsive: healthOf('/unresponsive'),
};
type Upstream = keyof typeof UPSTREAMS;
const NAMES = Object.keys(UPSTREAMS) as Upstream[];

/** Starts a gateway in its own process, and a server behind all upstreams that holds every request until the test responds. */
async function start() {
  const held = new Map<string, Socket[]>();
  const server = await startRawUpstream((socket) => {
    socket.on('data', (bytes) => {
      const name = bytes.toString().split(' ')[1]?.slice(1) ?? '';
      held.set(name, [...heldOf(name), socket]);
    });
  });
  const heldOf = (name: string) => held.get(name) ?? [];
  const upstreams = NAMES.map(
    (name) =>
      `  ${name}: { url: '${server.url}', breaker: { failures: 1, pause: 1h }, retry: false, ${UPSTREAMS[name]} }`,
  );
  const routes = NAMES.map(
    (name) => `  - { id: ${name}, method: any, path: /${name}, upstream: ${name}, access: public }`,
  );
  const gateway = await forkGateway(
    ['version: 1', 'listen: 127.0.0.1:0', 'upstreams:', ...upstreams, 'routes:', ...routes].join('\n'),
  );
  return {
    gateway,
    /** Resolves when the server holds a number of requests. */
    holds: (name: Upstream, count: number) =>
      eventually(`the upstream ${name} has ${count} requests`, () => heldOf(name).length === count),
    /** Treats the requests that the server holds. */
    settle: (name: Upstream, treat: (socket: Socket) => void = (socket) => socket.write(OK)) => {
      heldOf(name).forEach(treat);
      held.delete(name);
    },
    request: async (name: Upstream) => {
      const wire = await Wire.open(gateway.port);
      return wire.write(keepAliveHead(`GET /${name} HTTP/1.1`));
    },
    endpointOf: async (name: Upstream) => (await gateway.usage()).upstreams.find(({ id }) => id === name)?.endpoints[0],
    close: async () => {
      await gateway.close();
      await server.close();
    },
  };
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

/** The upstreams with health checks. */
const CHECKED = ['responding', 'unresponsive'] as const;

// The tests of a standstill share it.
describe.each(STANDSTILLS)('while %s', (_title, standStill) => {
  let site: Awaited<ReturnType<typeof start>>;
  const wires = new Map<Upstream, Wire[]>();
  const checks = new Map<Upstream, unknown>();
  beforeAll(async () => {
    site = await start();
    for (const name of CHECKED) {
      await site.holds(name, 1);
      site.settle(name);
    }
    for (const [name, count] of [
      ['response', 12],
      ['total', 12],
      ['silent', 1],
      ['closing', 1],
    ] as const)
      wires.set(name, await Promise.all(Array.from({ length: count }, () => site.request(name))));
    await Promise.all([...wires].map(([name, { length }]) => site.holds(name, length)));
    // The next checks.
    await Promise.all([site.holds('responding', 1), site.holds('unresponsive', 1)]);
    await standStill(site.gateway, () => {
      for (const name of ['response', 'total', 'responding'] as const) site.settle(name);
      site.settle('closing', (socket) => socket.destroy());
      for (const name of ['silent', 'unresponsive'] as const) site.settle(name, () => undefined);
    });
    // At once: nobody responds to the checks that follow.
    for (const name of CHECKED) {
      await site.holds(name, 1);
      checks.set(name, (await site.endpointOf(name))?.check);
      site.settle(name);
    }
  });
  afterAll(() => site.close());

  it.each(['response', 'total'] as const)('a response that arrives is served after the %s timeout', async (name) => {
    for (const wire of wires.get(name) ?? []) expect((await wire.response()).status).toBe(200);
    expect(await site.endpointOf(name)).toMatchObject({ breaker: 'closed', health: 'healthy' });
    expect((await site.gateway.usage()).standstillMs).toBeGreaterThan(1_000);
  });

  it.each([
    ['sends nothing', 'silent', 504],
    ['closes its connections', 'closing', 502],
  ] as const)('an upstream that %s gets no blame', async (_what, name, status) => {
    expect((await wires.get(name)?.[0]?.response())?.status).toBe(status);
    const next = await site.request(name);
    await site.holds(name, 1);
    site.settle(name);
    expect((await next.response()).status).toBe(200);
    expect(await site.endpointOf(name)).toMatchObject({ breaker: 'closed', health: 'healthy' });
  });

  it.each([
    ['responds', 'responding'],
    ['does not respond', 'unresponsive'],
  ] as const)('a health check that the upstream %s to does not fail', (_what, name) => {
    expect(checks.get(name)).toBe('healthy');
  });
});

describe('a gateway that stood still', () => {
  it('blames an upstream that still does not respond', async () => {
    const site = await start();
    onTestFinished(site.close);
    await site.gateway.pause(PAUSE_MS, () => undefined);
    await eventually('the standstill is noticed', async () => (await site.gateway.usage()).standstillMs > 0);
    // A busy machine may stop the process again.
    await eventually('the breaker opens', async () => {
      await (await site.request('silent')).response();
      return (await site.endpointOf('silent'))?.breaker === 'open';
    });
  });

  it('counts a standstill of all workers once', () => {
    const worker = createSingleWorker();
    const [first, second] = [0, 1].map((index) => sharedGatewayCounters({ ...worker, index, count: 2 }));
    expect([first?.addStandstill(60_000), second?.addStandstill(60_000)]).toEqual([true, false]);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    expect(second?.addStandstill(5)).toBe(true);
    expect(first?.standstillMs.total).toBe(60_005);
  });

  it('writes one log line', async () => {
    const gateway = await startGateway(
      `version: 1\nlisten: 127.0.0.1:0\nupstreams: { up: { url: 'http://127.0.0.1:9' } }\nroutes:\n${PUBLIC_ALL}`,
    );
    onTestFinished(() => gateway.close());
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    const lines = () => gateway.told.filter(({ msg }) => msg === 'the process stood still');
    await eventually('the line is written', () => lines().length > 0);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ level: 40, count: 1, ms: expect.any(Number) });
    expect(gateway.gateway.standstillMs).toBeGreaterThan(1_000);
  });
});
