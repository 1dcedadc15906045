import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { endOf, head, keepAliveHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstreamServer, type UpstreamServer } from '../support/upstream.ts';

const MB = 1024 * 1024;
const ROUTES = `  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
  - { id: read, method: POST, path: /read, upstream: up, access: public, body: { schema: {} } }
`;
const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

let upstream: UpstreamServer;
let gateway: TestGateway;

/** @param stalled the timeout of stalled clients; the gateway disconnects them at most a quarter of it later */
async function start(stalled: string, listener: Parameters<typeof startUpstreamServer>[0]): Promise<void> {
  upstream = await startUpstreamServer(listener);
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url, server: `{ timeouts: { stalled: ${stalled} } }` }));
}

afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

async function request(text: string): Promise<Socket> {
  const socket = await openSocket(gateway.port);
  socket.write(text);
  return socket;
}

const line = async (path: string) => {
  await eventually('the access line', () => gateway.lines.some((each) => each['path'] === path));
  return gateway.lines.find((each) => each['path'] === path);
};

describe('a client that does not read its response', () => {
  it.each([
    ['with Content-Length', 'HTTP/1.1'],
    ['without a length', 'HTTP/1.0'],
  ])('is disconnected by a reset, and its upstream request is aborted: %s', async (_framing, version) => {
    const endings: string[] = [];
    await start('400ms', (_request, response) => {
      response.on('close', () => endings.push(response.writableFinished ? 'complete' : 'aborted'));
      if (version === 'HTTP/1.1') response.setHeader('Content-Length', 64 * MB);
      response.end(Buffer.alloc(64 * MB));
    });
    const socket = await request(keepAliveHead(`GET /slow ${version}`));
    // The client receives the start of the response and does not read it.
    await once(socket, 'readable');
    expect(await line('/slow')).toMatchObject({ status: 200, aborted: true, stalled: true });
    await eventually('the upstream request is closed', () => endings.length === 1);
    expect(endings).toEqual(['aborted']);
    const end = endOf(socket);
    socket.resume();
    expect(await end).toBe('ECONNRESET');
  });

  it('is disconnected even if it keeps sending', async () => {
    await start('400ms', (_request, response) => void response.end(Buffer.alloc(64 * MB)));
    const socket = await request(`${keepAliveHead('GET /slow HTTP/1.1')}GET /next HTTP/1.1\r\n`);
    const drip = setInterval(() => socket.write('X: 1\r\n'), 50);
    await once(socket, 'readable');
    expect(await line('/slow')).toMatchObject({ stalled: true });
    clearInterval(drip);
    socket.destroy();
  });

  it('stays connected while it reads now and then', async () => {
    await start('1500ms', (_request, response) => void response.end(Buffer.alloc(64 * MB)));
    const socket = await request(head('GET /slow HTTP/1.1'));
    socket.pause();
    let received = 0;
    // 4 MB at a time, since the kernel frees about that much before the gateway can write again.
    for (let round = 0; round < 6; round += 1) {
      await pause(500);
      for (let roundBytes = 0; roundBytes < 4 * MB; ) {
        const chunk: Buffer | null = socket.read();
        if (chunk === null) await once(socket, 'readable');
        roundBytes += chunk?.length ?? 0;
        received += chunk?.length ?? 0;
      }
    }
    expect(gateway.lines).toEqual([]);
    for await (const chunk of socket) received += chunk.length;
    expect(received).toBeGreaterThan(64 * MB);
    expect(await line('/slow')).not.toHaveProperty('aborted');
  });
});

describe('a client that stops sending its body', () => {
  it.each([
    ['streamed', '/streamed', []],
    ['buffered', '/read', ['Content-Type: application/json']],
    ['requested by 100 Continue', '/continue', ['Expect: 100-continue']],
  ])('is disconnected, and its request never completes upstream: %s', async (_case, path, headers) => {
    const completed: string[] = [];
    await start('400ms', (request) => {
      request.on('end', () => completed.push(request.url ?? ''));
      request.resume();
    });
    const socket = await request(keepAliveHead(`POST ${path} HTTP/1.1`, 'Content-Length: 10', ...headers));
    if (!headers.some((each) => each.startsWith('Expect'))) socket.write('[');
    expect(await endOf(socket)).toBe('ECONNRESET');
    expect(await line(path)).toMatchObject({ aborted: true, stalled: true });
    expect(completed).toEqual([]);
  });
});

/** Several times as long as the timeout for stalled clients of the following tests. */
const WAIT_MS = 1_000;

describe('a waiting client', () => {
  it('stays connected while its upstream prepares the response', async () => {
    await start('200ms', (_request, response) => {
      response.flushHeaders();
      void pause(WAIT_MS).then(() => response.end('late'));
    });
    const wire = new Wire(await request(keepAliveHead('GET /late HTTP/1.1')));
    const response = await wire.response();
    expect([response.status, response.body.toString(), response.isComplete]).toEqual([200, 'late', true]);
    wire.end();
  });

  it('stays connected while its upstream does not read the body', async () => {
    await start('200ms', (request, response) => {
      // 20 MB exceed the kernel buffers of both connections.
      void pause(WAIT_MS).then(() => request.on('end', () => response.end('late')).resume());
    });
    const socket = await request(keepAliveHead('POST /late HTTP/1.1', `Content-Length: ${20 * MB}`));
    socket.write(Buffer.alloc(20 * MB));
    const wire = new Wire(socket);
    expect((await wire.response()).body.toString()).toBe('late');
    wire.end();
  });

  it('stays connected between two requests', async () => {
    await start('200ms', (_request, response) => void response.end('ok'));
    const wire = new Wire(await request(keepAliveHead('GET /one HTTP/1.1')));
    await wire.response();
    await pause(WAIT_MS);
    wire.write(keepAliveHead('GET /two HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    wire.end();
  });
});

describe('a tunnel', () => {
  it('stays open while neither side sends or reads', async () => {
    await start('200ms', () => undefined);
    upstream.server.on('upgrade', (_request, socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.write(Buffer.alloc(20 * MB));
      socket.end('last');
    });
    const socket = await request(keepAliveHead('GET /socket HTTP/1.1', ...HANDSHAKE));
    await once(socket, 'readable');
    await pause(WAIT_MS);
    let tail = '';
    for await (const chunk of socket) tail = (tail + chunk.toString('latin1')).slice(-4);
    expect(tail).toBe('last');
  });

  it('that the upstream refuses is closed if the client does not read the response', async () => {
    await start('400ms', () => undefined);
    upstream.server.on('upgrade', (_request, socket) => {
      socket.on('error', () => undefined);
      socket.write(`HTTP/1.1 403 No\r\nContent-Length: ${64 * MB}\r\n\r\n`);
      socket.write(Buffer.alloc(64 * MB));
    });
    const socket = await request(keepAliveHead('GET /socket HTTP/1.1', ...HANDSHAKE));
    await once(socket, 'readable');
    expect(await line('/socket')).toMatchObject({ status: 403, aborted: true, stalled: true });
    socket.destroy();
  });
});
