import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  get,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ForkedGateway, forkGateway } from '../support/forked.ts';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { stoppedCount } from '../support/pause.ts';
import { keepAliveHead, openSocket, Wire } from '../support/raw.ts';
import { type RawUpstream, startRawUpstream, startUpstreamServer, type UpstreamServer } from '../support/upstream.ts';

const MB = 1024 * 1024;
/** A block whose parts differ, so that lost, duplicated or moved bytes change the hash. */
const BLOCK = Buffer.alloc(MB, createHash('sha512').update('block').digest('base64'));

let upstream: UpstreamServer;
let listener: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstreamServer((request, response) => listener(request, response));
  gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('a streamed body', () => {
  it('reaches the client event by event, before the upstream sends the next one', async () => {
    const pending: ServerResponse[] = [];
    listener = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
      pending.push(response);
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /events HTTP/1.1'));
    for (const next of ['2', '3']) {
      await wire.until(`data: ${Number(next) - 1}`);
      expect(wire.rest).not.toContain(`data: ${next}`);
      pending[0]?.write(`data: ${next}\n\n`);
    }
    await wire.until('data: 3');
    pending[0]?.end();
    expect((await wire.response()).body.toString()).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n');
    wire.end();
  });

  it.each([
    ['with Content-Length', { 'Content-Length': 4 }],
    ['chunked', {}],
  ])('follows a head that is forwarded before it: %s', async (_framing, headers) => {
    let pending: ServerResponse | undefined;
    listener = (_request, response) => {
      pending = response;
      response.writeHead(200, { 'X-Early': '1', ...headers });
      response.flushHeaders();
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /late HTTP/1.1'));
    await wire.until('\r\n\r\n');
    expect(wire.rest).toContain('X-Early: 1');
    pending?.end('body');
    expect((await wire.response()).body.toString()).toBe('body');
    wire.end();
  });

  it('reaches the upstream chunk by chunk, before the client sends the next one', async () => {
    const chunks: string[] = [];
    let notify = () => {};
    listener = (request, response) => {
      request.on('data', (chunk) => {
        chunks.push(String(chunk));
        notify();
      });
      request.on('end', () => response.end('done'));
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('POST /up HTTP/1.1', 'Transfer-Encoding: chunked'));
    for (const text of ['one', 'two', 'three']) {
      const arrival = new Promise<void>((resolve) => {
        notify = resolve;
      });
      wire.write(`${text.length.toString(16)}\r\n${text}\r\n`);
      await arrival;
      expect(chunks.at(-1)).toBe(text);
    }
    wire.write('0\r\n\r\n');
    expect((await wire.response()).body.toString()).toBe('done');
    wire.end();
  });
});

describe('backpressure', () => {
  const TOTAL = 150 * MB;
  /** The kernel buffers of two connections, plus a few MB in the gateway. */
  const BOUND = 50 * MB;
  let raw: RawUpstream;
  let forked: ForkedGateway;
  let talk: (socket: Socket) => void = () => undefined;

  beforeAll(async () => {
    raw = await startRawUpstream((socket) => talk(socket));
    forked = await forkGateway(manifest(PUBLIC_ALL, { up: raw.url }));
  });

  afterAll(async () => {
    await forked.close();
    await raw.close();
  });

  it('from a client stops the upstream, and every byte arrives later', async () => {
    let sender: Socket | undefined;
    let sent = 0;
    talk = (socket) => {
      sender = socket;
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${TOTAL}\r\n\r\n`);
        sent = pour(socket, TOTAL);
      });
    };
    const client = await openSocket(forked.port);
    client.write(keepAliveHead('GET /down HTTP/1.1'));
    await once(client, 'readable');
    const before = (await forked.usage()).maxRssBytes;
    const bytesSent = await stoppedCount(
      () => (sender === undefined ? 0 : sender.bytesWritten - sender.writableLength),
      forked.usage,
    );
    expect(bytesSent).toBeLessThan(BOUND);
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(30 * MB);
    let received = 0;
    for await (const chunk of client) {
      received += (chunk as Buffer).length;
      if (received > TOTAL) break;
    }
    expect(sent).toBe(TOTAL);
    expect(received).toBeGreaterThan(TOTAL);
  });

  it('bounds the memory for a response in one-byte chunks', async () => {
    const chunks = '1\r\na\r\n'.repeat(20_000);
    let sender: Socket | undefined;
    talk = (socket) => {
      sender = socket;
      const more = () => {
        while (!socket.destroyed && socket.write(chunks));
        socket.once('drain', more);
      };
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        more();
      });
    };
    const client = await openSocket(forked.port);
    client.write(keepAliveHead('GET /down HTTP/1.1'));
    await once(client, 'readable');
    const before = (await forked.usage()).maxRssBytes;
    await stoppedCount(() => (sender === undefined ? 0 : sender.bytesWritten - sender.writableLength), forked.usage);
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(60 * MB);
    client.destroy();
  });

  it('from an upstream stops the client, and every byte arrives later', async () => {
    let receiver: Socket | undefined;
    talk = (socket) => {
      receiver = socket;
      socket.pause();
    };
    const client = await openSocket(forked.port);
    client.write(keepAliveHead('POST /up HTTP/1.1', `Content-Length: ${TOTAL}`));
    const before = (await forked.usage()).maxRssBytes;
    pour(client, TOTAL);
    const bytesSent = await stoppedCount(() => client.bytesWritten - client.writableLength, forked.usage);
    expect(bytesSent).toBeGreaterThan(0);
    expect(bytesSent).toBeLessThan(BOUND);
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(30 * MB);
    let received = 0;
    receiver?.on('data', (chunk) => {
      received += chunk.length;
      if (received > TOTAL) receiver?.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    receiver?.resume();
    expect((await new Wire(client).response()).body.toString()).toBe('ok');
    client.destroy();
  });
});

describe('bodies of 100 MB', () => {
  const BLOCKS = 100;
  const expected = createHash('sha256');
  for (let index = 0; index < BLOCKS; index += 1) expected.update(block(index));
  const hash = expected.digest('hex');
  let forked: ForkedGateway;

  beforeAll(async () => {
    forked = await forkGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
  });

  afterAll(() => forked.close());

  async function checkDownload(): Promise<void> {
    listener = async (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
      await sendBlocks(response, BLOCKS);
    };
    const [response] = await once(get({ port: forked.port, path: '/down' }), 'response');
    expect(await hashOf(response)).toBe(hash);
  }

  async function checkUpload(headers: OutgoingHttpHeaders): Promise<void> {
    listener = async (request, response) => void response.end(await hashOf(request));
    const upload = httpRequest({ port: forked.port, path: '/up', method: 'PUT', headers });
    const responded = once(upload, 'response');
    await sendBlocks(upload, BLOCKS);
    const [response] = await responded;
    let text = '';
    for await (const chunk of response) text += chunk;
    expect(text).toBe(hash);
  }

  it('arrive unchanged in both directions, in a process of bounded memory', async () => {
    const start = (await forked.usage()).maxRssBytes;
    await checkDownload();
    await checkUpload({});
    const first = (await forked.usage()).maxRssBytes;
    await checkDownload();
    await checkUpload({ 'Content-Length': BLOCKS * MB });
    const twice = (await forked.usage()).maxRssBytes;
    console.info(`max RSS, MB: ${[start, first, twice].map((bytes) => Math.round(bytes / MB)).join(', ')}`);
    // Read buffers of 64 kB that await garbage collection take about 80 MB at most.
    expect(first - start).toBeLessThan(120 * MB);
    expect(twice - first).toBeLessThan(30 * MB);
    expect(twice).toBeLessThan(250 * MB);
  });
});

/** Writes a number of bytes and waits for `drain` as needed. */
function pour(socket: Socket, bytes: number): number {
  let left = bytes;
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      const chunk = BLOCK.subarray(0, Math.min(left, 65_536));
      left -= chunk.length;
      if (!socket.write(chunk)) return void socket.once('drain', more);
    }
  };
  more();
  return bytes;
}

function block(index: number): Buffer {
  const bytes = Buffer.from(BLOCK);
  bytes.writeUInt32BE(index);
  return bytes;
}

async function sendBlocks(to: ServerResponse | ReturnType<typeof httpRequest>, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) if (!to.write(block(index))) await once(to, 'drain');
  to.end();
}

async function hashOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}
