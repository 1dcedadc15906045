import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { endOf, keepAliveHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstreamServer, type UpstreamServer } from '../support/upstream.ts';

const MB = 1024 * 1024;

let upstream: UpstreamServer;
let gateway: TestGateway;

afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

/** Reads until the end; returns the number of bytes and how the connection ended. */
async function readAll(socket: Socket): Promise<[number, string | undefined]> {
  const end = endOf(socket);
  let size = 0;
  socket.on('data', (chunk) => {
    size += chunk.length;
  });
  return [size, await end].map((value, index) => (index === 0 ? size : value)) as [number, string | undefined];
}

describe('a gateway that stops', () => {
  it('lets slow clients read responses that it has written completely', async () => {
    // More than the buffers of the kernel.
    const size = 12 * MB;
    upstream = await startUpstreamServer((_request, response) => void response.writeHead(404).end(Buffer.alloc(size)));
    // The gateway writes a buffered response at once, so that only the client delays its end.
    const route =
      '  - { id: a, method: GET, path: /a, upstream: up, access: public, login: { token: /a, maxBytes: 50MB } }\n';
    const server = '{ limits: { bufferedBodies: 1GB } }';
    gateway = await startGateway(manifest(route, { up: upstream.url, server }));
    const sockets = await Promise.all(Array.from({ length: 3 }, () => openSocket(gateway.port)));
    // The last client pipelines a second request.
    for (const [index, socket] of sockets.entries()) {
      socket.write(keepAliveHead('GET /a HTTP/1.1').repeat(index === 2 ? 2 : 1));
      await once(socket, 'readable');
    }
    let isClosed = false;
    const closing = gateway.gateway.close(60_000).then(() => {
      isClosed = true;
    });
    // Another exchange may end in the meantime, and the gateway closes idle connections again.
    await pause(200);
    expect(isClosed).toBe(false);
    for (const socket of sockets) {
      const [received, end] = await readAll(socket);
      expect([received > size, end]).toEqual([true, 'a clean end']);
    }
    await closing;
  });

  it('closes idle connections, and serves one that has sent no request yet', async () => {
    upstream = await startUpstreamServer((_request, response) => void response.end('ok'));
    gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
    const idle = await Wire.open(gateway.port);
    idle.write(keepAliveHead('GET /x HTTP/1.1'));
    expect((await idle.response()).status).toBe(200);
    const fresh = await Wire.open(gateway.port);
    await eventually('both are connected', () => gateway.gateway.clients.connections === 2);
    const closing = gateway.gateway.close(60_000);
    await idle.closed();
    fresh.write(keepAliveHead('GET /x HTTP/1.1'));
    const response = await fresh.response();
    expect([response.status, response.value('connection')]).toEqual([200, 'close']);
    await closing;
    idle.end();
  });

  it.each([
    ['quiet', 40, 0],
    ['busy', 200, 15],
  ])('serves the connections that it has not accepted yet on a %s machine', async (_title, count, turnMs) => {
    upstream = await startUpstreamServer((_request, response) => void response.end('ok'));
    gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
    const cells = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    // The clients are in another thread, because this one accepts nothing while it waits for them.
    const clients = new Worker(CLIENTS, { eval: true, workerData: { port: gateway.port, count, cells } });
    const result = once(clients, 'message');
    await once(clients, 'online');
    while (Atomics.load(cells, 0) < count) Atomics.wait(cells, 0, Atomics.load(cells, 0));
    let isBusy = turnMs > 0;
    const work = () => {
      for (const start = performance.now(); performance.now() - start < turnMs; );
      if (isBusy) setImmediate(work);
    };
    work();
    await gateway.gateway.close(600_000);
    isBusy = false;
    const [ends] = await result;
    expect(ends).toEqual(Array.from({ length: count }, () => 'HTTP/1.1 200 OK'));
  });
});

/** Opens connections, each with a request, and sends the first lines of the responses, or the errors. */
const CLIENTS = `
const { connect } = require('node:net');
const { parentPort, workerData: { port, count, cells } } = require('node:worker_threads');
const open = () => new Promise((resolve) => {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET /x HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n');
    Atomics.add(cells, 0, 1);
    Atomics.notify(cells, 0);
  });
  let text = '';
  socket.on('data', (chunk) => { text += chunk; });
  socket.on('error', (error) => resolve(error.code));
  socket.on('close', () => resolve(text.split('\\r\\n')[0]));
});
Promise.all(Array.from({ length: count }, open)).then((ends) => parentPort.postMessage(ends));
`;
