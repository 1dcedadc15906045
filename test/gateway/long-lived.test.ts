import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketFrameTracker } from '../../src/engine/gateway/response/websocket-frames.ts';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { pause, turns } from '../support/pause.ts';
import { keepAliveHead, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { type RawUpstream, startRawUpstream, startUpstream, type Upstream } from '../support/upstream.ts';

const SOCKET = '  - { id: socket, method: GET, path: /socket, upstream: up, access: public, websocket: true }\n';
const OTHER = '  - { id: other, method: GET, path: /other, upstream: up, access: public }\n';
const reload = (grace: string) => `reload: { grace: ${grace} }\n`;

let issuer: Issuer;
let gateway: TestGateway;
let upstream: RawUpstream;
/** The upstream's side of the WebSocket. */
let upstreamSocket: Socket;
/** The bytes that the upstream received after the handshake. */
let received: Buffer;
let isEnded: boolean;
/** Called before the upstream responds to a handshake. */
let onHandshake: () => void;

beforeEach(async () => {
  issuer = await startIssuer();
  received = Buffer.alloc(0);
  isEnded = false;
  onHandshake = () => undefined;
  upstream = await startRawUpstream((socket) => {
    socket.once('data', (head: Buffer) => {
      upstreamSocket = socket;
      onHandshake();
      const key = /Sec-WebSocket-Key: (\S+)/.exec(head.toString())?.[1];
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
      socket.write(`${[...lines, `Sec-WebSocket-Accept: ${accept}`].join('\r\n')}\r\n\r\n`);
      socket.on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
      });
      socket.on('end', () => {
        isEnded = true;
        socket.end();
      });
    });
  });
});
afterEach(async () => {
  await gateway.close();
  await upstream.close();
  await issuer.close();
});

const textOf = (routes: string, grace = '0ms', up = upstream.url) =>
  manifest(routes, { up, jwks: issuer.jwksUrl }) + reload(grace);

async function openTunnel(...headers: string[]): Promise<Wire> {
  const wire = await Wire.open(gateway.port);
  const lines = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  wire.write(keepAliveHead('GET /socket HTTP/1.1', ...lines, ...headers));
  expect((await wire.message()).status).toBe(101);
  return wire;
}

/** Returns a masked frame, as clients send it. */
const maskedFrame = (opcode: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);

/** Resolves when the gateway has begun to close exchanges, which it does a turn after the timer of the grace period. */
async function closingHasBegun(graceMs = 0): Promise<void> {
  // The timers of a process expire in order, however late they are.
  await pause(graceMs + 5);
  await turns(5);
}

async function expectClosed(wire: Wire, code: number): Promise<void> {
  const reason = code === 1008 ? 'the access rules of the route have changed' : 'the route has changed';
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);
  await wire.until(`\x88${String.fromCharCode(payload.length)}${payload.toString('latin1')}`);
  wire.write(maskedFrame(8, payload.subarray(0, 2)));
  wire.end();
  await eventually('the upstream sees the end', () => isEnded);
  expect(received).toEqual(maskedFrame(8, payload.subarray(0, 2)));
}

describe('a WebSocket during a reload', () => {
  it('stays open while its route does not change', async () => {
    gateway = await startGateway(textOf(SOCKET + OTHER));
    const wire = await openTunnel();
    gateway.swap(textOf(SOCKET.replace('/socket,', '/socket, timeout: 5s,')));
    await closingHasBegun();
    upstreamSocket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
    await wire.until('\x81\x02hi');
    wire.write(maskedFrame(1, Buffer.from('yo')));
    await eventually('the upstream receives it', () => received.length > 0);
    expect(isEnded).toBe(false);
    wire.end();
  });

  it.each([
    ['its path', SOCKET.replace('/socket', '/moved')],
    ['its methods', SOCKET.replace('GET', 'any')],
    ['websocket', SOCKET.replace(', websocket: true', '')],
    ['its id', SOCKET.replace('id: socket', 'id: renamed')],
  ])('is closed with 1012 when its route changes: %s', async (_title, routes) => {
    gateway = await startGateway(textOf(SOCKET));
    const wire = await openTunnel();
    gateway.swap(textOf(routes));
    await expectClosed(wire, 1012);
    expect(gateway.told.at(-1)).toMatchObject({ count: 1, grace_ms: 0 });
  });

  it('stays open when its upstream gets other limits and another endpoint', async () => {
    gateway = await startGateway(textOf(SOCKET));
    const wire = await openTunnel();
    const text = textOf(SOCKET);
    const more = text.replace(
      `url: '${upstream.url}'`,
      `urls: ['http://127.0.0.1:9', '${upstream.url}'], retry: false`,
    );
    expect(more).not.toBe(text);
    gateway.swap(more);
    await closingHasBegun();
    upstreamSocket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
    await wire.until('\x81\x02hi');
    expect(isEnded).toBe(false);
    wire.end();
  });

  it('is closed with 1012 when its upstream changes', async () => {
    gateway = await startGateway(textOf(SOCKET));
    const wire = await openTunnel();
    gateway.swap(textOf(SOCKET, '0ms', 'http://127.0.0.1:9'));
    await expectClosed(wire, 1012);
  });

  it('is closed with 1008 when its route becomes protected', async () => {
    gateway = await startGateway(textOf(SOCKET));
    const wire = await openTunnel();
    gateway.swap(textOf(SOCKET.replace('public', 'protected')));
    await expectClosed(wire, 1008);
  });

  it('is closed with 1008 only when its route allows fewer roles', async () => {
    const routes = SOCKET.replace('public', 'protected');
    gateway = await startGateway(textOf(routes));
    const wire = await openTunnel(`Authorization: Bearer ${await issuer.token()}`);
    gateway.swap(textOf(routes + OTHER));
    upstreamSocket.write(Buffer.from([0x81, 1, 0x61]));
    await wire.until('\x81\x01a');
    gateway.swap(textOf(routes.replace('protected,', 'protected, roles: [admin],')));
    await expectClosed(wire, 1008);
  });

  it('is closed with 1008 when its route became protected during the handshake', async () => {
    onHandshake = () => gateway.swap(textOf(SOCKET.replace('public', 'protected')));
    gateway = await startGateway(textOf(SOCKET));
    await expectClosed(await openTunnel(), 1008);
  });

  it('is closed once if the gateway stops during the close', async () => {
    gateway = await startGateway(textOf(SOCKET));
    const wire = await openTunnel();
    upstreamSocket.write(Buffer.from([0x81, 4, 0x68]));
    await wire.until('\x81\x04h');
    gateway.swap(textOf(OTHER));
    await closingHasBegun();
    const closed = gateway.gateway.close(5_000);
    upstreamSocket.write(Buffer.from([0x61]));
    await wire.until('ha');
    upstreamSocket.write(Buffer.from([0x6c, 0x6f]));
    await wire.until('\x88');
    expect(wire.rest).toMatch(/^\x81\x04halo\x88/);
    wire.end();
    await closed;
  });

  it('applies backpressure to its upstream during the close if the client does not read', async () => {
    gateway = await startGateway(textOf(SOCKET));
    const wire = await openTunnel();
    wire.socket.pause();
    const chunks = 64;
    let sentChunks = 0;
    upstreamSocket.on('error', () => undefined);
    const closed = new Promise((resolve) => upstreamSocket.once('close', resolve));
    upstreamSocket.write(Buffer.from([0x82, 127, 0, 0, 0, 0, chunks >> 4, 0, 0, 0]));
    for (let turn = 0; turn < chunks; turn += 1)
      upstreamSocket.write(Buffer.alloc(1 << 20), (error) => {
        if (!error) sentChunks += 1;
      });
    await eventually('the upstream sends the first chunk', () => sentChunks > 0);
    gateway.swap(textOf(OTHER));
    // The client does not read the frame, so the gateway resets the connection.
    await closed;
    expect(sentChunks).toBeLessThan(chunks / 2);
    wire.end();
  });

  it('is closed after the current frame', async () => {
    gateway = await startGateway(textOf(SOCKET));
    const wire = await openTunnel();
    upstreamSocket.write(Buffer.from([0x81, 4, 0x68, 0x61]));
    await wire.until('\x81\x04ha');
    gateway.swap(textOf(OTHER));
    await closingHasBegun();
    upstreamSocket.write(Buffer.from([0x6c, 0x6f, 0x81, 1, 0x61]));
    await wire.until('lo\x88');
    await expectClosed(wire, 1012);
  });

  it('stays open when the change is undone within the grace period', async () => {
    gateway = await startGateway(textOf(SOCKET, '100ms'));
    const wire = await openTunnel();
    gateway.swap(textOf(OTHER, '100ms'));
    gateway.swap(textOf(SOCKET, '100ms'));
    await closingHasBegun(100);
    upstreamSocket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
    await wire.until('\x81\x02hi');
    wire.end();
  });
});

describe('a response during a reload', () => {
  let site: Upstream;
  /** The response of the upstream. */
  let stream: ServerResponse;
  const STREAM = '  - { id: stream, method: GET, path: /stream, upstream: up, access: public }\n';

  beforeEach(async () => {
    site = await startUpstream((request, response) => {
      stream = response;
      response.writeHead(200, { 'Content-Type': request.headers['accept'] ?? 'text/plain' });
      response.write('data: 1\n\n');
    });
  });
  afterEach(() => site.close());

  const begin = async (accept: string) => {
    gateway = await startGateway(textOf(STREAM, '0ms', site.url));
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /stream HTTP/1.1', `Accept: ${accept}`));
    await wire.until('data: 1\n\n');
    return wire;
  };

  it('that is an event stream stays open while its route does not change', async () => {
    const wire = await begin('text/event-stream');
    gateway.swap(textOf(STREAM + OTHER, '0ms', site.url));
    await closingHasBegun();
    stream.end('data: 2\n\n');
    const got = await wire.response();
    expect([got.body.toString(), got.isComplete]).toEqual(['data: 1\n\ndata: 2\n\n', true]);
    wire.end();
  });

  it('that is an event stream ends cleanly when its route is removed, and the upstream connection is closed', async () => {
    const wire = await begin('text/event-stream; charset=utf-8');
    const closed = new Promise((resolve) => stream.once('close', resolve));
    gateway.swap(textOf(OTHER, '0ms', site.url));
    const got = await wire.response();
    expect([got.body.toString(), got.isComplete]).toEqual(['data: 1\n\n', true]);
    await closed;
    // The connection stays open, and the new plan applies to its next request.
    wire.write(keepAliveHead('GET /stream HTTP/1.1'));
    expect((await wire.response()).status).toBe(404);
    wire.end();
  });

  it('that becomes an event stream while the gateway stops keeps its head and ends at once', async () => {
    const late = await startUpstream((_request, response) => {
      closed = gateway.gateway.close(5_000);
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Other': 'yes' });
      response.write('data: 1\n\n');
    });
    let closed: Promise<void> | undefined;
    gateway = await startGateway(textOf(STREAM, '0ms', late.url));
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /stream HTTP/1.1'));
    const got = await wire.response();
    expect([got.status, got.value('x-other'), got.isComplete]).toEqual([200, 'yes', true]);
    await closed;
    await late.close();
    expect(gateway.lines.map(({ status, aborted }) => [status, aborted])).toEqual([[200, undefined]]);
  });

  it('that becomes an event stream after its route was removed ends cleanly', async () => {
    const late = await startUpstream((_request, response) => {
      gateway.swap(textOf(OTHER, '0ms', late.url));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    gateway = await startGateway(textOf(STREAM, '0ms', late.url));
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /stream HTTP/1.1'));
    const got = await wire.response();
    expect([got.status, got.isComplete]).toEqual([200, true]);
    wire.end();
    await late.close();
  });

  it('that is a download ends under the plan that it began with', async () => {
    const wire = await begin('application/pdf');
    gateway.swap(textOf(OTHER, '0ms', site.url));
    await closingHasBegun();
    stream.end('the rest');
    expect((await wire.response()).body.toString()).toBe('data: 1\n\nthe rest');
    wire.end();
  });
});

describe('WebSocketFrameTracker', () => {
  const frame = (length: number, isMasked = false) => {
    const head =
      length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [127, 0, 0, 0, 0, 0, 1, 0, 0];
    head[0] = (head[0] ?? 0) | (isMasked ? 0x80 : 0);
    return Buffer.concat([Buffer.from([0x82, ...head]), Buffer.alloc(isMasked ? 4 : 0), Buffer.alloc(length)]);
  };

  it.each([0, 1, 125, 126, 65_535, 65_536])('finds the end of a frame of %d bytes in chunks of any size', (length) => {
    for (const isMasked of [false, true]) {
      const bytes = Buffer.concat([frame(length, isMasked), frame(3)]);
      const end = bytes.length - 5;
      for (const cut of [1, 2, 3, 5, 9, end - 1, end].filter((at) => at < end + 1 && at > 0)) {
        const frames = new WebSocketFrameTracker();
        frames.consume(bytes.subarray(0, cut));
        expect(frames.isAtFrameBoundary).toBe(cut === end);
        expect(frames.clone().consumeFrame(bytes.subarray(cut))).toBe(end - cut);
      }
    }
  });
});

describe('an event stream without events', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream;charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n';

  it('stays open beyond the idle timeout, which applies to the next response of its connection', async () => {
    await upstream.close();
    const sockets: Socket[] = [];
    upstream = await startRawUpstream((socket) => {
      sockets.push(socket);
      socket.on('data', (head: Buffer) =>
        socket.write(head.includes('/quiet') ? HEAD : 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
      );
    });
    const text = manifest('  - { id: all, method: GET, path: /**, upstream: up, access: public }\n', {
      up: upstream.url,
      timeouts: '{ idle: 50ms }',
    });
    gateway = await startGateway(text);
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /quiet HTTP/1.1'));
    await wire.until('Event-Stream');
    const slow = await Wire.open(gateway.port);
    slow.write(keepAliveHead('GET /slow HTTP/1.1'));
    await slow.closed();
    expect(wire.isClosed).toBe(false);
    sockets[0]?.write('1\r\n:\r\n0\r\n\r\n');
    expect((await wire.response()).body.toString()).toBe(':');
    wire.write(keepAliveHead('GET /slow HTTP/1.1'));
    await wire.closed();
    await eventually('all exchanges end', () => gateway.lines.length === 3);
    expect(sockets).toHaveLength(2);
    expect(gateway.lines.map(({ reason }) => reason)).toEqual([
      'upstream_idle_timeout',
      undefined,
      'upstream_idle_timeout',
    ]);
  });
});
