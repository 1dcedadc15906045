import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Upstream } from '../../src/engine/settings/upstream-definition.ts';
import { PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startRawUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

/** Starts a gateway with one upstream. The upstream calls `onRequest` with the connection and the first bytes of each request. */
async function serve(breaker: string, onRequest: (socket: Socket, text: string) => void, timeouts = '{}') {
  const upstream = await startRawUpstream((socket) => {
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (/^[A-Z]+ \//.test(text)) onRequest(socket, text);
    });
  });
  const text = `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${upstream.url}', breaker: ${breaker}, timeouts: ${timeouts}, retry: false }
routes:
${PUBLIC_ALL}`;
  const gateway = await startGateway(text);
  cleanups.push(
    () => upstream.close(),
    () => gateway.close(),
  );
  return { gateway, state: () => gateway.gateway.upstreams[0]?.endpoints[0]?.breaker };
}

const get = ({ port }: TestGateway, path = '/x') => sendRequest(port, head(`GET ${path} HTTP/1.1`));

describe('a client cannot open the breaker', () => {
  it('by a query that makes the response head too large', async () => {
    const { gateway, state } = await serve('{ failures: 2, pause: 1h }', (socket, text) => {
      const [, path = ''] = text.split(' ');
      socket.write(`HTTP/1.1 302 Found\r\nLocation: ${path}${path}\r\nContent-Length: 0\r\n\r\n`);
    });
    for (let count = 0; count < 5; count += 1) {
      const got = await get(gateway, `/x?${'a'.repeat(9_000)}`);
      expect([got.status, got.json().code]).toEqual([502, 'upstream_error']);
    }
    expect(state()).toBe('closed');
    expect((await get(gateway)).status).toBe(302);
  });

  it('by an upload that is so slow that the upstream closes the connection', async () => {
    const { gateway, state } = await serve('{ failures: 1, pause: 1h }', (socket) => void socket.destroy());
    const slow = await Wire.open(gateway.port);
    slow.write(`${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 10')}half`);
    expect((await slow.response()).status).toBe(502);
    slow.end();
    expect(state()).toBe('closed');
  });

  it('by reading so slowly that the upstream closes the connection during the response', async () => {
    let hasClosed = false;
    const { gateway, state } = await serve('{ failures: 1, pause: 1h }', (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n');
      const body = Buffer.alloc(1_000_000, 'a');
      const fill = () => {
        while (socket.write(body));
      };
      socket.on('drain', fill);
      fill();
      // The upstream closes the connection when the gateway stops reading.
      let last = -1;
      const timer = setInterval(() => {
        if (socket.bytesWritten === last) socket.destroy();
        last = socket.bytesWritten;
      }, 200);
      socket.on('close', () => {
        clearInterval(timer);
        hasClosed = true;
      });
    });
    const client = await openSocket(gateway.port);
    client.pause();
    client.write(keepAliveHead('GET /x HTTP/1.1'));
    await eventually('the upstream closes the connection', () => hasClosed);
    client.resume();
    await eventually('the exchange ends', () => gateway.lines.length === 1);
    expect(state()).toBe('closed');
    client.destroy();
  });

  it.each([
    ['an event stream', 'Content-Type: text/event-stream', 'eventStream'],
    ['a chunked response', 'Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked', 'idle'],
    ['a response with a length', 'Content-Length: 100', 'idle'],
    ['a response until the connection closes', 'X-Kind: raw', 'idle'],
  ])('by %s that pauses after it began', async (_title, headers, timeout) => {
    const { gateway, state } = await serve(
      '{ failures: 1, pause: 1h }',
      (socket, text) => void socket.write(text.includes('/quiet') ? `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n` : OK),
      `{ ${timeout}: 50ms }`,
    );
    for (let count = 1; count <= 3; count += 1) {
      const quiet = await Wire.open(gateway.port);
      quiet.write(keepAliveHead('GET /quiet HTTP/1.1'));
      await quiet.closed();
      await eventually('the exchange ends', () => gateway.lines.length === count);
      expect(gateway.lines.map(({ reason }) => reason)).toEqual(Array(count).fill('upstream_idle_timeout'));
    }
    expect([state(), gateway.gateway.upstreams[0]?.health, (await get(gateway)).status]).toEqual([
      'closed',
      'healthy',
      200,
    ]);
  });

  it.each([
    ['closes', (socket: Socket) => void socket.end()],
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
  ])('by an event stream that the upstream %s', async (_title, close) => {
    const { gateway, state } = await serve('{ failures: 1, pause: 1h }', (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
      void pause(10).then(() => close(socket));
    });
    const events = await Wire.open(gateway.port);
    events.write(keepAliveHead('GET /events HTTP/1.1'));
    await events.closed();
    await eventually('the exchange ends', () => gateway.lines.length === 1);
    expect(state()).toBe('closed');
  });

  it('by disconnecting at any time', async () => {
    const { gateway, state } = await serve('{ failures: 1, pause: 1h }', (socket, text) => {
      if (text.includes('/half')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    });
    for (const path of ['/nothing', '/half']) {
      const lines = gateway.lines.length;
      const client = await Wire.open(gateway.port);
      client.write(keepAliveHead(`GET ${path} HTTP/1.1`));
      if (path === '/half') await client.until('half');
      else
        await eventually(
          'the request reaches the upstream',
          () => gateway.gateway.upstreams[0]?.endpoints[0]?.busy === 1,
        );
      client.end();
      await eventually('the exchange ends', () => gateway.lines.length > lines);
      expect(state()).toBe('closed');
    }
  });
});

describe('a client cannot block the trial request of a breaker', () => {
  // The breaker reads this clock. It stands still, so that a slow machine does not end a pause.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** Starts a gateway with a half-open breaker and an upstream that is healthy again. */
  async function halfOpen() {
    let isBroken = true;
    const site = await serve('{ failures: 1, pause: 200ms }', (socket, text) => {
      if (isBroken) socket.destroy();
      else if (text.startsWith('GET /events'))
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n');
      else if (text.startsWith('GET /x')) socket.write(OK);
    });
    expect((await get(site.gateway)).status).toBe(502);
    expect(site.state()).toBe('open');
    isBroken = false;
    vi.advanceTimersByTime(200);
    expect(site.state()).toBe('half-open');
    return site;
  }

  it('by an event stream', async () => {
    const { gateway, state } = await halfOpen();
    const events = await Wire.open(gateway.port);
    events.write(keepAliveHead('GET /events HTTP/1.1'));
    await events.until('data: 1');
    expect(state()).toBe('closed');
    expect((await get(gateway)).status).toBe(200);
    events.end();
  });

  it.each([
    ['an upload that never ends', `${keepAliveHead('POST /up HTTP/1.1', 'Transfer-Encoding: chunked')}1\r\na\r\n`],
    ['a slow request', keepAliveHead('GET /slow HTTP/1.1')],
  ])('by %s', async (_title, bytes) => {
    const { gateway, state } = await halfOpen();
    const slow = await Wire.open(gateway.port);
    slow.write(bytes);
    await eventually('the trial has begun', () => gateway.gateway.upstreams[0]?.endpoints[0]?.busy === 1);
    expect((await get(gateway)).status).toBe(503);
    vi.advanceTimersByTime(200);
    expect((await get(gateway)).status).toBe(200);
    expect(state()).toBe('closed');
    slow.end();
  });

  it('by disconnecting', async () => {
    const { gateway, state } = await halfOpen();
    const client = await Wire.open(gateway.port);
    client.write(`${keepAliveHead('POST /up HTTP/1.1', 'Content-Length: 10')}half`);
    await eventually('the trial has begun', () => gateway.gateway.upstreams[0]?.endpoints[0]?.busy === 1);
    client.end();
    await eventually('the trial is over', () => gateway.gateway.upstreams[0]?.endpoints[0]?.busy === 0);
    expect([(await get(gateway)).status, state()]).toEqual([200, 'closed']);
  });
});

describe('a gateway process that runs out of file descriptors', () => {
  it('does not open the breaker of an endpoint', async () => {
    const { gateway, state } = await serve('{ failures: 1, pause: 1h }', (socket) => void socket.write(OK));
    const { plan } = gateway.planned();
    const connect = () => {
      const socket = new PassThrough();
      process.nextTick(() => socket.destroy(Object.assign(new Error('no descriptor'), { code: 'EMFILE' })));
      return socket;
    };
    const upstreams = plan.upstreams.map((upstream) => ({ ...upstream, key: 'short', connect }));
    const match = (method: string, path: string) => {
      const route = plan.router.match(method, path);
      return route && { ...route, upstream: upstreams[0] as Upstream };
    };
    gateway.gateway.activate({ ...plan, upstreams, router: { ...plan.router, match } });
    for (let count = 0; count < 5; count += 1) expect((await get(gateway)).status).toBe(502);
    expect(state()).toBe('closed');
  });
});
