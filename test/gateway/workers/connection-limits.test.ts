import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../../src/engine/gateway/gateway.ts';
import { createNullLog } from '../../../src/engine/log/log.ts';
import { PUBLIC_ALL } from '../../support/gateway.ts';
import { turns } from '../../support/pause.ts';
import { head, keepAliveHead, openSocket, sendRequest, Wire } from '../../support/raw.ts';
import { eventually } from '../../support/site.ts';
import { startRawUpstream, startUpstreamServer } from '../../support/upstream.ts';
import {
  createWorkerContexts,
  planOf,
  startWorkerGateways,
  type WorkerGateway,
  type WorkerGateways,
} from '../../support/worker-gateways.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

interface HeldWorker {
  readonly gateway: Gateway;
  readonly port: number;
}

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Starts an upstream that counts its open connections, and calls `respond` for each request. */
async function startCounting(respond: (socket: Socket, path: string) => void) {
  const counts = { open: 0, most: 0, opened: 0 };
  const upstream = await startRawUpstream((socket) => {
    counts.open += 1;
    counts.opened += 1;
    // The end of another connection may be in the same round of events.
    void turns(2).then(() => {
      counts.most = Math.max(counts.most, counts.open);
    });
    let isOpen = true;
    const end = () => {
      if (isOpen) counts.open -= 1;
      isOpen = false;
    };
    socket.on('end', end);
    socket.on('close', end);
    socket.on('data', (bytes) => {
      const [, path = ''] = /^[A-Z]+ (\S+) /.exec(bytes.toString('latin1')) ?? [];
      respond(socket, path);
    });
  });
  closing.push(() => upstream.close());
  return { url: upstream.url, counts };
}

async function serve(upstream: string, count: number, options: { server?: string; descriptorLimit?: number } = {}) {
  const text = `version: 1\nlisten: 127.0.0.1:0\nserver: ${options.server ?? '{}'}\nupstreams:\n  up: ${upstream}\nroutes:\n${PUBLIC_ALL}`;
  const gateways = await startWorkerGateways(text, { count, ...options });
  closing.push(() => gateways.close());
  return gateways;
}

const get = ({ port }: WorkerGateway, path = '/x') => sendRequest(port, head(`GET ${path} HTTP/1.1`));
const statusOf = ({ workers }: WorkerGateways) => workers[0]?.gateway.upstreams[0];
const endpointOf = (gateways: WorkerGateways) => statusOf(gateways)?.endpoints[0];

/** Sends requests on some connections at the same time. Returns how often each status occurred. */
async function load(worker: WorkerGateway, connections: number, requests: number, path = '/x') {
  const statuses: Record<number, number> = {};
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const wire = await Wire.open(worker.port);
      for (let count = 0; count < requests; count += 1) {
        wire.write(keepAliveHead(`GET ${path} HTTP/1.1`));
        const { status } = await wire.response();
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      wire.end();
    }),
  );
  return statuses;
}

describe('the connection limit of an endpoint', () => {
  it('is a limit for all workers together, and all requests are served', async () => {
    const { url, counts } = await startCounting((socket) => void setImmediate(() => socket.write(OK)));
    const gateways = await serve(`{ url: '${url}', connections: { limit: 4 }, timeouts: { connect: 30s } }`, 3);
    const statuses = await Promise.all(gateways.workers.map((worker) => load(worker, 8, 25)));
    expect(statuses).toEqual([{ 200: 200 }, { 200: 200 }, { 200: 200 }]);
    expect(counts.most).toBeLessThanOrEqual(4);
    expect(endpointOf(gateways)).toMatchObject({ busy: 0, connections: counts.open });
    expect(statusOf(gateways)?.waiting).toBe(0);
  });

  it('gives each of several workers its turn even if it is 1', async () => {
    const { url, counts } = await startCounting((socket) => void setImmediate(() => socket.write(OK)));
    const gateways = await serve(`{ url: '${url}', connections: { limit: 1 }, timeouts: { connect: 30s } }`, 3);
    const [first, second, third] = gateways.workers as [WorkerGateway, WorkerGateway, WorkerGateway];
    let isOver = false;
    const flood = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) await load(first, 1, 20);
      }),
    );
    await eventually('a request waits in the first worker', () => (statusOf(gateways)?.waiting ?? 0) > 0);
    expect(await Promise.all([load(second, 1, 10), load(third, 1, 10)])).toEqual([{ 200: 10 }, { 200: 10 }]);
    isOver = true;
    await flood;
    expect(counts.most).toBe(1);
  });

  it('closes idle connections of a worker for the requests of another one', async () => {
    const { url, counts } = await startCounting((socket) => void socket.write(OK));
    const gateways = await serve(`{ url: '${url}', connections: { limit: 2 } }`, 2);
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    expect(await load(first, 2, 3)).toEqual({ 200: 6 });
    await eventually('both connections are idle', () => endpointOf(gateways)?.busy === 0);
    expect((await get(second)).status).toBe(200);
    expect(counts.most).toBeLessThanOrEqual(2);
  });

  it('passes a busy connection on when its exchange ends', async () => {
    const waiting: Socket[] = [];
    const { url, counts } = await startCounting((socket) => void waiting.push(socket));
    const gateways = await serve(`{ url: '${url}', connections: { limit: 1 }, timeouts: { connect: 30s } }`, 2);
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const one = get(first);
    await eventually('the first request has the connection', () => waiting.length === 1);
    const two = get(second);
    await eventually('the second request waits', () => statusOf(gateways)?.waiting === 1);
    const { length } = gateways.messages;
    // All connections are busy, so there is nobody to notify.
    expect(length).toBe(0);
    waiting[0]?.write(OK);
    await eventually('the second request has a connection', () => waiting.length === 2);
    waiting[1]?.write(OK);
    expect([(await one).status, (await two).status, counts.most]).toEqual([200, 200, 1]);
  });

  it('costs no message while no request waits', async () => {
    const { url } = await startCounting((socket) => void socket.write(OK));
    const gateways = await serve(`{ url: '${url}', connections: { limit: 64 } }`, 3);
    await Promise.all(gateways.workers.map((worker) => load(worker, 4, 20)));
    expect(gateways.messages).toEqual([]);
  });

  it('does not keep room for a request that has left the queue', async () => {
    const waiting: Socket[] = [];
    const { url } = await startCounting((socket) => void waiting.push(socket));
    const plan = planOf(
      `version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  up: { url: '${url}', connections: { limit: 1 }, timeouts: { connect: 30s } }\nroutes:\n${PUBLIC_ALL}`,
    );
    const { contextOf } = createWorkerContexts(3);
    const held: (() => void)[] = [];
    const [first, second, third] = (await Promise.all(
      [0, 1, 2].map(async (index) => {
        const { bus, ...context } = contextOf(index);
        const publish = (topic: string, value: unknown) => void held.push(() => bus.publish(topic, value));
        const worker = { ...context, bus: { ...bus, publish } };
        const gateway = createGateway(plan, createNullLog(), { worker });
        closing.push(() => gateway.close(0));
        return { gateway, port: (await gateway.listen()).port };
      }),
    )) as [HeldWorker, HeldWorker, HeldWorker];
    const get = ({ port }: HeldWorker) => sendRequest(port, head('GET /x HTTP/1.1'));
    const status = () => first.gateway.upstreams[0];
    const one = get(first);
    await eventually('the first request has the connection', () => waiting.length === 1);
    const leaving = await openSocket(second.port);
    leaving.write(keepAliveHead('GET /x HTTP/1.1'));
    await eventually('the second request waits', () => status()?.waiting === 1);
    const three = get(third);
    await eventually('the third request waits', () => status()?.waiting === 2);
    waiting[0]?.write(OK);
    await eventually('the room is granted to the second worker', () => held.length === 1);
    leaving.resetAndDestroy();
    await eventually('its request has left', () => status()?.waiting === 1);
    for (let message = held.shift(); message !== undefined; message = held.shift()) message();
    await eventually('the third request has a connection', () => waiting.length === 2);
    waiting[1]?.write(OK);
    expect([(await one).status, (await three).status]).toEqual([200, 200]);
  });

  it('counts tunnels of all workers', async () => {
    const { url } = await startCounting((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    );
    const text = `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${url}', connections: { limit: 1, queue: 0 } }
routes:
  - { id: all, method: GET, path: /**, upstream: up, access: public, websocket: { origins: [http://gateway.test] } }
`;
    const gateways = await startWorkerGateways(text, { count: 2 });
    closing.push(() => gateways.close());
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const upgrade = keepAliveHead(
      'GET /x HTTP/1.1',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Origin: http://gateway.test',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    );
    const one = (await Wire.open(first.port)).write(upgrade);
    expect((await one.message()).status).toBe(101);
    const two = (await Wire.open(second.port)).write(upgrade);
    expect((await two.message()).status).toBe(503);
    await eventually('one tunnel is open', () => first.gateway.clients.tunnels === 1);
    one.socket.destroy();
    await eventually('the tunnel is closed', () => endpointOf(gateways)?.connections === 0);
    const three = (await Wire.open(second.port)).write(upgrade);
    expect((await three.message()).status).toBe(101);
    three.socket.destroy();
  });

  it('holds for several endpoints, with least-pending by the requests of all workers', async () => {
    const pending: Socket[] = [];
    const slow = await startCounting((socket) => void pending.push(socket));
    const fast = await startCounting((socket) => void socket.write(OK));
    const gateways = await serve(`{ urls: ['${slow.url}', '${fast.url}'], balance: least-pending }`, 2);
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const waiting = get(first);
    await eventually('the slow endpoint has the first request', () => pending.length === 1);
    for (let count = 0; count < 5; count += 1) expect((await get(second)).status).toBe(200);
    expect(fast.counts.opened).toBe(1);
    pending[0]?.write(OK);
    expect((await waiting).status).toBe(200);
  });

  it('does not keep a worker from closing while another one holds connections', async () => {
    const waiting: Socket[] = [];
    const { url } = await startCounting((socket) => void waiting.push(socket));
    const gateways = await serve(`{ url: '${url}', connections: { limit: 2 } }`, 2);
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const one = get(first);
    await eventually('the first worker is busy', () => waiting.length === 1);
    await second.gateway.close(1_000);
    waiting[0]?.write(OK);
    expect((await one).status).toBe(200);
  });
});

describe('the queue limit of an upstream', () => {
  it('is a limit for all workers together', async () => {
    const waiting: Socket[] = [];
    const { url } = await startCounting((socket) => void waiting.push(socket));
    const gateways = await serve(
      `{ url: '${url}', connections: { limit: 1, queue: 3 }, timeouts: { connect: 30s } }`,
      2,
    );
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const requests = [get(first)];
    await eventually('the connection is busy', () => waiting.length === 1);
    for (const worker of [first, first, second]) {
      const before = statusOf(gateways)?.waiting ?? 0;
      requests.push(get(worker));
      await eventually('the request waits', () => statusOf(gateways)?.waiting === before + 1);
    }
    for (const worker of [first, second]) {
      expect((await get(worker)).status).toBe(503);
      await eventually('the refusal is in the log', () => worker.lines.length > 0);
      expect(worker.lines.at(-1)).toMatchObject({ reason: 'queue_full' });
    }
    for (let served = 0; served < 4; served += 1) {
      await eventually('the upstream has the next request', () => waiting.length > served);
      waiting[served]?.write(OK);
    }
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('the status of an upstream in worker 0', () => {
  it('contains the requests, connections and retries of all workers', async () => {
    const upstream = await startUpstreamServer((request, response) => {
      if (request.url === '/close') request.socket.destroy();
      else if (request.url === '/hang') return;
      else response.end('ok');
    });
    closing.push(() => upstream.close());
    const gateways = await serve(`{ url: '${upstream.url}' }`, 3);
    const [first, second, third] = gateways.workers as [WorkerGateway, WorkerGateway, WorkerGateway];
    for (const worker of [first, second, third]) {
      const wire = await Wire.open(worker.port);
      wire.write(keepAliveHead('GET /hang HTTP/1.1'));
      closing.push(() => wire.end());
    }
    await eventually('three requests are in flight', () => endpointOf(gateways)?.busy === 3);
    expect(endpointOf(gateways)?.connections).toBe(3);
    expect((await get(second)).status).toBe(200);
    await eventually('one connection is idle', () => endpointOf(gateways)?.connections === 4);
    // The idle connection closes at the second request, which is then sent once more.
    await get(second, '/close');
    expect(statusOf(gateways)?.retries).toBe(1);
    expect(third.gateway.upstreams[0]?.retries).toBe(1);
  });
});

describe('a worker that ends', () => {
  it('gives its connections and its place in the queue to the others', async () => {
    const waiting: Socket[] = [];
    const { url } = await startCounting((socket) => void waiting.push(socket));
    const gateways = await serve(
      `{ url: '${url}', connections: { limit: 2, queue: 2 }, timeouts: { connect: 30s } }`,
      3,
    );
    const [first, second, third] = gateways.workers as [WorkerGateway, WorkerGateway, WorkerGateway];
    void Promise.allSettled([get(second), get(second)]);
    await eventually('the second worker has all connections', () => waiting.length === 2);
    void Promise.allSettled([get(second)]);
    await eventually('a request of the second worker waits', () => statusOf(gateways)?.waiting === 1);
    const served = get(third);
    await eventually('the queue is full', () => statusOf(gateways)?.waiting === 2);
    gateways.end(1);
    first.gateway.forgetWorker(1);
    expect(statusOf(gateways)?.waiting).toBe(1);
    await eventually('the third worker has a connection', () => waiting.length === 3);
    waiting[2]?.write(OK);
    expect((await served).status).toBe(200);
    expect(endpointOf(gateways)?.connections).toBeLessThanOrEqual(1);
  });
});

describe('the limits of the process', () => {
  it('include the client connections of all workers', async () => {
    const { url } = await startCounting((socket) => void socket.write(OK));
    const gateways = await serve(`{ url: '${url}' }`, 2, { server: '{ limits: { connections: 3 } }' });
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const open = [await openSocket(first.port), await openSocket(first.port), await openSocket(second.port)];
    await eventually('three connections are open', () => first.gateway.clients.connections === 3);
    for (const { port } of [first, second]) {
      const refused = await openSocket(port);
      await eventually('the connection closes', () => {
        refused.resume();
        return refused.destroyed || refused.readableEnded;
      });
    }
    expect(first.gateway.clients).toMatchObject({ connections: 3, limit: 3, refused: 2 });
    open[0]?.destroy();
    await eventually('there is room again', () => first.gateway.clients.connections === 2);
    expect((await get(second)).status).toBe(200);
    for (const socket of open) socket.destroy();
  });

  it('include the bytes of buffered bodies in all workers', async () => {
    const { url } = await startCounting((socket) => void socket.write(OK));
    const text = `version: 1
listen: 127.0.0.1:0
server: { limits: { bufferedBodies: 2MB } }
upstreams:
  up: { url: '${url}' }
routes:
  - { id: all, method: POST, path: /**, upstream: up, access: public, body: { maxBytes: 1MB, schema: { type: object } } }
`;
    const gateways = await startWorkerGateways(text, { count: 2 });
    closing.push(() => gateways.close());
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    const part = `{"a":"${'x'.repeat(900_000)}`;
    const one = (await Wire.open(first.port)).write(
      keepAliveHead('POST /x HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 1000000'),
    );
    one.write(part);
    await eventually('the first worker holds a part', () => second.gateway.bufferBudget.usedBytes === part.length);
    expect(first.gateway.bufferBudget.clientCount).toBe(1);
    const two = (await Wire.open(second.port)).write(
      keepAliveHead('POST /x HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 1000000'),
    );
    two.write(`{"a":"${'x'.repeat(900_000)}`);
    expect((await two.response()).status).toBe(503);
    const { buffer_full, buffer_share } = first.gateway.bufferBudget.refusedCounts;
    expect(buffer_full + buffer_share).toBe(1);
    two.socket.destroy();
    await eventually('only the first worker holds bytes', () => first.gateway.bufferBudget.usedBytes === part.length);
    gateways.end(0);
    second.gateway.forgetWorker(0);
    expect(second.gateway.bufferBudget).toMatchObject({ usedBytes: 0, clientCount: 0 });
    one.socket.destroy();
  });

  it('include the connections to upstreams of all workers: a new one closes an idle one elsewhere', async () => {
    const upstreams = await Promise.all([0, 1].map(() => startCounting((socket) => void socket.write(OK))));
    const text = `version: 1
listen: 127.0.0.1:0
server: { limits: { connections: 8 } }
upstreams:
  a: { url: '${upstreams[0]?.url}', connections: { limit: 64 } }
  b: { url: '${upstreams[1]?.url}', connections: { limit: 64 } }
routes:
  - { id: a, method: GET, path: /a, upstream: a, access: public }
  - { id: b, method: GET, path: /b, upstream: b, access: public }
`;
    // 16 descriptors leave 2 for clients and 2 for upstreams.
    const gateways = await startWorkerGateways(text, { count: 2, descriptorLimit: 16 });
    closing.push(() => gateways.close());
    const [first, second] = gateways.workers as [WorkerGateway, WorkerGateway];
    expect((await get(first, '/a')).status).toBe(200);
    expect((await get(first, '/b')).status).toBe(200);
    await eventually('both clients have left', () => first.gateway.clients.connections === 0);
    expect((await get(second, '/a')).status).toBe(200);
    // Without the message the idle connections would expire after four seconds.
    expect(gateways.messages).toEqual(['upstream-connections']);
    await eventually(
      'the first worker has closed an idle connection',
      () => upstreams.reduce((sum, { counts }) => sum + counts.open, 0) === 2,
    );
  });
});

describe('a reload', () => {
  it('keeps the shared memory of the upstreams of the new plan, and no other', async () => {
    const upstreams = (names: string[]) =>
      planOf(
        `version: 1\nlisten: 127.0.0.1:0\nupstreams:\n${names.map((name) => `  ${name}: { url: 'http://127.0.0.1:9' }\n`).join('')}routes:\n${names.map((name) => `  - { id: ${name}, method: GET, path: /${name}, upstream: ${name}, access: public }\n`).join('')}`,
      );
    const { contextOf, memory } = createWorkerContexts(2);
    const first = upstreams(['a', 'b']);
    const gateways = [0, 1].map((index) => createGateway(first, createNullLog(), { worker: contextOf(index) }));
    closing.push(() => Promise.all(gateways.map((gateway) => gateway.close(0))));
    const names = () =>
      [...memory.buffers.keys()].map((name) => name.replace(/^(upstream)\/\["(\w+)".*|\/.*/, '$1 $2').trim()).sort();
    expect(names()).toEqual(['gateway', 'requests', 'upstream a', 'upstream b']);
    const kept = [...memory.buffers].filter(([name]) => name.startsWith('upstream/["a"'));
    const next = upstreams(['a', 'c']);
    await gateways[0]?.prepare(next);
    for (const gateway of gateways) gateway.activate(next);
    expect(names()).toEqual(['gateway', 'requests', 'upstream a', 'upstream c']);
    for (const [name, buffer] of kept) expect(memory.buffers.get(name)).toBe(buffer);
  });
});
