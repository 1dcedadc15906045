import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forkGateway } from '../support/forked.ts';
import { manifest, type Running, startGateway } from '../support/gateway.ts';
import { ask, chunked, head, keptHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { type Listening, startListening } from '../support/upstream.ts';

const MB = 1024 * 1024;
const ROUTES = `  - { id: small, method: POST, path: /small, upstream: up, access: public, body: { maxBytes: 10B } }
  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
`;
const get = (path: string, ...headers: string[]) => keptHead(`GET ${path} HTTP/1.1`, ...headers);

let upstream: Listening;
let gateway: Running;
/** The upstream's requests that came whole, in order, and how many were in flight at once. */
let came: string[] = [];
let inFlight = 0;
let most = 0;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
const held: (() => void)[] = [];
const later = (_request: IncomingMessage, response: ServerResponse) => void held.push(() => response.end('ok'));

beforeEach(async () => {
  came = [];
  inFlight = 0;
  most = 0;
  held.length = 0;
  respond = (request, response) => void response.end(request.url);
  upstream = await startListening((request, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    response.on('close', () => {
      inFlight -= 1;
    });
    request.on('end', () => {
      came.push(`${request.method} ${request.url}`);
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
  for (let index = 0; index < count; index += 1) all.push((await wire.answer()).status);
  return all;
}

describe('requests that are pipelined', () => {
  it('take one upstream connection and little memory, however many they are, and keep nobody else waiting', async () => {
    const COUNT = 3_000;
    respond = (request, response) => void setImmediate(() => response.end(request.url));
    const forked = await forkGateway(manifest(ROUTES, { up: upstream.url }));
    await ask(forked.port, head('GET /warm HTTP/1.1'));
    const before = (await forked.usage()).maxRssBytes;
    const wire = await Wire.open(forked.port);
    wire.write(Array.from({ length: COUNT }, (_, index) => get(`/${index}`)).join(''));
    let slowest = 0;
    const bodies: string[] = [];
    for (let index = 0; index < COUNT; index += 1) {
      bodies.push((await wire.answer()).body.toString());
      if (index % 300 !== 0) continue;
      const started = performance.now();
      expect((await ask(forked.port, head('GET /other HTTP/1.1'))).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - started);
    }
    wire.end();
    expect(bodies).toEqual(Array.from({ length: COUNT }, (_, index) => `/${index}`));
    // The other client's is the second one.
    expect(most).toBeLessThanOrEqual(2);
    expect(slowest).toBeLessThan(1_000);
    const grown = (await forked.usage()).maxRssBytes - before;
    console.info(
      `3,000 pipelined: ${Math.round(grown / MB)} MB more, another client at most ${Math.round(slowest)} ms`,
    );
    expect(grown).toBeLessThan(80 * MB);
    await forked.close();
  });

  it('are executed one after another, whatever their methods and framings', async () => {
    respond = (request, response) => void setTimeout(() => response.end(request.url), 20);
    const wire = await Wire.open(gateway.port);
    wire.write(
      [
        `${keptHead('POST /1 HTTP/1.1', 'Content-Length: 2')}ab`,
        `${keptHead('POST /2 HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('0\r\n\r\n', get('/smuggled'))}`,
        `${keptHead('PUT /3 HTTP/1.1', 'Transfer-Encoding: chunked')}2\r\nab\r\n0\r\nX-Trailer: 1\r\n\r\n`,
        get('/4'),
        keptHead('DELETE /5 HTTP/1.1'),
        keptHead('HEAD /6 HTTP/1.1'),
        get('/7'),
      ].join(''),
    );
    const bodies = [];
    for (const method of ['POST', 'POST', 'PUT', 'GET', 'DELETE', 'HEAD', 'GET']) {
      bodies.push((await wire.answer(method)).body.toString());
    }
    expect(bodies).toEqual(['/1', '/2', '/3', '/4', '/5', '', '/7']);
    expect(came).toEqual(['POST /1', 'POST /2', 'PUT /3', 'GET /4', 'DELETE /5', 'HEAD /6', 'GET /7']);
    expect(most).toBe(1);
    wire.end();
  });

  it('are not read while one is in flight, beyond a bound', async () => {
    respond = () => undefined;
    const forked = await forkGateway(manifest(ROUTES, { up: upstream.url }));
    const socket = await openSocket(forked.port);
    const many = Buffer.from(get('/x').repeat(2_000));
    const before = (await forked.usage()).maxRssBytes;
    for (let round = 0; round < 1_000; round += 1) socket.write(many);
    const out = () => socket.bytesWritten - socket.writableLength;
    for (let last = -1; last !== out(); ) {
      last = out();
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    // The kernel's buffers take some MB.
    expect(out()).toBeLessThan(30 * MB);
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(30 * MB);
    expect(came).toEqual(['GET /x']);
    socket.destroy();
    await forked.close();
  });

  it('time no client out while they wait for the one before them', async () => {
    const server = '{ timeouts: { headers: 300ms, request: 300ms, stalled: 400ms, keepAlive: 300ms } }';
    const hasty = await startGateway(manifest(ROUTES, { up: upstream.url, server }));
    respond = (_request, response) => void setTimeout(() => response.end('late'), 1_500);
    const wire = await Wire.open(hasty.port);
    wire.write(`${get('/1')}${keptHead('POST /2 HTTP/1.1', 'Content-Length: 4')}ab`);
    expect((await wire.answer()).status).toBe(200);
    wire.write(`cd${get('/3')}`);
    expect(await statuses(wire, 2)).toEqual([200, 200]);
    wire.end();
    await hasty.close();
  });

  it('are refused without holding up the process', async () => {
    const wire = await Wire.open(gateway.port);
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    wire.write(keptHead('PROPFIND /x HTTP/1.1').repeat(500));
    expect(await statuses(wire, 500)).toEqual(Array(500).fill(405));
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(500);
    wire.end();
  });
});

describe('requests behind one whose response turns out to be the last', () => {
  it.each<[string, string, number[]]>([
    ['closes, as the client wants', get('/1', 'Connection: close'), [200]],
    ['is to a malformed target', get('/a/../b'), [400]],
    ['is to bytes that are no request', 'garbage\r\n\r\n', [400]],
    ['is to a malformed request line', 'GET  /1 HTTP/1.1\r\nHost: a\r\n\r\n', [400]],
    ['is to a body that is too long', `${keptHead('POST /small HTTP/1.1', 'Content-Length: 20')}ab`, [413]],
    ['is to an expectation without a body', get('/1', 'Expect: 100-continue'), [200]],
    ['is to an expectation that is none', get('/1', 'Expect: x', 'Content-Length: 5'), [417]],
    ['is to HTTP/1.0', 'GET /1 HTTP/1.0\r\nHost: a\r\n\r\n', [200]],
    ['is to CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', [405]],
    ['is to another upgrade', get('/1', 'Connection: Upgrade', 'Upgrade: h2c'), [200]],
  ])('%s are not executed', async (_what, last, expected) => {
    const wire = await Wire.open(gateway.port);
    wire.write(`${get('/before')}${last}${get('/behind').repeat(3)}`);
    const got = [...(await statuses(wire, 1 + expected.length))];
    await wire.closed();
    expect([got, wire.rest]).toEqual([[200, ...expected], '']);
    expect(came.filter((each) => each.includes('behind'))).toEqual([]);
    expect(came[0]).toBe('GET /before');
  });

  it('is the last since the gateway goes away are not executed', async () => {
    respond = later;
    const wire = await Wire.open(gateway.port);
    wire.write(get('/1') + get('/2'));
    await eventually('the first came', () => held.length === 1);
    gateway.gateway.drain();
    held[0]?.();
    expect((await wire.answer()).value('connection')).toBe('close');
    await wire.closed();
    expect([came, wire.rest]).toEqual([['GET /1'], '']);
  });
});

describe('behind a request in flight', () => {
  it('a malformed one is refused after the response before it', async () => {
    respond = later;
    const wire = await Wire.open(gateway.port);
    wire.write(`${keptHead('POST /1 HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('a')}GET /2 RTSP/1.0\r\n\r\n`);
    await eventually('the first came', () => held.length === 1);
    expect(wire.rest).toBe('');
    held[0]?.();
    expect(await statuses(wire, 2)).toEqual([200, 400]);
    await wire.closed();
    expect(came).toEqual(['POST /1']);
    expect(gateway.lines.map(({ status, reason }) => [status, reason])).toEqual([
      [200, undefined],
      [400, 'request_line'],
    ]);
  });

  it('a WebSocket handshake becomes a tunnel after the response before it, with what was sent early', async () => {
    respond = later;
    upstream.server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.on('error', () => undefined).pipe(socket);
    });
    const wire = await Wire.open(gateway.port);
    const handshake = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: a',
    ];
    wire.write(`${get('/1')}${get('/socket', ...handshake)}early`);
    await eventually('the first came', () => held.length === 1);
    expect(gateway.gateway.clients.tunnels).toBe(0);
    held[0]?.();
    expect((await wire.answer()).status).toBe(200);
    expect((await wire.message()).status).toBe(101);
    await wire.until('early');
    wire.write(', late');
    await wire.until('early, late');
    wire.end();
  });

  it('those of a client that leaves are dropped', async () => {
    respond = later;
    const socket = await openSocket(gateway.port);
    socket.write(get('/x').repeat(3_000));
    await eventually('the first came', () => held.length === 1);
    socket.destroy();
    await eventually('it is given up', () => inFlight === 0);
    expect(came).toEqual(['GET /x']);
    await eventually('its line', () => gateway.lines.length === 1);
    expect(gateway.lines[0]).toMatchObject({ aborted: true });
    expect(gateway.gateway.metrics.inFlight).toBe(0);
  });

  it('the next one may come in any pieces', async () => {
    respond = later;
    const wire = await Wire.open(gateway.port);
    wire.socket.setNoDelay(true);
    wire.write(get('/1'));
    await eventually('the first came', () => held.length === 1);
    for (const byte of `${keptHead('POST /2 HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('abc')}${get('/3')}`) {
      wire.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const count of [1, 2, 3]) {
      await eventually('the next one came', () => held.length === count);
      expect(came).toHaveLength(count);
      held[count - 1]?.();
      expect((await wire.answer()).status).toBe(200);
    }
    wire.socket.end();
    await once(wire.socket, 'close');
  });
});
