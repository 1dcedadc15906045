import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { manifest, type Running, startGateway } from '../support/gateway.ts';
import { readMessage } from '../support/message.ts';
import { chunked, head, keptHead, openSocket, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { type Listening, startListening } from '../support/upstream.ts';

const MB = 1024 * 1024;
const ROUTES = `  - { id: read, method: POST, path: /read, upstream: up, access: public, body: { schema: {} } }
  - { id: secret, method: GET, path: /secret, upstream: up, access: protected }
  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
`;

let upstream: Listening;
let gateway: Running;
/** Requests that came to the upstream whole, and how the exchanges ended. */
const came: string[] = [];
const ended: string[] = [];
let begun = 0;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
const OK = (_request: IncomingMessage, response: ServerResponse) => void response.end('ok');

beforeAll(async () => {
  upstream = await startListening((request, response) => {
    begun += 1;
    response.on('close', () => ended.push(response.writableFinished ? 'whole' : 'cut'));
    request.on('end', () => {
      came.push(`${request.method} ${request.url}`);
      respond(request, response);
    });
    request.resume();
  });
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
});

afterEach(() => {
  came.length = 0;
  ended.length = 0;
  begun = 0;
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

/** Sends bytes, closes this side at once, and reads until the other side closes. */
async function halfClose(bytes: string, port = gateway.port): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.end(bytes);
  await once(socket, 'end');
  return text;
}

const get = (path: string) => keptHead(`GET ${path} HTTP/1.1`);

describe('a client that closes its side behind a whole request', () => {
  it.each<[string, string, string]>([
    ['GET', get('/x'), 'HTTP/1.1 200 OK'],
    ['GET of HTTP/1.0', 'GET /x HTTP/1.0\r\n\r\n', 'HTTP/1.1 200 OK'],
    ['GET that closes', head('GET /x HTTP/1.1'), 'HTTP/1.1 200 OK'],
    ['HEAD', keptHead('HEAD /x HTTP/1.1'), 'HTTP/1.1 200 OK'],
    ['POST', `${keptHead('POST /x HTTP/1.1', 'Content-Length: 2')}ab`, 'HTTP/1.1 200 OK'],
    [
      'POST in chunks',
      `${keptHead('POST /x HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('a')}`,
      'HTTP/1.1 200 OK',
    ],
    [
      'POST that is read first',
      `${keptHead('POST /read HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 2')}{}`,
      'HTTP/1.1 200 OK',
    ],
    [
      'POST that expects 100',
      `${keptHead('POST /x HTTP/1.1', 'Content-Length: 2', 'Expect: 100-continue')}ab`,
      'HTTP/1.1 ',
    ],
    ['what has no token', get('/secret'), 'HTTP/1.1 401 Unauthorized'],
    ['an ambiguous path', get('/a/../b'), 'HTTP/1.1 400 Bad Request'],
    ['garbage', 'garbage\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
  ])('gets its response, and then the connection is closed: %s', async (_what, bytes, status) => {
    for (const delayMs of [0, 150]) {
      respond = (request, response) => void setTimeout(() => OK(request, response), delayMs);
      const text = await halfClose(bytes);
      expect(text.startsWith(status)).toBe(true);
      // One status line, however it was written.
      expect(text.match(/HTTP\/1\.1 [2-5]/g)).toHaveLength(1);
      expect(gateway.lines.filter(({ aborted }) => aborted === true)).toEqual([]);
    }
  });

  it('gets the responses to all that it pipelined, in order', async () => {
    respond = (request, response) => void setTimeout(() => response.end(`<${request.url}>`), 30);
    const text = await halfClose(['/1', '/2', '/a/../b', '/4'].map(get).join(''));
    expect(text.match(/HTTP\/1\.1 \d{3}|<[^>]*>/g)).toEqual([
      'HTTP/1.1 200',
      '</1>',
      'HTTP/1.1 200',
      '</2>',
      'HTTP/1.1 400',
    ]);
    expect(came).toEqual(['GET /1', 'GET /2']);
  });

  it('gets a long response whole, and one that pauses', async () => {
    respond = (_request, response) => {
      response.setHeader('Content-Length', 20 * MB);
      setTimeout(() => response.write(Buffer.alloc(10 * MB)), 50);
      setTimeout(() => response.end(Buffer.alloc(10 * MB)), 600);
    };
    expect((await halfClose(get('/long'))).length).toBeGreaterThan(20 * MB);
    expect(ended).toEqual(['whole']);
  });

  it('gets its response over TLS', async () => {
    const pair = createPair();
    const secure = await startGateway(
      manifest(ROUTES, { up: upstream.url, server: '{ tls: { certificate: ./tls.crt, key: ./tls.key } }' }),
      {},
      { './tls.crt': pair.certificate, './tls.key': pair.key },
    );
    respond = (request, response) => void setTimeout(() => OK(request, response), 150);
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

  it('and leaves after that has its exchange aborted', async () => {
    respond = () => undefined;
    const socket = await openSocket(gateway.port);
    socket.end(get('/x'));
    await eventually('it came', () => came.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ended).toEqual([]);
    socket.destroy();
    await eventually('the exchange is given up', () => ended.length === 1, 8_000);
    expect(await line()).toMatchObject([{ path: '/x', aborted: true }]);
  });

  const trickle =
    (headers: Record<string, string>, pauseMs: number) => (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, headers).write('one,');
      setTimeout(() => response.write('two,'), pauseMs);
      setTimeout(() => response.end('three'), 2 * pauseMs);
    };

  it.each<[string, Record<string, string>]>([
    ['text', {}],
    ['an event stream', { 'Content-Type': 'text/event-stream' }],
  ])('gets a response in chunks whole while it pauses, whenever it closes: %s', async (_what, headers) => {
    respond = trickle(headers, 300);
    for (const delayMs of [0, 150]) {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(get('/slow'));
      setTimeout(() => socket.end(), delayMs);
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
  ])('is not waited for when it leaves within a response that pauses: %s', async (_what, headers) => {
    respond = (_request, response) => void response.writeHead(200, headers).write('one,');
    const wire = await Wire.open(gateway.port);
    wire.write(get('/events'));
    await wire.until('one,');
    wire.socket.destroy();
    await eventually('the upstream is let go', () => ended.length === 1);
    expect(await line()).toMatchObject([{ aborted: true }]);
  });
});

/** The bytes, and what the upstream has seen of them. */
const HALVES: Record<string, string> = {
  'half a request line': 'GET /ha',
  'a head without its end': 'GET /half HTTP/1.1\r\nHost: a\r\n',
  'half a counted body': `${keptHead('POST /half HTTP/1.1', 'Content-Length: 10')}abc`,
  'half a chunk': `${keptHead('POST /half HTTP/1.1', 'Transfer-Encoding: chunked')}a\r\nabc`,
  'chunks without an end': `${keptHead('POST /half HTTP/1.1', 'Transfer-Encoding: chunked')}3\r\nabc\r\n`,
  'half a body that is read first': `${keptHead('POST /read HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 10')}{`,
};

describe('a client that leaves in the middle of a request', () => {
  const ways = ['closes its side', 'closes', 'resets'] as const;

  it.each(Object.entries(HALVES).flatMap(([what, bytes]) => ways.map((way) => [what, way, bytes] as const)))(
    'has sent %s and %s: one line at most, no refusal, and nothing whole upstream',
    async (_what, way, bytes) => {
      const isBegun = bytes.startsWith('POST');
      const refusals = () => [...gateway.gateway.metrics.refusals.values()].reduce((sum, count) => sum + count, 0);
      const before = refusals();
      const socket = await openSocket(gateway.port);
      socket.resume().write(bytes);
      if (bytes.includes('/half HTTP/1.1') && isBegun) await eventually('it has begun', () => begun === 1);
      else await new Promise((resolve) => setTimeout(resolve, 30));
      const gone = once(socket, 'close');
      if (way === 'closes its side') socket.end();
      else if (way === 'closes') socket.destroy();
      else socket.resetAndDestroy();
      await gone;
      if (isBegun) expect(await line()).toMatchObject([{ aborted: true }]);
      await eventually('the connection is closed', () => gateway.gateway.clients.connections === 0);
      await eventually('nothing is in flight', () => gateway.gateway.metrics.inFlight === 0);
      expect(gateway.lines).toHaveLength(isBegun ? 1 : 0);
      expect(gateway.lines.map(({ refusal }) => refusal)).toEqual(isBegun ? [undefined] : []);
      expect([refusals(), came]).toEqual([before, []]);
    },
  );

  it.each(Object.entries(HALVES))('gets the response to the request before it: %s', async (_what, bytes) => {
    respond = (request, response) => void setTimeout(() => OK(request, response), 50);
    const text = await halfClose(get('/whole') + bytes);
    expect(text.startsWith('HTTP/1.1 200 OK')).toBe(true);
    expect([text.match(/HTTP\/1\.1 /g)?.length, came]).toEqual([1, ['GET /whole']]);
  });
});
