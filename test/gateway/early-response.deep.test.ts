import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { PUBLIC_ALL, startGateway } from '../support/gateway.ts';
import { turns } from '../support/pause.ts';
import { keepAliveHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';

const EARLY = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge';
const BODY_BYTES = 1_500_000;
const CHUNK = Buffer.alloc(8_192, 'a');
const PAIR = createPair();

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

/** Ways in which an upstream closes the connection after its response, by title. */
const CLOSINGS: Readonly<Record<string, (socket: Socket) => void>> = {
  'closes with the upload unread, which resets the connection': (socket) => {
    socket.pause();
    socket.write(EARLY, () => socket.destroy());
  },
  'resets the connection': (socket) => void socket.write(EARLY, () => socket.resetAndDestroy()),
  'ends the connection and reads nothing more': (socket) => {
    socket.pause();
    socket.end(EARLY);
    void turns(10).then(() => socket.destroy());
  },
  'ends the connection and resets it when more bytes arrive': (socket) => {
    socket.removeAllListeners('data').on('data', () => socket.resetAndDestroy());
    socket.end(EARLY);
  },
  'ends the connection and reads on': (socket) => void socket.end(EARLY),
};

/** Starts an upstream that calls `close` when it has read this many bytes of a request. */
async function startEarly(afterBytes: number, close: (socket: Socket) => void, isTls = false): Promise<string> {
  const onConnection = (socket: Socket) => {
    let read = 0;
    let isDone = false;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      read += bytes.length;
      if (isDone || read < afterBytes) return;
      isDone = true;
      close(socket);
    });
  };
  const server = isTls
    ? createTlsServer({ key: PAIR.key, cert: PAIR.certificate }, onConnection)
    : createServer(onConnection);
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => void server.close());
  return `${isTls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(url: string) {
  const isTls = url.startsWith('https');
  const tls = isTls ? ', tls: { ca: ./ca.pem }' : '';
  const text = `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${url}', breaker: { failures: 1, pause: 1h }${tls} } }
routes:
${PUBLIC_ALL}`;
  const running = await startGateway(text, {}, isTls ? { 'ca.pem': PAIR.certificate } : {});
  cleanups.push(() => running.close());
  return running;
}

/** Uploads a body in chunks, one per turn of the event loop, and resolves with the received text. */
async function upload(port: number, framing: 'counted' | 'chunked'): Promise<string> {
  const socket = await openSocket(port);
  let received = '';
  const isResponded = () => received.endsWith('large') || /^HTTP\/1\.1 50[234]/.test(received);
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (isResponded()) resolve();
    });
    socket.on('close', () => resolve());
  });
  const isCounted = framing === 'counted';
  socket.write(
    keepAliveHead('POST /up HTTP/1.1', isCounted ? `Content-Length: ${BODY_BYTES}` : 'Transfer-Encoding: chunked'),
  );
  const chunk = isCounted
    ? CHUNK
    : Buffer.concat([Buffer.from(`${CHUNK.length.toString(16)}\r\n`), CHUNK, Buffer.from('\r\n')]);
  for (let sent = 0; sent + CHUNK.length <= BODY_BYTES && !isResponded() && !socket.destroyed; sent += CHUNK.length) {
    if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), ended]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
  socket.destroy();
  return received;
}

describe('a response before the end of the upload', () => {
  it.each(Object.entries(CLOSINGS))('reaches the client when the upstream %s', async (_title, close) => {
    for (const afterBytes of [1, 2_000, 100_000, 700_000]) {
      const running = await serve(await startEarly(afterBytes, close));
      const received: string[] = [];
      for (let round = 0; round < 5; round += 1) {
        const uploads = Array.from({ length: 8 }, (_, index) =>
          upload(running.port, index % 2 === 0 ? 'counted' : 'chunked'),
        );
        received.push(...(await Promise.all(uploads)));
      }
      const lost = received.filter((text) => !text.startsWith('HTTP/1.1 413 ') || !text.endsWith('large'));
      expect([afterBytes, lost]).toEqual([afterBytes, []]);
      expect(running.gateway.upstreams[0]?.endpoints[0]?.breaker).toBe('closed');
    }
  });

  it('reaches the client over TLS', async () => {
    const close = CLOSINGS['closes with the upload unread, which resets the connection'] as (socket: Socket) => void;
    const running = await serve(await startEarly(2_000, close, true));
    for (let round = 0; round < 5; round += 1) {
      const received = await Promise.all(Array.from({ length: 8 }, () => upload(running.port, 'counted')));
      const lost = received.filter((text) => !text.startsWith('HTTP/1.1 413 ') || !text.endsWith('large'));
      expect(lost).toEqual([]);
    }
  });

  it('closes the connection of a client that does not finish the upload in time', async () => {
    const early = 'HTTP/1.1 413 X\r\nContent-Length: 5\r\n\r\nlarge';
    const running = await serve(await startEarly(1, (socket) => void socket.write(early)));
    const [silent, slow] = [await openSocket(running.port), await openSocket(running.port)];
    const ends = [silent, slow].map((socket) => once(socket.resume(), 'close'));
    for (const socket of [silent, slow])
      socket.write(`${keepAliveHead('POST /up HTTP/1.1', 'Content-Length: 1000000')}a`);
    const timer = setInterval(() => void slow.write('a'), 100);
    await Promise.all(ends);
    clearInterval(timer);
  });

  it('keeps the connection of a client that sends the rest of the upload, if it is no error', async () => {
    const early = 'HTTP/1.1 202 X\r\nContent-Length: 5\r\n\r\nlarge';
    const running = await serve(await startEarly(1, (socket) => void socket.write(early)));
    const wire = await Wire.open(running.port);
    for (let round = 0; round < 2; round += 1) {
      wire.write(`${keepAliveHead('POST /up HTTP/1.1', 'Content-Length: 10')}a`);
      expect((await wire.response()).status).toBe(202);
      wire.write('a'.repeat(9));
    }
    wire.end();
  });

  it('never leaves its upstream connection to the next request', async () => {
    let connections = 0;
    const respondInHalves = (socket: Socket) => {
      connections += 1;
      socket.write('HTTP/1.1 202 X\r\nContent-Length: 5\r\n\r\nla');
      socket.once('data', () => socket.write('rge'));
    };
    const running = await serve(await startEarly(1, respondInHalves));
    const wire = await Wire.open(running.port);
    for (let round = 1; round <= 3; round += 1) {
      wire.write(`${keepAliveHead('POST /up HTTP/1.1', 'Content-Length: 2')}a`);
      await eventually(
        'the response has begun',
        () => running.gateway.upstreams[0]?.endpoints[0]?.busy === 1 && connections === round,
      );
      await wire.until('la');
      wire.write('a');
      expect([(await wire.response()).status, connections]).toEqual([202, round]);
    }
    wire.end();
  });

  it('does not count for the breaker if it ends with a reset after a complete upload', async () => {
    let upstream: Socket | undefined;
    const respond = (socket: Socket) => {
      upstream = socket;
      socket.write('HTTP/1.1 413 X\r\nConnection: close\r\n\r\nlarge');
    };
    const running = await serve(await startEarly(1, respond));
    const wire = await Wire.open(running.port);
    wire.write(`${keepAliveHead('POST /up HTTP/1.1', 'Content-Length: 10')}a`);
    await wire.until('large');
    wire.write('a'.repeat(9));
    await new Promise((resolve) => upstream?.once('data', resolve));
    upstream?.resetAndDestroy();
    await eventually('the exchange ended', () => running.lines.length === 1);
    expect(running.lines[0]).toMatchObject({ status: 413, aborted: true });
    expect(running.gateway.upstreams[0]?.endpoints[0]?.breaker).toBe('closed');
    wire.end();
  });

  it('is 502 if the upstream resets the connection without a response', async () => {
    const running = await serve(await startEarly(100_000, (socket) => void socket.resetAndDestroy()));
    for (let count = 0; count < 10; count += 1)
      expect(await upload(running.port, 'counted')).toMatch(/^HTTP\/1\.1 502 /);
    expect(running.gateway.upstreams[0]?.endpoints[0]?.breaker).toBe('closed');
  });

  it('is cut off for the client if a reset ends a body without a length', async () => {
    const cut = (socket: Socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 X\r\nConnection: close\r\n\r\nlarge', () => socket.destroy());
    };
    const running = await serve(await startEarly(2_000, cut));
    for (let count = 0; count < 20; count += 1) {
      const text = await upload(running.port, 'counted');
      expect(text.startsWith('HTTP/1.1 413') && text.endsWith('0\r\n\r\n')).toBe(false);
    }
    await eventually('the exchanges ended', () => running.lines.length === 20);
    expect(running.lines.every(({ aborted }) => aborted === true)).toBe(true);
  });
});
