import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { linkSync, lstatSync, readdirSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  type RawUpstream,
  startBusyServer,
  startRawUpstream,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts';

let path: string;
let gateway: TestGateway | undefined;
const others: (Server | Upstream | RawUpstream)[] = [];

beforeAll(() => {
  path = join(temporaryFolder('unix-listener'), 'gateway.sock');
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  for (const other of others.splice(0)) await other.close();
  rmSync(path, { force: true });
});

const ROUTES = `
  - { id: one, method: any, path: /one, access: public, upstream: up, rateLimits: [few] }
  - { id: all, method: any, path: /**, access: public, upstream: up, websocket: true }`;

function start(up = 'http://127.0.0.1:9', mode = '', server = '{}'): Promise<TestGateway> {
  const listen = mode === '' ? `'unix:${path}'` : `{ address: 'unix:${path}', mode: '${mode}' }`;
  const text = `version: 1
listen: ${listen}
server: ${server}
rateLimits: { few: { key: client, allow: 2 per 1h, burst: 2 } }
upstreams: { up: { url: '${up}' } }
routes:${ROUTES}
`;
  return startGateway(text).then((started) => {
    gateway = started;
    return started;
  });
}

async function startEcho(): Promise<Upstream> {
  const upstream = await startUpstream();
  others.push(upstream);
  return upstream;
}

/** Starts another process's server, as far as the gateway can tell. */
async function listenOn(file: string): Promise<Server> {
  const server = createServer((socket) => socket.resume());
  server.listen(file);
  await once(server, 'listening');
  others.push(server);
  return server;
}

/** Leaves a socket on which nobody listens. */
async function leaveStale(): Promise<void> {
  const server = await listenOn(`${path}.old`);
  linkSync(`${path}.old`, path);
  server.close();
  await once(server, 'close');
}

describe('the file of a unix socket', () => {
  it.each([
    ['', 0o600],
    ['0660', 0o660],
    ['0000', 0],
  ])('has the mode %s', async (mode, expected) => {
    await start(undefined, mode);
    expect(statSync(path).mode & 0o777).toBe(expected);
    expect(lstatSync(path).isSocket()).toBe(true);
    expect(readdirSync(dirname(path))).toEqual(['gateway.sock']);
    await gateway?.close();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it('replaces one that a process has left behind', async () => {
    await leaveStale();
    await start();
    expect((await sendRequest(path, head('GET /x HTTP/1.1'))).status).toBe(502);
  });

  it('does not replace one on which a process listens', async () => {
    await listenOn(path);
    const { ino } = statSync(path);
    await expect(start()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(statSync(path).ino).toBe(ino);
    expect(readdirSync(dirname(path))).toEqual(['gateway.sock']);
  });

  it.skipIf(process.platform !== 'linux')('does not replace one of a process that is too busy to accept', async () => {
    const busy = await startBusyServer(path);
    const waiting = [await openSocket(path), await openSocket(path)];
    await expect(start()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    for (const socket of waiting) socket.destroy();
    await busy.stop();
    expect(lstatSync(path).isSocket()).toBe(true);
  });

  it('replaces no other file, and no link', async () => {
    writeFileSync(path, 'text');
    await expect(start()).rejects.toMatchObject({ code: 'EEXIST' });
    unlinkSync(path);
    await listenOn(`${path}.real`);
    symlinkSync(`${path}.real`, path);
    await expect(start()).rejects.toMatchObject({ code: 'EEXIST' });
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readdirSync(dirname(path)).sort()).toEqual(['gateway.sock', 'gateway.sock.real']);
  });

  it('belongs to one of two gateways that start together, also after a crash', async () => {
    for (const prepare of [() => undefined, leaveStale]) {
      await prepare();
      const starts = await Promise.allSettled([start(), start(), start()]);
      const started = starts.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const codes = starts.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
      expect(started).toHaveLength(1);
      expect(codes.every((code) => code === 'EEXIST' || code === 'EADDRINUSE')).toBe(true);
      expect((await sendRequest(path, head('GET /x HTTP/1.1'))).status).toBe(502);
      await started[0]?.close();
      expect(readdirSync(dirname(path))).toEqual([]);
    }
  });

  it('may disappear: open connections continue, and the file of another process stays', async () => {
    await start((await startEcho()).url);
    const wire = await Wire.open(path);
    unlinkSync(path);
    await listenOn(path);
    const { ino } = statSync(path);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    wire.end();
    await gateway?.close();
    expect(statSync(path).ino).toBe(ino);
  });
});

describe('a client of a unix socket', () => {
  it('has no address: upstreams get "unknown", and no forwarding header of the client', async () => {
    const upstream = await startEcho();
    await start(upstream.url, '', "{ trustedProxies: ['0.0.0.0/0', '::/0'] }");
    const forged = ['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-Proto: https', 'Forwarded: for=192.0.2.1'];
    expect((await sendRequest(path, head('GET /x HTTP/1.1', ...forged, 'X-Real-IP: 192.0.2.1'))).status).toBe(200);
    const headers = upstream.requests[0]?.headers ?? [];
    const forwarded = headers.flatMap((name, at) =>
      /forwarded|real/i.test(name) ? [`${name}: ${headers[at + 1]}`] : [],
    );
    expect(forwarded).toEqual([
      'X-Forwarded-For: unknown',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: gateway.test',
    ]);
    expect(gateway?.lines[0]).toMatchObject({ route: 'all', status: 200, peer: 'unix' });
    expect(gateway?.lines[0]).not.toHaveProperty('client');
  });

  it('shares a rate limit and the connections with all others', async () => {
    await start((await startEcho()).url, '', '{ limits: { connections: 2 } }');
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await sendRequest(path, head('GET /one HTTP/1.1'))).status);
    expect(statuses).toEqual([200, 200, 429]);
    await eventually('all are closed', () => gateway?.gateway.clients.connections === 0);
    const wires = [await Wire.open(path), await Wire.open(path)];
    for (const wire of wires) {
      wire.write(keepAliveHead('GET /x HTTP/1.1'));
      expect((await wire.response()).status).toBe(200);
    }
    // A new connection replaces an idle one.
    expect((await sendRequest(path, head('GET /x HTTP/1.1'))).status).toBe(200);
    await wires[0]?.closed();
    expect(wires[1]?.isClosed).toBe(false);
    for (const wire of wires) wire.end();
  });

  it('keeps its connection, pipelines and sends large bodies', async () => {
    const upstream = await startEcho();
    await start(upstream.url);
    const wire = await Wire.open(path);
    wire.write(keepAliveHead('GET /a HTTP/1.1') + keepAliveHead('GET /b HTTP/1.1'));
    const body = Buffer.alloc(3_000_000, 'x');
    wire.write(keepAliveHead('PUT /c HTTP/1.1', `Content-Length: ${body.length}`)).write(body);
    for (const url of ['/a', '/b', '/c']) {
      expect((await wire.response()).status).toBe(200);
      expect(upstream.requests.at(-1)?.url).toBe(url);
    }
    expect(upstream.requests[2]?.body.equals(body)).toBe(true);
    wire.end();
  });

  it('may open a WebSocket', async () => {
    const upstream = await startRawUpstream((socket) =>
      socket.on('data', (chunk) => {
        const key = /Sec-WebSocket-Key: (\S+)/i.exec(chunk.toString('latin1'))?.[1];
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
        const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
        const response = [...lines, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n');
        socket.write(key === undefined ? chunk : response);
      }),
    );
    others.push(upstream);
    await start(upstream.url);
    const wire = await Wire.open(path);
    const headers = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    wire.write(keepAliveHead('GET /w HTTP/1.1', ...headers, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='));
    expect((await wire.message()).status).toBe(101);
    wire.write('frame');
    await wire.until('frame');
    wire.end();
    await eventually('the tunnel is over', () => gateway?.gateway.clients.tunnels === 0);
  });

  it('never takes a part of a response for the complete one', async () => {
    const upstream = await startRawUpstream((socket) =>
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n')),
    );
    others.push(upstream);
    await start(upstream.url);
    const wire = await Wire.open(path);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    await wire.closed();
    expect(wire.rest).toMatch(/4\r\nhalf\r\n$/);
    await eventually('the line', () => gateway?.lines.at(-1)?.['aborted'] === true);
    expect((await sendRequest(path, head('GET /nothing HTTP/1.1', 'Expect: more'))).status).toBe(417);
  });

  it('may close its side after a request', async () => {
    await start((await startEcho()).url);
    const socket = await openSocket(path);
    socket.end(keepAliveHead('GET /x HTTP/1.1'));
    const wire = new Wire(socket);
    expect((await wire.response()).status).toBe(200);
    await wire.closed();
  });
});

describe('a gateway with a unix socket that stops', () => {
  it('loses no connection that it has accepted, or that waits', async () => {
    const upstream = await startEcho();
    await start(upstream.url);
    const clients = Array.from({ length: 300 }, async () => {
      const wire = await Wire.open(path);
      wire.write(head('GET /x HTTP/1.1'));
      return wire.response().finally(() => wire.end());
    });
    // The clients connect in this turn, before the gateway accepts any of them.
    const closing = gateway?.gateway.close(60_000);
    expect(readdirSync(dirname(path))).toEqual([]);
    const statuses = (await Promise.allSettled(clients)).map((result) =>
      result.status === 'fulfilled' ? result.value.status : result.reason.code,
    );
    await closing;
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
