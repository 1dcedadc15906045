import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { readMessage } from '../support/message.ts';
import { pause, turns } from '../support/pause.ts';
import { chunked, head, keepAliveHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstreamServer, type UpstreamServer } from '../support/upstream.ts';

const MB = 1024 * 1024;
/** A late response: the gateway probes a half-closed connection several times before it. */
const LATE_MS = 150;
const ROUTES = `  - { id: read, method: POST, path: /read, upstream: up, access: public, body: { schema: {} } }
  - { id: secret, method: GET, path: /secret, upstream: up, access: protected }
  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
`;

let upstream: UpstreamServer;
let gateway: TestGateway;
/** Complete requests at the upstream, and how the exchanges ended. */
const received: string[] = [];
const endings: string[] = [];
let begunCount = 0;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
const OK = (_request: IncomingMessage, response: ServerResponse) => void response.end('ok');

beforeAll(async () => {
  upstream = await startUpstreamServer((request, response) => {
    begunCount += 1;
    response.on('close', () => endings.push(response.writableFinished ? 'complete' : 'cut'));
    request.on('end', () => {
      received.push(`${request.method} ${request.url}`);
      respond(request, response);
    });
    request.resume();
  });
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url, timeouts: '{ response: 1h, idle: 1h }' }));
});

afterEach(() => {
  received.length = 0;
  endings.length = 0;
  begunCount = 0;
  gateway.lines.length = 0;
  respond = OK;
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const line = async () => {
  await eventually('the access line', () => gateway.lines.length > 0);
  return gateway.lines;
};

/** Sends bytes, half-closes the connection at once, and reads until the gateway closes it. */
async function halfClose(bytes: string, port = gateway.port): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  // A reset after the end is not the subject.
  socket.on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.end(bytes);
  await once(socket, 'end');
  return text;
}

const get = (path: string) => keepAliveHead(`GET ${path} HTTP/1.1`);

describe('a client that half-closes after a complete request', () => {
  it.each<[string, string, string]>([
    ['GET', get('/x'), 'HTTP/1.1 200 OK'],
    ['GET of HTTP/1.0', 'GET /x HTTP/1.0\r\n\r\n', 'HTTP/1.1 200 OK'],
    ['GET with Connection: close', head('GET /x HTTP/1.1'), 'HTTP/1.1 200 OK'],
    ['HEAD', keepAliveHead('HEAD /x HTTP/1.1'), 'HTTP/1.1 200 OK'],
    ['POST', `${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 2')}ab`, 'HTTP/1.1 200 OK'],
    [
      'POST in chunks',
      `${keepAliveHead('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('a')}`,
      'HTTP/1.1 200 OK',
    ],
    [
      'POST that is buffered',
      `${keepAliveHead('POST /read HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 2')}{}`,
      'HTTP/1.1 200 OK',
    ],
    [
      'POST that expects 100',
      `${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 2', 'Expect: 100-continue')}ab`,
      'HTTP/1.1 ',
    ],
    ['a request without a token', get('/secret'), 'HTTP/1.1 401 Unauthorized'],
    ['an ambiguous path', get('/a/../b'), 'HTTP/1.1 400 Bad Request'],
    ['garbage', 'garbage\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
  ])('gets its response, then the connection closes: %s', async (_title, bytes, status) => {
    for (const delayMs of [0, LATE_MS]) {
      respond = (request, response) => void pause(delayMs).then(() => OK(request, response));
      const text = await halfClose(bytes);
      expect(text.startsWith(status)).toBe(true);
      // There is exactly one final status line.
      expect(text.match(/HTTP\/1\.1 [2-5]/g)).toHaveLength(1);
      expect(gateway.lines.filter(({ aborted }) => aborted === true)).toEqual([]);
    }
  });

  it('gets the responses to all its pipelined requests in order', async () => {
    respond = (request, response) => void pause(30).then(() => response.end(`<${request.url}>`));
    const text = await halfClose(['/1', '/2', '/a/../b', '/4'].map(get).join(''));
    expect(text.match(/HTTP\/1\.1 \d{3}|<[^>]*>/g)).toEqual([
      'HTTP/1.1 200',
      '</1>',
      'HTTP/1.1 200',
      '</2>',
      'HTTP/1.1 400',
    ]);
    expect(received).toEqual(['GET /1', 'GET /2']);
  });

  it('gets all of a long response that pauses', async () => {
    respond = async (_request, response) => {
      response.setHeader('Content-Length', 20 * MB);
      await pause(50);
      response.write(Buffer.alloc(10 * MB));
      await pause(550);
      response.end(Buffer.alloc(10 * MB));
    };
    expect((await halfClose(get('/long'))).length).toBeGreaterThan(20 * MB);
    expect(endings).toEqual(['complete']);
  });

  it('gets its response over TLS', async () => {
    const pair = createPair();
    const secure = await startGateway(
      manifest(ROUTES, { up: upstream.url, server: '{ tls: { certificate: ./tls.crt, key: ./tls.key } }' }),
      {},
      { './tls.crt': pair.certificate, './tls.key': pair.key },
    );
    respond = (request, response) => void pause(LATE_MS).then(() => OK(request, response));
    const socket = connectTls({
      port: secure.port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: pair.certificate,
      allowHalfOpen: true,
    } as ConnectionOptions);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.end(get('/x'));
    await once(socket, 'end');
    expect(text.startsWith('HTTP/1.1 200 OK')).toBe(true);
    expect(text.endsWith('ok')).toBe(true);
    await secure.close();
  });

  it('has its exchange aborted if it disconnects later', async () => {
    respond = () => undefined;
    const socket = await openSocket(gateway.port);
    socket.end(get('/x'));
    await eventually('the request reaches the upstream', () => received.length === 1);
    // The client still reads, so the probes of this time do not end the exchange.
    await pause(100);
    expect(endings).toEqual([]);
    socket.destroy();
    await eventually('the gateway aborts the exchange', () => endings.length === 1);
    expect(await line()).toMatchObject([{ path: '/x', aborted: true }]);
  });

  const trickle =
    (headers: Record<string, string>, pauseMs: number) => async (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, headers).write('one,');
      await pause(pauseMs);
      response.write('two,');
      await pause(pauseMs);
      response.end('three');
    };

  it.each<[string, Record<string, string>]>([
    ['text', {}],
    ['an event stream', { 'Content-Type': 'text/event-stream' }],
  ])('gets a complete chunked response that pauses: %s', async (_title, headers) => {
    respond = trickle(headers, 300);
    for (const delayMs of [0, LATE_MS]) {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(get('/slow'));
      void pause(delayMs).then(() => socket.end());
      await once(socket, 'end');
      const { body } = readMessage(Buffer.concat(chunks)) ?? {};
      expect(body?.toString()).toBe('one,two,three');
    }
    expect(gateway.lines.filter(({ aborted }) => aborted === true)).toEqual([]);
  });

  it.each<[string, Record<string, string>]>([
    ['in chunks', {}],
    ['with a length', { 'Content-Length': '13' }],
    ['an event stream', { 'Content-Type': 'text/event-stream' }],
  ])('has its exchange aborted if it disconnects during a response that pauses: %s', async (_title, headers) => {
    respond = (_request, response) => void response.writeHead(200, headers).write('one,');
    const wire = await Wire.open(gateway.port);
    wire.write(get('/events'));
    await wire.until('one,');
    wire.socket.destroy();
    await eventually('the gateway closes the upstream connection', () => endings.length === 1);
    expect(await line()).toMatchObject([{ aborted: true }]);
  });
});

/** Incomplete requests by title. */
const INCOMPLETE: Record<string, string> = {
  'half a request line': 'GET /ha',
  'a head without its end': 'GET /half HTTP/1.1\r\nHost: a\r\n',
  'half a counted body': `${keepAliveHead('POST /half HTTP/1.1', 'Content-Length: 10')}abc`,
  'half a chunk': `${keepAliveHead('POST /half HTTP/1.1', 'Transfer-Encoding: chunked')}a\r\nabc`,
  'chunks without an end': `${keepAliveHead('POST /half HTTP/1.1', 'Transfer-Encoding: chunked')}3\r\nabc\r\n`,
  'half a buffered body': `${keepAliveHead('POST /read HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 10')}{`,
};

describe('a client that disconnects during a request', () => {
  const methods = ['half-closes', 'closes', 'resets'] as const;

  it.each(
    Object.entries(INCOMPLETE).flatMap(([title, bytes]) => methods.map((method) => [title, method, bytes] as const)),
  )(
    'causes one log line at most, no refusal and no complete upstream request: sends %s, then %s',
    async (_title, method, bytes) => {
      const isBegun = bytes.startsWith('POST');
      const refusals = () => [...gateway.gateway.metrics.refusals.values()].reduce((sum, count) => sum + count, 0);
      const before = refusals();
      const socket = await openSocket(gateway.port);
      socket.resume().write(bytes);
      if (bytes.includes('/half HTTP/1.1') && isBegun)
        await eventually('the upstream request begins', () => begunCount === 1);
      else await turns(10);
      const closed = once(socket, 'close');
      if (method === 'half-closes') socket.end();
      else if (method === 'closes') socket.destroy();
      else socket.resetAndDestroy();
      await closed;
      if (isBegun) expect(await line()).toMatchObject([{ aborted: true }]);
      await eventually('the connection is closed', () => gateway.gateway.clients.connections === 0);
      await eventually('nothing is in flight', () => gateway.gateway.metrics.inFlight === 0);
      expect(gateway.lines).toHaveLength(isBegun ? 1 : 0);
      expect(gateway.lines.map(({ refusal }) => refusal)).toEqual(isBegun ? [undefined] : []);
      expect([refusals(), received]).toEqual([before, []]);
    },
  );

  it.each(Object.entries(INCOMPLETE))('gets the response to the request before it: %s', async (_title, bytes) => {
    respond = (request, response) => void pause(50).then(() => OK(request, response));
    const text = await halfClose(get('/complete') + bytes);
    expect(text.startsWith('HTTP/1.1 200 OK')).toBe(true);
    expect([text.match(/HTTP\/1\.1 /g)?.length, received]).toEqual([1, ['GET /complete']]);
  });
});
