import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { readMessage, valuesOf } from '../support/message.ts';
import { turns } from '../support/pause.ts';
import { keepAliveHead, Wire } from '../support/raw.ts';
import { type RawUpstream, startRawUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let upstream: RawUpstream;
let gateway: TestGateway;
let received = '';
let respond: (socket: Socket) => void;

beforeAll(async () => {
  upstream = await startRawUpstream((socket) => {
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      respond(socket);
    });
  });
  gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => {
  received = '';
  respond = (socket) => socket.write(OK);
});

/** Sends the parts one by one and returns everything that the gateway sends before it closes the connection. */
async function exchange(...parts: string[]): Promise<string> {
  const wire = await Wire.open(gateway.port);
  for (const part of parts) {
    wire.write(part);
    await turns(3);
  }
  await wire.closed();
  return wire.rest;
}

describe('the refusal of bytes that are not a request', () => {
  it.each([
    ['a bad name', 400, ['HEAD /x HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n']],
    ['a bad name in a later packet', 400, ['HE', 'AD /x HTTP/1.1\r\n', 'Host: a\r\nBad Name: x\r\n\r\n']],
    ['an empty line before it', 400, ['\r\nHEAD /x HTTP/1.1\r\nBad Name: x\r\n\r\n']],
    ['a bad request line', 400, ['HEAD  /x HTTP/1.1\r\n\r\n']],
    ['a tab after the method', 400, ['HEAD\t/x HTTP/1.1\r\nHost: a\r\n\r\n']],
    ['a tab in a later packet', 400, ['HE', 'AD\t/x HTTP/1.1\r\n', 'Host: a\r\n\r\n']],
    ['no target', 400, ['HEAD\r\nHost: a\r\n\r\n']],
    ['a line feed before it', 400, ['\nHEAD /x HTTP/1.1\r\nHost: a\r\n\r\n']],
    ['two empty lines before it', 400, ['\r\n\r\nHEAD /x HTTP/1.1\r\nHost: a\r\n\r\n']],
    ['headers that are too large', 431, ['HEAD /x HTTP/1.1\r\n', `A: ${'a'.repeat(100_000)}\r\n\r\n`]],
  ] as const)('has no body for HEAD with %s', async (_title, status, parts) => {
    const response = await exchange(...parts);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\r\nContent-Length: [1-9][\\s\\S]*\r\n\r\n$`));
    expect(response).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  });

  it('has no body for HEAD behind another request', async () => {
    const response = await exchange(`${keepAliveHead('GET /x HTTP/1.1')}HEAD /x HTTP/1.1\r\nBad Name: x\r\n\r\n`);
    const size = readMessage(Buffer.from(response))?.size ?? 0;
    expect(response.slice(size)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n$/);
  });

  it.each(['GET /HEAD HTTP/1.1\r\nBad Name: x\r\n\r\n', 'HEADS /x HTTP/1.1\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\n\r\n'])(
    'has a body and a date for %j',
    async (bytes) => {
      const message = readMessage(Buffer.from(await exchange(bytes)));
      expect(String(message?.body)).toContain('"request_id"');
      expect(valuesOf(message?.headers ?? [], 'date')).toHaveLength(1);
    },
  );
});

describe('an absolute request target in HTTP/1.0 without Host', () => {
  it('is forwarded with its authority as the Host', async () => {
    expect(await exchange('GET http://shop.test:81/x?y HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).toMatch(/^GET \/x\?y HTTP\/1\.1\r\n/);
    expect(received.match(/^Host: .*$/gim)).toEqual(['Host: shop.test:81']);
    expect(received).toContain('X-Forwarded-Host: shop.test:81');
  });

  it.each(['http://a@shop.test/x', 'http:///x', 'http://shop.test/a/../x'])(
    'is refused if it is %s',
    async (target) => {
      expect(await exchange(`GET ${target} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
      expect(received).toBe('');
    },
  );
});

describe('a 426 of the upstream', () => {
  it('reaches the client with its Upgrade', async () => {
    const lines = ['HTTP/1.1 426 Upgrade Required', 'Upgrade: websocket', 'Upgrade: IRC/6.9', 'Connection: Upgrade'];
    respond = (socket) => socket.write([...lines, 'Content-Length: 2', '', 'no'].join('\r\n'));
    const headers = readMessage(Buffer.from(await exchange(keepAliveHead('GET /x HTTP/1.1'))))?.headers ?? [];
    expect(valuesOf(headers, 'upgrade')).toEqual(['websocket, IRC/6.9']);
    expect(valuesOf(headers, 'connection')).toEqual(['close, Upgrade']);
  });
});

describe('an early response of the upstream', () => {
  it.each([
    ['Content-Length: 100000', 'some bytes'],
    ['Transfer-Encoding: chunked', '5\r\nbytes\r\n'],
  ])('announces that the connection closes before an upload with %s ends', async (framing, start) => {
    respond = (socket) => socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge');
    const response = await exchange(keepAliveHead('POST /x HTTP/1.1', framing), start);
    const { headers = [], body } = readMessage(Buffer.from(response)) ?? {};
    expect(valuesOf(headers, 'connection')).toEqual(['close']);
    expect(String(body)).toBe('large');
  });

  it('keeps the connection after a complete upload', async () => {
    respond = (socket) => socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge');
    const wire = await Wire.open(gateway.port);
    const upload = `${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 4')}body`;
    for (let count = 0; count < 2; count += 1)
      expect((await wire.write(upload).response()).value('connection')).toBe('keep-alive');
    wire.end();
  });
});
