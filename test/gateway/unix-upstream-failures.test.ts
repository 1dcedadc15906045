import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { turns } from '../support/pause.ts';
import { head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startBusyServer, startRawUpstream, startUpstream } from '../support/upstream.ts';

let folder: string;
let path: string;
const cleanups: (() => Promise<unknown> | unknown)[] = [];

beforeAll(() => {
  folder = temporaryFolder('unix-failures');
  path = join(folder, 'app.sock');
});
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
  rmSync(path, { recursive: true, force: true });
});

async function serve(upstream = `{ url: 'unix:${path}' }`): Promise<TestGateway> {
  const gateway = await startGateway(`version: 1
listen: 127.0.0.1:0
upstreams: { up: ${upstream} }
routes: [{ id: all, method: any, path: /**, access: public, upstream: up }]
`);
  cleanups.push(() => gateway.close());
  return gateway;
}

/** Starts a service that handles the first bytes of each connection. */
async function startRaw(respond: (socket: Socket) => void): Promise<void> {
  const upstream = await startRawUpstream((socket) => void socket.once('data', () => respond(socket)), path);
  cleanups.push(() => upstream.close());
}

describe('an upstream on a unix socket', () => {
  it('may send informational responses and trailers', async () => {
    const text =
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n';
    await startRaw((socket) => void socket.write(text));
    const gateway = await serve();
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /x HTTP/1.1', 'TE: trailers'));
    expect((await wire.message()).status).toBe(103);
    await wire.until('X-Sum: 1\r\n\r\n');
    wire.end();
  });

  it.each<[string, (socket: Socket) => void]>([
    ['closes with the upload unread', (socket) => void socket.pause().write(EARLY, () => socket.destroy())],
    ['ends the connection and reads on', (socket) => void socket.end(EARLY)],
    [
      'ends the connection and reads nothing more',
      (socket) => {
        socket.pause().end(EARLY);
        void turns(10).then(() => socket.destroy());
      },
    ],
  ])('may respond before the end of the upload, and %s', async (_title, respond) => {
    await startRaw(respond);
    const gateway = await serve();
    for (const size of [10, 100_000, 3_000_000]) {
      const wire = await Wire.open(gateway.port);
      wire.write(keepAliveHead('POST /x HTTP/1.1', `Content-Length: ${size}`)).write(Buffer.alloc(size - 1));
      const response = await wire.response();
      expect([size, response.status, response.body.toString()]).toEqual([size, 413, 'large']);
      wire.end();
    }
  });

  it.each([
    ['a folder', () => mkdirSync(path)],
    ['a link to nothing', () => symlinkSync('nothing', path)],
    ['a link to itself', () => symlinkSync(path, path)],
    ['a path below a file', () => writeFileSync(path, '')],
  ])('is unreachable as %s', async (title, create) => {
    create();
    const gateway = await serve(`{ url: 'unix:${path}${title.includes('below') ? '/a' : ''}' }`);
    const { status, json } = await sendRequest(gateway.port, head('GET /x HTTP/1.1'));
    expect([status, json().code]).toEqual([502, 'upstream_unreachable']);
    expect(gateway.lines[0]?.['reason']).toMatch(/^upstream_e(?:connrefused|noent|loop|notdir)$/);
  });

  it.skipIf(process.platform !== 'linux')('is unreachable while its queue of connections is full', async () => {
    const busy = await startBusyServer(path);
    cleanups.push(() => busy.stop());
    const waiting = [await openSocket(path), await openSocket(path)];
    const gateway = await serve();
    const { status, json } = await sendRequest(gateway.port, head('GET /x HTTP/1.1'));
    expect([status, json().code]).toEqual([502, 'upstream_unreachable']);
    expect(gateway.lines[0]?.['reason']).toBe('upstream_eagain');
    for (const socket of waiting) socket.destroy();
  });

  it('may be a link to a socket', async () => {
    await startRaw((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    symlinkSync(path, join(folder, 'link.sock'));
    const gateway = await serve(`{ url: 'unix:${join(folder, 'link.sock')}' }`);
    expect((await sendRequest(gateway.port, head('GET /x HTTP/1.1'))).status).toBe(200);
  });

  it('may end and come back under load while another endpoint serves every request', async () => {
    const other = await startUpstream();
    cleanups.push(() => other.close());
    const health = '{ connect: true, interval: 1s, healthy: 1, unhealthy: 1 }';
    const gateway = await serve(`{ urls: ['unix:${path}', '${other.url}'], health: ${health} }`);
    let served = 0;
    const start = async () => {
      const server = createServer((_request, response) => {
        served += 1;
        response.end('ok');
      });
      server.listen(path);
      await once(server, 'listening');
      return async () => {
        server.close();
        server.closeIdleConnections();
        await once(server, 'close');
      };
    };
    let isOver = false;
    const statuses = new Set<number>();
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) statuses.add((await sendRequest(gateway.port, head('GET /x HTTP/1.1'))).status);
    });
    for (let round = 1; round <= 3; round += 1) {
      const stop = await start();
      const before = served;
      await eventually('requests reach the socket', () => served > before + 20);
      await stop();
      expect(existsSync(path)).toBe(false);
    }
    isOver = true;
    await Promise.all(clients);
    expect(statuses).toEqual(new Set([200]));
  });
});

const EARLY = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge';
