import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forkGateway } from '../support/forked.ts';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { pause, stoppedCount } from '../support/pause.ts';
import { chunked, head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstreamServer, type UpstreamServer } from '../support/upstream.ts';

const MB = 1024 * 1024;
const ROUTES = `  - { id: small, method: POST, path: /small, upstream: up, access: public, body: { maxBytes: 10B } }
  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
`;
const get = (path: string, ...headers: string[]) => keepAliveHead(`GET ${path} HTTP/1.1`, ...headers);

let upstream: UpstreamServer;
let gateway: TestGateway;
/** The requests that the upstream received completely, in order. */
let completed: string[] = [];
/** The current and the highest number of requests at the upstream. */
let inFlight = 0;
let maxInFlight = 0;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
const pending: (() => void)[] = [];
const deferResponse = (_request: IncomingMessage, response: ServerResponse) =>
  void pending.push(() => response.end('ok'));

beforeEach(async () => {
  completed = [];
  inFlight = 0;
  maxInFlight = 0;
  pending.length = 0;
  respond = (request, response) => void response.end(request.url);
  upstream = await startUpstreamServer((request, response) => {
    inFlight += 1;
    maxInFlight = Math.max(maxInFlight, inFlight);
    response.on('close', () => {
      inFlight -= 1;
    });
    request.on('end', () => {
      completed.push(`${request.method} ${request.url}`);
      respond(request, response);
    });
    request.resume();
  });
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
});

afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

async function statuses(wire: Wire, count: number): Promise<number[]> {
  const all = [];
  for (let index = 0; index < count; index += 1) all.push((await wire.response()).status);
  return all;
}

describe('pipelined requests', () => {
  it('use one upstream connection and little memory and do not delay other clients', async () => {
    const COUNT = 3_000;
    respond = (request, response) => void setImmediate(() => response.end(request.url));
    const forked = await forkGateway(manifest(ROUTES, { up: upstream.url }));
    await sendRequest(forked.port, head('GET /warm HTTP/1.1'));
    const before = (await forked.usage()).maxRssBytes;
    const wire = await Wire.open(forked.port);
    wire.write(Array.from({ length: COUNT }, (_, index) => get(`/${index}`)).join(''));
    // Pipelined requests that the gateway forwards while the other client waits.
    let mostBefore = 0;
    const bodies: string[] = [];
    for (let index = 0; index < COUNT; index += 1) {
      bodies.push((await wire.response()).body.toString());
      if (index % 300 !== 0) continue;
      const before = completed.length;
      expect((await sendRequest(forked.port, head('GET /other HTTP/1.1'))).status).toBe(200);
      mostBefore = Math.max(mostBefore, completed.length - before);
    }
    wire.end();
    expect(bodies).toEqual(Array.from({ length: COUNT }, (_, index) => `/${index}`));
    // The other client uses the second connection.
    expect(maxInFlight).toBeLessThanOrEqual(2);
    expect(mostBefore).toBeLessThan(COUNT / 10);
    const growth = (await forked.usage()).maxRssBytes - before;
    console.info(
      `3,000 pipelined: ${Math.round(growth / MB)} MB more, another client after at most ${mostBefore} requests`,
    );
    expect(growth).toBeLessThan(80 * MB);
    await forked.close();
  });

  it('are executed in order, for every method and framing', async () => {
    respond = (request, response) => void pause(20).then(() => response.end(request.url));
    const wire = await Wire.open(gateway.port);
    wire.write(
      [
        `${keepAliveHead('POST /1 HTTP/1.1', 'Content-Length: 2')}ab`,
        `${keepAliveHead('POST /2 HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('0\r\n\r\n', get('/smuggled'))}`,
        `${keepAliveHead('PUT /3 HTTP/1.1', 'Transfer-Encoding: chunked')}2\r\nab\r\n0\r\nX-Trailer: 1\r\n\r\n`,
        get('/4'),
        keepAliveHead('DELETE /5 HTTP/1.1'),
        keepAliveHead('HEAD /6 HTTP/1.1'),
        get('/7'),
      ].join(''),
    );
    const bodies = [];
    for (const method of ['POST', 'POST', 'PUT', 'GET', 'DELETE', 'HEAD', 'GET']) {
      bodies.push((await wire.response(method)).body.toString());
    }
    expect(bodies).toEqual(['/1', '/2', '/3', '/4', '/5', '', '/7']);
    expect(completed).toEqual(['POST /1', 'POST /2', 'PUT /3', 'GET /4', 'DELETE /5', 'HEAD /6', 'GET /7']);
    expect(maxInFlight).toBe(1);
    wire.end();
  });

  it('are read only up to a limit while a request is in flight', async () => {
    respond = () => undefined;
    const forked = await forkGateway(manifest(ROUTES, { up: upstream.url }));
    const socket = await openSocket(forked.port);
    const batch = Buffer.from(get('/x').repeat(2_000));
    const before = (await forked.usage()).maxRssBytes;
    for (let round = 0; round < 1_000; round += 1) socket.write(batch);
    const bytesSent = () => socket.bytesWritten - socket.writableLength;
    // The kernel buffers hold some MB.
    expect(await stoppedCount(bytesSent, forked.usage)).toBeLessThan(30 * MB);
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(30 * MB);
    expect(completed).toEqual(['GET /x']);
    socket.destroy();
    await forked.close();
  });

  it('do not time out while they wait for the previous one', async () => {
    const server = '{ timeouts: { headers: 300ms, request: 300ms, stalled: 400ms, keepAlive: 300ms } }';
    // The gateway checks these timeouts once per second.
    const LATE_MS = 1_500;
    const impatient = await startGateway(manifest(ROUTES, { up: upstream.url, server }));
    respond = (_request, response) => void pause(LATE_MS).then(() => response.end('late'));
    const wire = await Wire.open(impatient.port);
    wire.write(`${get('/1')}${keepAliveHead('POST /2 HTTP/1.1', 'Content-Length: 4')}ab`);
    expect((await wire.response()).status).toBe(200);
    wire.write(`cd${get('/3')}`);
    expect(await statuses(wire, 2)).toEqual([200, 200]);
    wire.end();
    await impatient.close();
  });

  it('are refused without blocking the event loop', async () => {
    const wire = await Wire.open(gateway.port);
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    wire.write(keepAliveHead('PROPFIND /x HTTP/1.1').repeat(500));
    expect(await statuses(wire, 500)).toEqual(Array(500).fill(405));
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(500);
    wire.end();
  });
});

describe('requests after the last one on a connection', () => {
  it.each<[string, string, number[]]>([
    ['a request with Connection: close', get('/1', 'Connection: close'), [200]],
    ['an ambiguous path', get('/a/../b'), [400]],
    ['bytes that are not a request', 'garbage\r\n\r\n', [400]],
    ['a malformed request line', 'GET  /1 HTTP/1.1\r\nHost: a\r\n\r\n', [400]],
    ['a body that exceeds the limit', `${keepAliveHead('POST /small HTTP/1.1', 'Content-Length: 20')}ab`, [413]],
    ['Expect: 100-continue without a body', get('/1', 'Expect: 100-continue'), [200]],
    ['an unknown expectation', get('/1', 'Expect: x', 'Content-Length: 5'), [417]],
    ['an HTTP/1.0 request', 'GET /1 HTTP/1.0\r\nHost: a\r\n\r\n', [200]],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', [405]],
    ['an upgrade to another protocol', get('/1', 'Connection: Upgrade', 'Upgrade: h2c'), [200]],
  ])('are not executed after %s', async (_case, last, expected) => {
    const wire = await Wire.open(gateway.port);
    wire.write(`${get('/before')}${last}${get('/behind').repeat(3)}`);
    const received = [...(await statuses(wire, 1 + expected.length))];
    await wire.closed();
    expect([received, wire.rest]).toEqual([[200, ...expected], '']);
    expect(completed.filter((each) => each.includes('behind'))).toEqual([]);
    expect(completed[0]).toBe('GET /before');
  });

  it('are not executed after the gateway starts to drain', async () => {
    respond = deferResponse;
    const wire = await Wire.open(gateway.port);
    wire.write(get('/1') + get('/2'));
    await eventually('the first request arrives', () => pending.length === 1);
    gateway.gateway.drain();
    pending[0]?.();
    expect((await wire.response()).value('connection')).toBe('close');
    await wire.closed();
    expect([completed, wire.rest]).toEqual([['GET /1'], '']);
  });
});

describe('a request behind one in flight', () => {
  it('is refused after the previous response if it is malformed', async () => {
    respond = deferResponse;
    const wire = await Wire.open(gateway.port);
    wire.write(
      `${keepAliveHead('POST /1 HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('a')}GET /2 RTSP/1.0\r\n\r\n`,
    );
    await eventually('the first request arrives', () => pending.length === 1);
    expect(wire.rest).toBe('');
    pending[0]?.();
    expect(await statuses(wire, 2)).toEqual([200, 400]);
    await wire.closed();
    expect(completed).toEqual(['POST /1']);
    expect(gateway.lines.map(({ status, reason }) => [status, reason])).toEqual([
      [200, undefined],
      [400, 'request_line'],
    ]);
  });

  it('opens a WebSocket tunnel after the previous response and forwards early bytes', async () => {
    respond = deferResponse;
    upstream.server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.on('error', () => undefined).pipe(socket);
    });
    const wire = await Wire.open(gateway.port);
    const handshake = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    wire.write(`${get('/1')}${get('/socket', ...handshake)}early`);
    await eventually('the first request arrives', () => pending.length === 1);
    expect(gateway.gateway.clients.tunnels).toBe(0);
    pending[0]?.();
    expect((await wire.response()).status).toBe(200);
    expect((await wire.message()).status).toBe(101);
    await wire.until('early');
    wire.write(', late');
    await wire.until('early, late');
    wire.end();
  });

  it('is dropped when the client disconnects', async () => {
    respond = deferResponse;
    const socket = await openSocket(gateway.port);
    socket.write(get('/x').repeat(3_000));
    await eventually('the first request arrives', () => pending.length === 1);
    socket.destroy();
    await eventually('the upstream request is aborted', () => inFlight === 0);
    expect(completed).toEqual(['GET /x']);
    await eventually('the access line', () => gateway.lines.length === 1);
    expect(gateway.lines[0]).toMatchObject({ aborted: true });
    expect(gateway.gateway.metrics.inFlight).toBe(0);
  });

  it('can arrive in single bytes', async () => {
    respond = deferResponse;
    const wire = await Wire.open(gateway.port);
    wire.socket.setNoDelay(true);
    wire.write(get('/1'));
    await eventually('the first request arrives', () => pending.length === 1);
    for (const byte of `${keepAliveHead('POST /2 HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('abc')}${get('/3')}`) {
      wire.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const count of [1, 2, 3]) {
      await eventually('the next request arrives', () => pending.length === count);
      expect(completed).toHaveLength(count);
      pending[count - 1]?.();
      expect((await wire.response()).status).toBe(200);
    }
    wire.socket.end();
    await once(wire.socket, 'close');
  });
});
