import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { createPair } from '../support/certificate.ts';
import { startCli } from '../support/cli.ts';
import { forkGateway } from '../support/forked.ts';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway, worldOf } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { endOf, head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, startUpstreamServer, startWireUpstream, type Upstream } from '../support/upstream.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

interface Limited extends TestGateway {
  readonly upstream: Upstream;
  /** Activates a manifest with other rules for the server. */
  activate(server: string): void;
}

/** Starts a gateway with these rules for the server. */
async function start(server: string, url?: string): Promise<Limited> {
  const upstream = await startUpstream();
  const textOf = (rules: string) => manifest(PUBLIC_ALL, { up: url ?? upstream.url, server: rules });
  const gateway = await startGateway(textOf(server));
  cleanups.push(upstream.close, gateway.close);
  const activate = (rules: string) => {
    const { plan } = load({ path: 'gateway.yaml', text: textOf(rules) }, worldOf());
    if (plan === undefined) throw new Error('the manifest does not load');
    gateway.gateway.activate(plan);
  };
  return { ...gateway, upstream, activate };
}

const statusOf = async (port: number, ...headers: string[]) =>
  (await sendRequest(port, head('GET /x HTTP/1.1', ...headers))).status;

describe('the headers of a request', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`);

  it('over their number are refused with 431, and a new limit applies at once', async () => {
    const { port, activate } = await start('{ limits: { headers: 10 } }');
    // Host and Connection count too.
    expect(await statusOf(port, ...numbered(8))).toBe(200);
    expect(await statusOf(port, ...numbered(9))).toBe(431);
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    activate('{ limits: { headers: 3 } }');
    wire.write(keepAliveHead('GET /x HTTP/1.1', ...numbered(3)));
    expect((await wire.response()).status).toBe(431);
    wire.end();
  });

  it('over their length are refused with 431, and a new limit applies to the next connection', async () => {
    const { port, activate } = await start('{ limits: { headerBytes: 2KB } }');
    expect(await statusOf(port, `X: ${'x'.repeat(1_500)}`)).toBe(200);
    expect(await statusOf(port, `X: ${'x'.repeat(2_500)}`)).toBe(431);
    expect((await sendRequest(port, head(`GET /${'x'.repeat(2_500)} HTTP/1.1`))).status).toBe(431);
    activate('{ limits: { headerBytes: 8KB } }');
    expect(await statusOf(port, `X: ${'x'.repeat(6_500)}`)).toBe(200);
  });
});

describe('a slow request', () => {
  it('is refused with 408 when its head is late, even if bytes arrive steadily', async () => {
    const { port, upstream } = await start('{ timeouts: { headers: 300ms } }');
    const wire = await Wire.open(port);
    wire.write('GET /x HTTP/1.1\r\nHost: gateway.test\r\n');
    const drip = setInterval(() => wire.write('X: 1\r\n'), 50);
    // A timeout that each byte restarts would never expire.
    const response = await wire.response();
    clearInterval(drip);
    expect([response.status, response.json().code]).toEqual([408, 'request_timeout']);
    await wire.closed();
    expect(upstream.requests).toEqual([]);
  });

  it('is refused with 408 when it is the second on its connection and its head is late', async () => {
    const { port } = await start('{ timeouts: { headers: 300ms } }');
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    wire.write('GET /x HTTP/1.1\r\n');
    expect((await wire.response()).status).toBe(408);
    wire.end();
  });

  it('is refused with 408 when its body is late, and never complete at the upstream', async () => {
    const { port, upstream, lines } = await start('{ timeouts: { request: 300ms } }');
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 100000'));
    const drip = setInterval(() => wire.write('x'), 50);
    expect((await wire.response()).status).toBe(408);
    clearInterval(drip);
    await wire.closed();
    expect(lines).toEqual([expect.objectContaining({ status: 408, route: 'all', refusal: 'request_timeout' })]);
    expect(upstream.requests).toEqual([]);
  });

  it('may take longer than all other timeouts within its own timeout', async () => {
    const { port, upstream } = await start('{ timeouts: { headers: 200ms, request: 60s, stalled: 1s } }');
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 20'));
    // Together the pauses are longer than each timeout but that of the request.
    for (let sent = 0; sent < 20; sent += 1) {
      wire.write('x');
      await pause(80);
    }
    expect((await wire.response()).status).toBe(200);
    expect(upstream.requests[0]?.body.length).toBe(20);
    wire.end();
  });

  it('is reset after its response has begun, because a close would be the end of that response', async () => {
    const upstream = await startUpstreamServer((_request, response) => void response.write('begun'));
    const server = '{ timeouts: { request: 300ms } }';
    const gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url, server }));
    cleanups.push(upstream.close, gateway.close);
    const wire = await Wire.open(gateway.port);
    const error = once(wire.socket, 'error');
    wire.write('POST /x HTTP/1.0\r\nHost: gateway.test\r\nContent-Length: 10\r\n\r\nhalf');
    await wire.until('begun');
    expect((await error)[0].code).toBe('ECONNRESET');
  });

  it('does not cut off the previous response that the client reads slowly', async () => {
    const size = 20 * 1024 * 1024;
    const upstream = await startUpstream((_request, response) => void response.writeHead(404).end(Buffer.alloc(size)));
    // The gateway buffers the response of a login route, so it waits for the client and not for the upstream.
    const route =
      '  - { id: a, method: GET, path: /a, upstream: up, access: public, login: { token: /a, maxBytes: 50MB } }\n';
    const server = '{ timeouts: { headers: 300ms } }';
    const gateway = await startGateway(manifest(route, { up: upstream.url, server }));
    cleanups.push(upstream.close, gateway.close);
    const socket = await openSocket(gateway.port);
    socket.write(`${keepAliveHead('GET /a HTTP/1.1')}GET /half`);
    await once(socket, 'readable');
    // The gateway checks for late requests once per second.
    await pause(2_500);
    let receivedBytes = 0;
    socket.on('data', (chunk) => {
      receivedBytes += chunk.length;
    });
    await once(socket, 'end');
    expect(receivedBytes).toBeGreaterThan(size);
    socket.destroy();
  });

  it('that never begins has its connection closed without a response', async () => {
    const { port, lines } = await start('{ timeouts: { headers: 300ms } }');
    const wire = await Wire.open(port);
    await wire.closed();
    expect(wire.rest).toBe('');
    expect(lines).toEqual([]);
  });
});

describe('an idle connection', () => {
  it('gets its timeout in Keep-Alive and closes after it, and a new timeout applies to the next response', async () => {
    const { port, activate } = await start('{ timeouts: { keepAlive: 300ms } }');
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    await wire.response();
    const started = performance.now();
    await wire.closed();
    expect(performance.now() - started).toBeGreaterThan(250);
    activate('{}');
    const other = await Wire.open(port);
    other.write(keepAliveHead('GET /x HTTP/1.1'));
    // The default exceeds the idle timeouts of large cloud load balancers: 60 s, 240 s, 600 s.
    expect((await other.response()).value('keep-alive')).toBe('timeout=620');
    other.end();
  });

  it('is idle with an empty line behind its request, which some clients send', async () => {
    const { port } = await start('{ timeouts: { headers: 1s } }');
    const wire = await Wire.open(port);
    wire.write(`${keepAliveHead('GET /x HTTP/1.1')}\r\n`);
    await wire.response();
    await pause(2_500);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    wire.end();
  });

  it('gets the timeout of a reload during its request', async () => {
    const upstream = await startUpstreamServer((_request, response) => {
      activate('{ timeouts: { keepAlive: 5s } }');
      response.end();
    });
    cleanups.push(upstream.close);
    const { port, activate } = await start('{ timeouts: { keepAlive: 60s } }', upstream.url);
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('GET /x HTTP/1.1'));
    expect((await wire.response()).value('keep-alive')).toBe('timeout=5');
    wire.end();
  });
});

describe('client connections', () => {
  it('over the limit are closed as they open, and counted in few log lines', async () => {
    const { port, told } = await start('{ limits: { connections: 2 } }');
    const wires = [await Wire.open(port), await Wire.open(port)];
    for (const wire of wires) {
      wire.write(keepAliveHead('GET /x HTTP/1.1'));
      expect((await wire.response()).status).toBe(200);
    }
    for (let index = 0; index < 20; index += 1) {
      const wire = await Wire.open(port);
      wire.write(keepAliveHead('GET /x HTTP/1.1'));
      await wire.closed();
      expect(wire.rest).toBe('');
    }
    const warnings = told.filter(({ msg }) => msg === 'connections over the limit were closed');
    expect(warnings).toEqual([expect.objectContaining({ level: 40, count: 1 })]);
    // The gateway keeps serving open connections. When one closes, it accepts another.
    wires[0]?.end();
    await eventually('the gateway accepts a connection', async () => (await statusOf(port).catch(() => 0)) === 200);
    wires[1]?.write(keepAliveHead('GET /x HTTP/1.1'));
    expect((await wires[1]?.response())?.status).toBe(200);
    wires[1]?.end();
  });
});

/** Opens a connection from another loopback address, which stands for another client. */
async function openFrom(localAddress: string, port: number): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return new Wire(socket);
}

describe('a client that holds all connections', () => {
  const request = keepAliveHead('GET /x HTTP/1.1');

  it.each(['idle', 'unused'])('loses %s ones to other clients, and the log names it', async (state) => {
    const { port, told } = await start('{ limits: { connections: 6 } }');
    const held: Wire[] = [];
    for (let count = 0; count < 6; count += 1) {
      const wire = await openFrom('127.0.0.2', port);
      held.push(wire);
      if (state === 'idle') expect((await wire.write(request).response()).status).toBe(200);
    }
    const others = ['127.0.0.3', '127.0.0.4', '127.0.0.5'];
    const wires = await Promise.all(others.map((address) => openFrom(address, port)));
    for (const wire of wires) expect((await wire.write(request).response()).status).toBe(200);
    await eventually('room is made', () => held.filter(({ isClosed }) => isClosed).length === 3);
    const again = await openFrom('127.0.0.2', port);
    await again.write(request).closed();
    expect(told[0]).toMatchObject({ holder: '127.0.0.2', held: 6, msg: 'connections over the limit were closed' });
    for (const wire of wires) expect((await wire.write(request).response()).status).toBe(200);
    for (const wire of [...held, ...wires]) wire.end();
  });

  it('loses ones with a head that does not arrive, also if another client holds as many', async () => {
    const { port } = await start('{ limits: { connections: 4 } }');
    const held: Wire[] = [];
    for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.2', '127.0.0.3'])
      held.push((await openFrom(address, port)).write('GET /x HTTP/1.1\r\nHost'));
    // The gateway reads what has arrived.
    await pause(100);
    const wire = await openFrom('127.0.0.4', port);
    expect((await wire.write(request).response()).status).toBe(200);
    wire.end();
    for (const wire of held) wire.end();
  });

  it('loses ones in a TLS handshake that it does not begin', async () => {
    const { certificate, key } = createPair();
    const server = '{ tls: { certificate: ./tls.crt, key: ./tls.key }, limits: { connections: 3 } }';
    const text = manifest(PUBLIC_ALL, { up: (await start('{}')).upstream.url, server });
    const { port, close, told } = await startGateway(text, {}, { './tls.crt': certificate, './tls.key': key });
    cleanups.push(close);
    const held = await Promise.all(Array.from({ length: 3 }, () => openFrom('127.0.0.2', port)));
    for (const address of ['127.0.0.3', '127.0.0.4']) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: address });
      const wire = new Wire(connectTls({ socket, rejectUnauthorized: false })).write(request);
      expect((await wire.response()).status).toBe(200);
      wire.end();
    }
    expect(held.some(({ isClosed }) => isClosed)).toBe(true);
    expect(told[0]).toMatchObject({ holder: '127.0.0.2', held: 3 });
    for (const wire of held) wire.end();
  });

  it('loses a WebSocket if it has no idle ones and more than half of all', async () => {
    const upgraded = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
    const upstream = await startWireUpstream(({ line }) => (line.includes('/socket') ? upgraded : plain));
    const routes = PUBLIC_ALL.replace('public', 'public, websocket: true');
    const server = '{ limits: { connections: 3 } }';
    const { port, close } = await startGateway(manifest(routes, { up: upstream.url, server }));
    cleanups.push(upstream.close, close);
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const held: Wire[] = [];
    for (let count = 0; count < 3; count += 1) {
      const wire = await openFrom('127.0.0.2', port);
      wire.write(keepAliveHead('GET /socket HTTP/1.1', ...handshake, key));
      expect((await wire.message()).status).toBe(101);
      held.push(wire);
    }
    const wire = await openFrom('127.0.0.3', port);
    expect((await wire.write(request).response()).status).toBe(200);
    await eventually('room is made', () => held.filter(({ isClosed }) => isClosed).length === 1);
    for (const open of [...held, wire]) open.end();
  });

  it('loses idle ones in both of two workers, and gets no more itself', async () => {
    const upstream = await startUpstream();
    const folder = temporaryFolder('limits', {
      'gateway.yaml': `version: 1
listen: 127.0.0.1:0
server: { workers: 2, limits: { connections: 60 } }
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - { id: x, method: GET, path: /x, upstream: up, access: public }
`,
    });
    const cli = startCli(['run'], folder);
    try {
      const [, url = ''] = await cli.waitFor(/"url":"([^"]+)".*"msg":"serving"/);
      const port = Number(new URL(url).port);
      const held: Wire[] = [];
      // The kernel distributes them at random. Of 20, one worker has too few to lose in one of 170 runs.
      for (let count = 0; count < 60; count += 1) {
        const wire = await openFrom('127.0.0.2', port);
        held.push(wire);
        expect((await wire.write(request).response()).status).toBe(200);
      }
      const others: Wire[] = [];
      for (let last = 3; last < 9; last += 1) {
        const wire = await openFrom(`127.0.0.${last}`, port);
        others.push(wire);
        expect((await wire.write(request).response()).status).toBe(200);
      }
      await eventually('room is made', () => held.filter(({ isClosed }) => isClosed).length === others.length);
      await (await openFrom('127.0.0.2', port)).write(request).closed();
      for (const wire of others) expect((await wire.write(request).response()).status).toBe(200);
      for (const wire of [...held, ...others]) wire.end();
    } finally {
      cli.child.kill('SIGKILL');
      await cli.result;
      await upstream.close();
    }
  });

  it('loses only idle ones if it is a trusted proxy', async () => {
    const { port } = await start('{ trustedProxies: [127.0.0.2], limits: { connections: 3 } }');
    const open = () => openFrom('127.0.0.2', port);
    const [busy, ...idle] = [await open(), await open(), await open()];
    for (const wire of [busy, ...idle]) expect((await wire.write(request).response()).status).toBe(200);
    busy.write(keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 1'));
    const client = await openFrom('127.0.0.3', port);
    expect((await client.write(request).response()).status).toBe(200);
    const own = await open();
    expect((await own.write(request).response()).status).toBe(200);
    for (const wire of idle) await wire.closed();
    expect((await busy.write('x').response()).status).toBe(200);
    for (const wire of [busy, client, own]) wire.end();
  });

  it('keeps out other clients if it is a trusted proxy whose connections are all busy', async () => {
    const { port } = await start('{ trustedProxies: [127.0.0.2], limits: { connections: 2 } }');
    const held = [await openFrom('127.0.0.2', port), await openFrom('127.0.0.2', port)];
    for (const wire of held) {
      expect((await wire.write(request).response()).status).toBe(200);
      wire.write(keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 1'));
    }
    await (await openFrom('127.0.0.3', port)).write(request).closed();
    for (const wire of held) expect((await wire.write('x').response()).status).toBe(200);
    for (const wire of held) wire.end();
  });
});

describe('requests on one connection', () => {
  it('end at the limit, and the last response has `Connection: close`', async () => {
    const { port, upstream } = await start('{ limits: { requestsPerConnection: 3 } }');
    const wire = await Wire.open(port);
    for (const [number, connection] of [
      [1, 'keep-alive'],
      [2, 'keep-alive'],
      [3, 'close'],
    ]) {
      wire.write(keepAliveHead(`GET /${number} HTTP/1.1`));
      const response = await wire.response();
      expect([response.status, response.value('connection')]).toEqual([200, connection]);
    }
    await wire.closed();
    expect(wire.rest).toBe('');
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/1', '/2', '/3']);
  });

  it('that are pipelined beyond the limit are ignored', async () => {
    const { port, upstream, lines } = await start('{ limits: { requestsPerConnection: 2 } }');
    const wire = await Wire.open(port);
    wire.write([1, 2, 3, 4].map((number) => keepAliveHead(`GET /${number} HTTP/1.1`)).join(''));
    expect((await wire.response()).value('connection')).toBe('keep-alive');
    const last = await wire.response();
    expect([last.status, last.body.toString(), last.value('connection')]).toEqual([200, 'ok', 'close']);
    await wire.closed();
    expect(wire.rest).toBe('');
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/1', '/2']);
    expect(lines.map(({ path }) => path)).toEqual(['/1', '/2']);
  });

  it.each([
    ['heads', keepAliveHead('GET /next HTTP/1.1', `X: ${'x'.repeat(8_000)}`)],
    ['bodies', `${keepAliveHead('POST /next HTTP/1.1', 'Content-Length: 100000')}${'x'.repeat(100_000)}`],
  ])('get a complete last response while the client keeps sending %s', async (_title, next) => {
    const size = 6 * 1024 * 1024;
    const upstream = await startUpstream((_request, response) => void response.end(Buffer.alloc(size)));
    const server = '{ limits: { requestsPerConnection: 1 } }';
    const gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url, server }));
    cleanups.push(upstream.close, gateway.close);
    for (let round = 0; round < 3; round += 1) {
      const socket = await openSocket(gateway.port);
      let receivedBytes = 0;
      socket.on('data', (chunk) => {
        receivedBytes += chunk.length;
      });
      const end = endOf(socket);
      socket.write(keepAliveHead('GET /x HTTP/1.1'));
      const sender = setInterval(() => {
        if (socket.writableLength < 1_000_000) socket.write(next);
      }, 0);
      expect(await end).toBe('a clean end');
      clearInterval(sender);
      expect(receivedBytes).toBeGreaterThan(size);
    }
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/x', '/x', '/x']);
  });

  it('that flood the gateway beyond the limit use no memory while the last response is late', async () => {
    const upstream = await startUpstream(() => undefined);
    const server = '{ limits: { requestsPerConnection: 1 } }';
    const forked = await forkGateway(manifest(PUBLIC_ALL, { up: upstream.url, server }));
    cleanups.push(upstream.close, forked.close);
    const socket = await openSocket(forked.port);
    const many = keepAliveHead('GET /x HTTP/1.1').repeat(1_000);
    const before = (await forked.usage()).maxRssBytes;
    for (let round = 0; round < 400; round += 1) if (!socket.write(many)) await once(socket, 'drain');
    // As requests and responses they would use about 500 MB.
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(150 * 1024 * 1024);
    expect(upstream.requests.length).toBe(1);
    socket.destroy();
  });

  it('include refusals, and a new limit applies to the next request', async () => {
    const { port, activate } = await start('{}');
    const wire = await Wire.open(port);
    for (const path of ['/x', '/../x'.replace('..', '%zz')]) {
      if (path === '/x') activate('{ limits: { requestsPerConnection: 2 } }');
      wire.write(keepAliveHead(`GET ${path} HTTP/1.1`));
      await wire.response();
    }
    await wire.closed();
  });
});
