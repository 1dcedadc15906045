/** Errors of client connections in rare states: resets, bytes behind the last request, bodies that nobody awaits. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { startIssuer } from '../support/issuer.ts';
import { pause, stoppedCount, TIME_LIMITS, turns } from '../support/pause.ts';
import { endOf, exchangeBytes, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { type RawUpstream, startRawUpstream, startWireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const UNFINISHED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n';
const CHUNKED_POST = `${keepAliveHead('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}1\r\na\r\n`;
/** The bytes sent so far take fewer turns than this in a process that has client, gateway and upstream. */
const MANY_TURNS = 50;

/** Runs a test with a gateway for an upstream that is closed afterwards. */
async function withGateway(
  upstream: RawUpstream,
  run: (gateway: TestGateway) => Promise<void>,
  text = manifest(PUBLIC_ALL, { up: upstream.url }),
  files: Record<string, string> = {},
): Promise<void> {
  const gateway = await startGateway(text, {}, files);
  try {
    await run(gateway);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

/** Starts an upstream that sends these bytes after the first bytes of a request. */
function startEarlyUpstream(bytes: string): Promise<RawUpstream> {
  return startRawUpstream((socket) => void socket.once('data', () => socket.write(bytes)));
}

describe('a TLS connection with the addresses of one that was reset', () => {
  it('has its response reset when the upstream breaks off, and the gateway serves the next request', async () => {
    const { certificate, key } = createPair();
    const upstream = await startWireUpstream(({ line }) => (line.startsWith('GET /broken ') ? UNFINISHED : OK));
    const server = '{ tls: { certificate: ./tls.crt, key: ./tls.key } }';
    const open = async (socket: Socket) => {
      const secure = connectTls({ socket, servername: 'localhost', ca: certificate });
      await once(secure, 'secureConnect');
      return new Wire(secure);
    };
    await withGateway(
      upstream,
      async ({ port, gateway }) => {
        // The system gives other sockets ports from 32768 on.
        const localPort = 20_000 + (process.pid % 10_000);
        const first = connect({ port, host: '127.0.0.1', localPort });
        await once(first, 'connect');
        await eventually('the gateway has the connection', () => gateway.clients.workerConnections === 1);
        first.resetAndDestroy();
        // The gateway accepts this one before the first has emitted `close`.
        const second = connect({ port, host: '127.0.0.1', localPort });
        second.on('error', () => undefined);
        await once(second, 'connect');
        const wire = await open(second);
        const end = endOf(wire.socket);
        wire.write(keepAliveHead('GET /broken HTTP/1.1'));
        await wire.until('hello');
        upstream.sockets[0]?.destroy();
        expect(await end).toBe('ECONNRESET');
        const next = await open(await openSocket(port));
        next.write(keepAliveHead('GET /x HTTP/1.1'));
        expect((await next.response()).status).toBe(200);
        next.end();
      },
      manifest(PUBLIC_ALL, { up: upstream.url, server }),
      { './tls.crt': certificate, './tls.key': key },
    );
  });
});

describe('an event stream that a reload ends', () => {
  it('is complete for a client that has not read it yet', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
    const block = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    const upstream = await startRawUpstream((socket) => {
      socket.once('data', () => {
        socket.write(head);
        for (let count = 0; count < 300; count += 1) socket.write(block);
      });
    });
    const textOf = (routes: string) => `${manifest(routes, { up: upstream.url })}reload: { grace: 0ms }\n`;
    await withGateway(
      upstream,
      async ({ port, swap }) => {
        const socket = await openSocket(port);
        const end = endOf(socket);
        socket.pause();
        socket.write(keepAliveHead('GET /stream HTTP/1.1'));
        await eventually('the upstream has the request', () => (upstream.sockets[0]?.bytesWritten ?? 0) > 0);
        const [stream] = upstream.sockets as [Socket];
        const sent = () => stream.bytesWritten - stream.writableLength;
        const sentBytes = await stoppedCount(sent, () => turns(MANY_TURNS));
        expect(sentBytes).toBeLessThan(300 * 65_536);
        swap(textOf(PUBLIC_ALL.replace('/**', '/other')));
        // The timer of the grace period is older, so it runs first.
        await pause(5);
        await turns(MANY_TURNS);
        const wire = new Wire(socket);
        socket.resume();
        const response = await Promise.race([wire.response(), end]);
        expect(response).toMatchObject({ status: 200, isComplete: true });
        // The connection stays open, and the new plan applies to its next request.
        wire.write(keepAliveHead('GET /stream HTTP/1.1'));
        expect((await wire.response()).status).toBe(404);
        await eventually('the stream of the upstream is closed', () => stream.destroyed);
        wire.end();
      },
      textOf(PUBLIC_ALL),
    );
  });
});

describe('a request with Upgrade that Connection does not name', () => {
  it('is a plain one: a 101 is refused, and the bytes behind it do not reach the upstream', async () => {
    const upstream = await startWireUpstream(
      () => 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    const text = manifest(PUBLIC_ALL.replace(' }', ', websocket: true }'), { up: upstream.url });
    await withGateway(
      upstream,
      async ({ port }) => {
        const wire = await Wire.open(port);
        wire.write(
          `${keepAliveHead('GET /x HTTP/1.1', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')}behind`,
        );
        expect((await wire.message()).status).toBe(502);
        wire.write(keepAliveHead('GET /behind HTTP/1.1'));
        await wire.closed();
        expect(wire.rest).toBe('');
        expect(upstream.messages).toHaveLength(1);
        expect(upstream.bytes().toString()).not.toMatch(/behind|upgrade/i);
      },
      text,
    );
  });
});

describe('a client that sends more behind its last request', () => {
  it('and leaves has that request cancelled at the upstream', async () => {
    const waiting: Socket[] = [];
    const upstream = await startWireUpstream(() => (socket) => void waiting.push(socket));
    await withGateway(upstream, async ({ port }) => {
      const wire = await Wire.open(port);
      wire.write(keepAliveHead('GET /r1 HTTP/1.1'));
      await eventually('the upstream has the first request', () => waiting.length === 1);
      // More than the gateway reads ahead.
      wire.write(keepAliveHead('GET /r2 HTTP/1.1', 'Connection: close') + 'x'.repeat(300_000));
      await turns(MANY_TURNS);
      waiting[0]?.write(OK);
      await wire.response();
      await eventually('the upstream has the second request', () => waiting.length === 2);
      await turns(MANY_TURNS);
      expect(waiting[1]?.destroyed).toBe(false);
      wire.end();
      await eventually('the second request is cancelled', () => waiting[1]?.destroyed === true);
    });
  });
});

describe('a body that is discarded after it filled the buffer', () => {
  it('is read to its end after the response, and the next request is served', async () => {
    // The connection closes if the rest takes a second.
    vi.useFakeTimers(TIME_LIMITS);
    const issuer = await startIssuer();
    const upstream = await startWireUpstream(() => OK);
    const waiting: Socket[] = [];
    const keys = await startRawUpstream((socket) => void socket.once('data', () => void waiting.push(socket)));
    const text = manifest(PUBLIC_ALL.replace('public', 'protected'), { up: upstream.url, jwks: `${keys.url}/jwks` });
    try {
      await withGateway(
        upstream,
        async ({ port }) => {
          const authorization = `Authorization: Bearer ${await issuer.token()}`;
          const wire = await Wire.open(port);
          const headers = [authorization, 'Max-Forwards: 0', 'Content-Length: 200000'];
          wire.write(keepAliveHead('OPTIONS /x HTTP/1.1', ...headers) + 'x'.repeat(150_000));
          await eventually('the gateway fetches the keys', () => waiting.length === 1);
          await turns(MANY_TURNS);
          const body = JSON.stringify({ keys: issuer.keys });
          const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
          waiting[0]?.end(head + body);
          expect((await wire.response()).status).toBe(204);
          wire.write('x'.repeat(50_000) + keepAliveHead('GET /after HTTP/1.1', authorization));
          expect((await wire.response()).status).toBe(200);
          expect(upstream.messages.map(({ line }) => line)).toEqual(['GET /after HTTP/1.1']);
          wire.end();
        },
        text,
      );
    } finally {
      vi.useRealTimers();
      await keys.close();
      await issuer.close();
    }
  });
});

describe('a HEAD request with too large a head', () => {
  it.each([[false], [true]])('gets no body (in two reads: %s)', async (isSplit) => {
    await withGateway(await startWireUpstream(() => OK), async ({ port }) => {
      const bytes = keepAliveHead('HEAD / HTTP/1.1', `X: ${'a'.repeat(40_000)}`);
      if (!isSplit) {
        expect(await exchangeBytes(port, bytes)).toMatch(/^HTTP\/1\.1 431 (?:[^\r\n]*\r\n)+\r\n$/);
        return;
      }
      const wire = await Wire.open(port);
      wire.write(bytes.slice(0, 3));
      await turns(MANY_TURNS);
      wire.write(bytes.slice(3));
      await wire.closed();
      expect(wire.rest).toMatch(/^HTTP\/1\.1 431 (?:[^\r\n]*\r\n)+\r\n$/);
      wire.end();
    });
  });
});

describe('a body that turns out malformed', () => {
  it('before the response is refused in one log line with its route, and its upstream request ends', async () => {
    const received = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const upstream = await startRawUpstream(
      (socket) => void socket.on('data', received.resolve).on('close', ended.resolve),
    );
    await withGateway(upstream, async ({ port, lines }) => {
      const wire = await Wire.open(port);
      const end = endOf(wire.socket);
      wire.write(CHUNKED_POST);
      await received.promise;
      wire.write(`zz\r\n${keepAliveHead('GET /x HTTP/1.1')}`);
      expect((await wire.response()).status).toBe(400);
      expect(await end).toBe('a clean end');
      expect(wire.rest).toBe('');
      await ended.promise;
      expect(lines).toEqual([expect.objectContaining({ status: 400, route: 'all', refusal: 'message_malformed' })]);
    });
  });

  it('after the begin of the response has the connection reset, so that the response does not look complete', async () => {
    await withGateway(await startEarlyUpstream(UNFINISHED), async ({ port, lines }) => {
      const wire = await Wire.open(port);
      const end = endOf(wire.socket);
      wire.write(CHUNKED_POST);
      await wire.until('hello');
      wire.write('zz\r\n');
      expect(await end).toBe('ECONNRESET');
      expect(wire.rest).toMatch(/hello\r\n$/);
      await eventually('the access line', () => lines.length === 1);
      expect(lines[0]).toMatchObject({ status: 200, aborted: true });
    });
  });

  it('after the end of the response has the connection closed without a second response', async () => {
    await withGateway(await startEarlyUpstream(OK), async ({ port, lines }) => {
      const wire = await Wire.open(port);
      const end = endOf(wire.socket);
      wire.write(CHUNKED_POST);
      expect((await wire.response()).body.toString()).toBe('ok');
      wire.write('zz\r\n');
      expect(await end).toBe('a clean end');
      expect(wire.rest).toBe('');
      expect(lines).toHaveLength(1);
      expect((await sendRequest(port, keepAliveHead('GET /x HTTP/1.1'))).status).toBe(200);
    });
  });
});
