import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PUBLIC_ALL } from '../../support/gateway.ts';
import { pause } from '../../support/pause.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../../support/raw.ts';
import { eventually } from '../../support/site.ts';
import { startRawUpstream, startWireUpstream } from '../../support/upstream.ts';
import { startWorkerGateways, type WorkerGateway, type WorkerGateways } from '../../support/worker-gateways.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(upstream: string, count: number, started = count): Promise<WorkerGateways> {
  const text = `version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  up: ${upstream}\nroutes:\n${PUBLIC_ALL}`;
  const gateways = await startWorkerGateways(text, { count, started });
  closing.push(() => gateways.close());
  return gateways;
}

/** Starts an upstream that calls `respond` for each request with the connection and the path. */
async function startUpstream(respond: (socket: Socket, path: string) => void) {
  const upstream = await startRawUpstream((socket) => {
    socket.on('data', (bytes) => {
      const [, path = ''] = /^[A-Z]+ (\S+) HTTP/.exec(bytes.toString('latin1')) ?? [];
      if (path !== '') respond(socket, path);
    });
  });
  closing.push(() => upstream.close());
  return upstream;
}

const get = ({ port }: WorkerGateway, path = '/x') => sendRequest(port, head(`GET ${path} HTTP/1.1`));
const endpointIn = ({ gateway }: WorkerGateway) => gateway.upstreams[0]?.endpoints[0];
const eventsOf = ({ workers }: WorkerGateways) =>
  workers.flatMap(({ logEntries }) => logEntries.flatMap(({ event, reason }) => (event ? [[event, reason]] : [])));

describe('the circuit breaker of several workers', () => {
  // The breaker reads this clock.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

  async function startBroken(breaker: string, count = 3) {
    const state = { isBroken: true, requests: 0, held: [] as Socket[] };
    const upstream = await startUpstream((socket, path) => {
      state.requests += 1;
      if (path === '/hold') state.held.push(socket);
      else if (state.isBroken) socket.destroy();
      else socket.write(OK);
    });
    const gateways = await serve(`{ url: '${upstream.url}', retry: false, breaker: ${breaker} }`, count);
    return { state, gateways, workers: gateways.workers as [WorkerGateway, WorkerGateway, WorkerGateway] };
  }

  it('opens in all of them after failures in each of them', async () => {
    const { state, gateways, workers } = await startBroken('{ failures: 3, pause: 1h }');
    for (const worker of workers) expect((await get(worker)).status).toBe(502);
    expect(workers.map((worker) => endpointIn(worker)?.breaker)).toEqual(['open', 'open', 'open']);
    for (const worker of workers) expect((await get(worker)).status).toBe(503);
    expect(state.requests).toBe(3);
    expect(endpointIn(workers[0])?.breakerOpenings).toBe(1);
    expect(eventsOf(gateways).filter(([event]) => event === 'breaker_open').length).toBe(1);
  });

  it('does not open while another worker has successes between the failures', async () => {
    const { state, workers } = await startBroken('{ failures: 2, pause: 1h }');
    for (let count = 0; count < 3; count += 1) {
      state.isBroken = true;
      expect((await get(workers[count % 2] as WorkerGateway)).status).toBe(502);
      state.isBroken = false;
      expect((await get(workers[2])).status).toBe(200);
    }
    expect(endpointIn(workers[0])?.breaker).toBe('closed');
  });

  it('lets one request of all workers through as the trial, and closes for all of them', async () => {
    const { state, gateways, workers } = await startBroken('{ failures: 1, pause: 10s }');
    expect((await get(workers[1])).status).toBe(502);
    vi.advanceTimersByTime(10_000);
    state.isBroken = false;
    const trial = get(workers[2], '/hold');
    await eventually('the trial has begun', () => state.held.length === 1);
    for (const worker of workers) expect((await get(worker)).status).toBe(503);
    state.held[0]?.write(OK);
    expect((await trial).status).toBe(200);
    for (const worker of workers) expect((await get(worker)).status).toBe(200);
    expect(eventsOf(gateways).filter(([event]) => String(event).startsWith('breaker'))).toEqual([
      ['breaker_open', undefined],
      ['breaker_closed', undefined],
    ]);
  });

  it('lets only one of several requests at the same time through as the trial', async () => {
    const { state, workers } = await startBroken('{ failures: 1, pause: 10s }');
    expect((await get(workers[1])).status).toBe(502);
    vi.advanceTimersByTime(10_000);
    const requests = workers.flatMap((worker) => [get(worker, '/hold'), get(worker, '/hold')]);
    await eventually('the trial has begun', () => state.held.length > 0);
    const done = await Promise.all(
      requests.map((request) => Promise.race([request.then(({ status }) => status), holdEnd(state.held)])),
    );
    expect(done.sort()).toEqual([200, 503, 503, 503, 503, 503]);
    expect(state.held.length).toBe(1);
  });

  it('releases the trial of a worker that ends', async () => {
    const { state, gateways, workers } = await startBroken('{ failures: 1, pause: 10s }');
    expect((await get(workers[1])).status).toBe(502);
    vi.advanceTimersByTime(10_000);
    state.isBroken = false;
    void get(workers[2], '/hold').catch(() => undefined);
    await eventually('the trial has begun', () => state.held.length === 1);
    expect((await get(workers[0])).status).toBe(503);
    gateways.end(2);
    workers[0].gateway.forgetWorker(2);
    expect((await get(workers[1])).status).toBe(200);
  });

  it('does not open by one of several clients, wherever it connects', async () => {
    const upstream = await startUpstream((socket, path) => {
      if (path === '/break') socket.destroy();
      else socket.write(OK);
    });
    const text = `version: 1
listen: 127.0.0.1:0
server: { trustedProxies: [127.0.0.1] }
upstreams:
  up: { url: '${upstream.url}', retry: false, breaker: { failures: 4, pause: 1h } }
routes:
${PUBLIC_ALL}`;
    const gateways = await startWorkerGateways(text, { count: 2 });
    closing.push(() => gateways.close());
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const from = ({ port }: WorkerGateway, client: string, path: string) =>
      sendRequest(port, head(`GET ${path} HTTP/1.1`, `X-Forwarded-For: ${client}`));
    expect((await from(second, '10.0.0.9', '/x')).status).toBe(200);
    for (let count = 0; count < 12; count += 1)
      expect((await from(count % 2 === 0 ? first : second, '10.0.0.1', '/break')).status).toBe(502);
    expect(endpointIn(first)?.breaker).toBe('closed');
    for (const client of ['10.0.0.2', '10.0.0.3']) await from(second, client, '/break');
    expect(endpointIn(first)?.breaker).toBe('open');
  });
});

/** Responds to the requests that the upstream holds once all others are over. */
async function holdEnd(held: readonly Socket[]): Promise<never> {
  await pause(200);
  for (const socket of held) socket.write(OK);
  return new Promise<never>(() => undefined);
}

describe('health checks of several workers', () => {
  it('are sent by worker 0 alone and reach the others, also one that starts later', async () => {
    const state = { isHealthy: true, checks: 0, requests: 0 };
    const upstream = await startUpstream((socket, path) => {
      if (path === '/health') {
        state.checks += 1;
        socket.write(state.isHealthy ? OK : OK.replace('200 OK', '503 No'));
      } else {
        state.requests += 1;
        socket.write(OK);
      }
    });
    const health = '{ path: /health, interval: 20ms, healthy: 1, unhealthy: 1 }';
    const gateways = await serve(`{ url: '${upstream.url}', health: ${health} }`, 4, 3);
    const [first, second, third] = gateways.workers as [WorkerGateway, WorkerGateway, WorkerGateway];
    await eventually('all are healthy', () =>
      [first, second, third].every((worker) => endpointIn(worker)?.check === 'healthy'),
    );
    // Each check is a connection of its own, which closes before the next one. Three probers would have several at a time.
    expect(upstream.sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(1);
    state.isHealthy = false;
    await eventually('all are unhealthy', () =>
      [first, second, third].every((worker) => endpointIn(worker)?.check === 'unhealthy'),
    );
    const late = await gateways.start(3);
    expect(endpointIn(late)).toMatchObject({ check: 'unhealthy', reason: 'upstream_status_503' });
    const before = state.requests;
    for (const worker of [first, second, third, late]) expect((await get(worker)).status).toBe(503);
    expect(state.requests).toBe(before);
    await first.gateway.close(0);
    const { checks } = state;
    await pause(200);
    // One check may have been on its way.
    expect(state.checks - checks).toBeLessThanOrEqual(1);
    expect(eventsOf(gateways)).toEqual([['unhealthy', 'upstream_status_503']]);
  });

  it('let requests that wait in another worker through as soon as an endpoint is healthy', async () => {
    const held: Socket[] = [];
    const state = { isHealthy: false };
    const slow = await startUpstream((socket, path) =>
      path === '/health' ? socket.write(OK) : void held.push(socket),
    );
    const recovering = await startUpstream((socket, path) =>
      socket.write(path === '/health' && !state.isHealthy ? OK.replace('200 OK', '503 No') : OK),
    );
    const health = '{ path: /health, interval: 20ms, healthy: 1, unhealthy: 1 }';
    const gateways = await serve(
      `{ urls: ['${slow.url}', '${recovering.url}'], health: ${health}, connections: { limit: 1 }, timeouts: { connect: 30s } }`,
      2,
    );
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    await eventually(
      'one endpoint is unhealthy',
      () => second.gateway.upstreams[0]?.endpoints[1]?.check === 'unhealthy',
    );
    const one = get(first);
    await eventually('the healthy endpoint is busy', () => held.length === 1);
    const two = get(second);
    await eventually('the second request waits', () => first.gateway.upstreams[0]?.waiting === 1);
    state.isHealthy = true;
    expect((await two).status).toBe(200);
    held[0]?.write(OK);
    expect((await one).status).toBe(200);
  });
});

describe('the health by requests of several workers', () => {
  it('is one state with one log line for each change', async () => {
    const closed = await startWireUpstream(() => OK);
    await closed.close();
    const gateways = await serve(`{ url: '${closed.url}' }`, 3);
    const [first, second, third] = gateways.workers as [WorkerGateway, WorkerGateway, WorkerGateway];
    for (const worker of [second, third, second]) expect((await get(worker)).status).toBe(502);
    expect(endpointIn(first)).toMatchObject({ health: 'unhealthy', reason: 'upstream_econnrefused' });
    expect(eventsOf(gateways)).toEqual([['unhealthy', 'upstream_econnrefused']]);
    const server = createServer((socket) =>
      socket.on('data', () => void socket.write(OK)).on('error', () => undefined),
    );
    await new Promise<void>((resolve) => server.listen(Number(new URL(closed.url).port), '127.0.0.1', resolve));
    closing.push(() => server.close());
    await eventually('the endpoint is healthy', async () => {
      await get(third);
      return endpointIn(first)?.health === 'healthy';
    });
    await eventually('the change is in the log', () => eventsOf(gateways).length === 2);
    expect(eventsOf(gateways)[1]).toEqual(['healthy', undefined]);
  });

  it('counts clients that left in all workers', async () => {
    const held: Socket[] = [];
    const upstream = await startUpstream((socket) => void held.push(socket));
    const gateways = await serve(`{ url: '${upstream.url}' }`, 2);
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    for (const [index, worker] of [first, second].entries()) {
      const wire = (await Wire.open(worker.port)).write(keepAliveHead('GET /x HTTP/1.1'));
      await eventually('the upstream has the request', () => held.length === index + 1);
      wire.socket.resetAndDestroy();
    }
    await eventually('both clients are counted', () => endpointIn(first)?.abandoned === 2);
    expect(endpointIn(second)?.abandoned).toBe(2);
  });
});
