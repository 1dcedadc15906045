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
import { type Forked, forkGateway } from '../support/forked.ts';
import { manifest, PUBLIC_ALL, type Running, startGateway } from '../support/gateway.ts';
import { keptHead, openSocket, Wire } from '../support/raw.ts';
import { type Listening, type RawUpstream, startListening, startRawUpstream } from '../support/upstream.ts';

const MB = 1024 * 1024;
/** A block whose parts differ, so that bytes that are lost, doubled or moved change the hash. */
const BLOCK = Buffer.alloc(MB, createHash('sha512').update('block').digest('base64'));

let upstream: Listening;
let listener: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
let gateway: Running;

beforeAll(async () => {
  upstream = await startListening((request, response) => listener(request, response));
  gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('an answer that comes slowly', () => {
  it('passes each event before the next one is sent', async () => {
    const held: ServerResponse[] = [];
    listener = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
      held.push(response);
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('GET /events HTTP/1.1'));
    for (const next of ['2', '3']) {
      await wire.until(`data: ${Number(next) - 1}`);
      expect(wire.rest).not.toContain(`data: ${next}`);
      held[0]?.write(`data: ${next}\n\n`);
    }
    await wire.until('data: 3');
    held[0]?.end();
    expect((await wire.answer()).body.toString()).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n');
    wire.end();
  });

  it.each([
    ['counted', { 'Content-Length': 4 }],
    ['chunked', {}],
  ])('passes the head while the body is late, %s', async (_framing, headers) => {
    let held: ServerResponse | undefined;
    listener = (_request, response) => {
      held = response;
      response.writeHead(200, { 'X-Early': '1', ...headers });
      response.flushHeaders();
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('GET /late HTTP/1.1'));
    await wire.until('\r\n\r\n');
    expect(wire.rest).toContain('X-Early: 1');
    held?.end('body');
    expect((await wire.answer()).body.toString()).toBe('body');
    wire.end();
  });

  it('passes each piece of an upload before the next one is sent', async () => {
    const pieces: string[] = [];
    let news = () => {};
    listener = (request, response) => {
      request.on('data', (chunk) => {
        pieces.push(String(chunk));
        news();
      });
      request.on('end', () => response.end('done'));
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('POST /up HTTP/1.1', 'Transfer-Encoding: chunked'));
    for (const piece of ['one', 'two', 'three']) {
      const came = new Promise<void>((resolve) => {
        news = resolve;
      });
      wire.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      await came;
      expect(pieces.at(-1)).toBe(piece);
    }
    wire.write('0\r\n\r\n');
    expect((await wire.answer()).body.toString()).toBe('done');
    wire.end();
  });
});

describe('a side that does not read', () => {
  const TOTAL = 150 * MB;
  /** What the kernel's buffers of two connections may take, and a few MB of our own. */
  const BOUND = 50 * MB;
  let raw: RawUpstream;
  let forked: Forked;
  let talk: (socket: Socket) => void = () => undefined;

  beforeAll(async () => {
    raw = await startRawUpstream((socket) => talk(socket));
    forked = await forkGateway(manifest(PUBLIC_ALL, { up: raw.url }));
  });

  afterAll(async () => {
    await forked.close();
    await raw.close();
  });

  it('holds the upstream back, and gets every byte once it reads', async () => {
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
    client.write(keptHead('GET /down HTTP/1.1'));
    await once(client, 'readable');
    const before = (await forked.usage()).maxRssBytes;
    const wentOut = await untilStill(() => (sender === undefined ? 0 : sender.bytesWritten - sender.writableLength));
    expect(wentOut).toBeLessThan(BOUND);
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(30 * MB);
    let came = 0;
    for await (const chunk of client) {
      came += (chunk as Buffer).length;
      if (came > TOTAL) break;
    }
    expect(sent).toBe(TOTAL);
    expect(came).toBeGreaterThan(TOTAL);
  });

  it('costs no more where the answer comes in chunks of a byte', async () => {
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
    client.write(keptHead('GET /down HTTP/1.1'));
    await once(client, 'readable');
    const before = (await forked.usage()).maxRssBytes;
    await untilStill(() => (sender === undefined ? 0 : sender.bytesWritten - sender.writableLength));
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(60 * MB);
    client.destroy();
  });

  it('holds the client back, and gets every byte once it reads', async () => {
    let receiver: Socket | undefined;
    talk = (socket) => {
      receiver = socket;
      socket.pause();
    };
    const client = await openSocket(forked.port);
    client.write(keptHead('POST /up HTTP/1.1', `Content-Length: ${TOTAL}`));
    const before = (await forked.usage()).maxRssBytes;
    pour(client, TOTAL);
    const wentOut = await untilStill(() => client.bytesWritten - client.writableLength);
    expect(wentOut).toBeGreaterThan(0);
    expect(wentOut).toBeLessThan(BOUND);
    expect((await forked.usage()).maxRssBytes - before).toBeLessThan(30 * MB);
    let came = 0;
    receiver?.on('data', (chunk) => {
      came += chunk.length;
      if (came > TOTAL) receiver?.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    receiver?.resume();
    expect((await new Wire(client).answer()).body.toString()).toBe('ok');
    client.destroy();
  });
});

describe('100 MB', () => {
  const BLOCKS = 100;
  const expected = createHash('sha256');
  for (let index = 0; index < BLOCKS; index += 1) expected.update(block(index));
  const hash = expected.digest('hex');
  let forked: Forked;

  beforeAll(async () => {
    forked = await forkGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
  });

  afterAll(() => forked.close());

  async function down(): Promise<void> {
    listener = async (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
      await sendBlocks(response, BLOCKS);
    };
    const [response] = await once(get({ port: forked.port, path: '/down' }), 'response');
    expect(await hashOf(response)).toBe(hash);
  }

  async function up(headers: OutgoingHttpHeaders): Promise<void> {
    listener = async (request, response) => void response.end(await hashOf(request));
    const upload = httpRequest({ port: forked.port, path: '/up', method: 'PUT', headers });
    const answer = once(upload, 'response');
    await sendBlocks(upload, BLOCKS);
    const [response] = await answer;
    let text = '';
    for await (const chunk of response) text += chunk;
    expect(text).toBe(hash);
  }

  it('down and up arrive as they were sent, in a process that does not grow with them', async () => {
    const start = (await forked.usage()).maxRssBytes;
    await down();
    await up({});
    const first = (await forked.usage()).maxRssBytes;
    await down();
    await up({ 'Content-Length': BLOCKS * MB });
    const twice = (await forked.usage()).maxRssBytes;
    console.info(`max RSS, MB: ${[start, first, twice].map((bytes) => Math.round(bytes / MB)).join(', ')}`);
    // Read buffers of 64 kB that wait for the collector: some 80 MB, then no more.
    expect(first - start).toBeLessThan(120 * MB);
    expect(twice - first).toBeLessThan(30 * MB);
    expect(twice).toBeLessThan(250 * MB);
  });
});

/** Writes so many bytes as the socket takes them. */
function pour(socket: Socket, bytes: number): number {
  let left = bytes;
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      const piece = BLOCK.subarray(0, Math.min(left, 65_536));
      left -= piece.length;
      if (!socket.write(piece)) return void socket.once('drain', more);
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

/** A number once it has stopped to grow. */
async function untilStill(count: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = count();
    if (now === last && now > 0) return now;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
