import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ReadPace } from '../../src/engine/http1/event-loop.ts';
import { manifest, PUBLIC_ALL, startGateway } from '../support/gateway.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { startRawUpstream, startUpstream } from '../support/upstream.ts';

const COUNT = 300_000;
const BODY = 'abcdefghij'.repeat(COUNT / 10);
const CHUNKS = BODY.replaceAll(/./g, '1\r\n$&\r\n');
const ROUTES = `${PUBLIC_ALL.replace('/**', '/stream/**')}  - { id: read, method: POST, path: /read, upstream: up, access: public, body: { schema: { type: string } } }\n`;

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(url: string) {
  const running = await startGateway(manifest(ROUTES, { up: url }));
  closing.push(() => running.close());
  return running;
}

/** Sends requests one after the other until `isDone`, and returns the number of responses. */
async function countResponses(port: number, isDone: () => boolean): Promise<number> {
  const wire = await Wire.open(port);
  let count = 0;
  for (; !isDone(); count += 1) {
    wire.write(keepAliveHead('GET /stream/other HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
  }
  wire.end();
  return count;
}

describe('one-byte chunks', () => {
  it('of an upload reach the upstream in few large chunks and do not delay other clients', async () => {
    let chunks = 0;
    const received: string[] = [];
    const upstream = await startRawUpstream((socket) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        if (text.startsWith('GET') || text.endsWith('\r\n0\r\n\r\n')) {
          if (text.startsWith('POST')) {
            const parts = text.slice(text.indexOf('\r\n\r\n') + 4).split('\r\n');
            chunks = parts.length / 2 - 1;
            received.push(parts.filter((_, index) => index % 2 === 1).join(''));
          }
          text = '';
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        }
      });
    });
    closing.push(() => upstream.close());
    const { port } = await serve(upstream.url);
    let isDone = false;
    const framing = 'Transfer-Encoding: chunked';
    const upload = sendRequest(port, `${head('POST /stream/x HTTP/1.1', framing)}${CHUNKS}0\r\n\r\n`).finally(() => {
      isDone = true;
    });
    const otherResponses = await countResponses(port, () => isDone);
    expect((await upload).status).toBe(200);
    expect(received).toEqual([BODY]);
    expect(chunks).toBeLessThan(COUNT / 300);
    // Each read of 64 kB has about 11,000 chunks.
    expect(otherResponses).toBeGreaterThan(5);
  });

  it('of a buffered body arrive unchanged', async () => {
    const upstream = await startUpstream();
    closing.push(() => upstream.close());
    const { port } = await serve(upstream.url);
    const json = `"${BODY}"`.replaceAll(/./g, '1\r\n$&\r\n');
    const type = 'Content-Type: application/json';
    const framed = head('POST /read HTTP/1.1', type, 'Transfer-Encoding: chunked');
    expect((await sendRequest(port, `${framed}${json}0\r\n\r\n`)).status).toBe(200);
    expect(upstream.requests[0]?.body.toString()).toBe(`"${BODY}"`);
  });

  it('of a response reach the client and do not delay other clients', async () => {
    const respond = (socket: Socket) => {
      socket.on('data', (bytes) => {
        if (bytes.includes('/stream/other')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}0\r\n\r\n`);
      });
    };
    const upstream = await startRawUpstream(respond);
    closing.push(() => upstream.close());
    const { port } = await serve(upstream.url);
    let isDone = false;
    const download = sendRequest(port, head('GET /stream/x HTTP/1.1')).finally(() => {
      isDone = true;
    });
    const otherResponses = await countResponses(port, () => isDone);
    expect((await download).body.toString()).toBe(BODY);
    expect(otherResponses).toBeGreaterThan(5);
  });

  it('of many concurrent bodies all arrive', async () => {
    const upstream = await startUpstream();
    closing.push(() => upstream.close());
    const { port } = await serve(upstream.url);
    const bytes = `${head('POST /stream/x HTTP/1.1', 'Transfer-Encoding: chunked')}${CHUNKS.slice(0, 180_000)}0\r\n\r\n`;
    const responses = await Promise.all(Array.from({ length: 10 }, () => sendRequest(port, bytes)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(upstream.requests.map(({ body }) => body.length)).toEqual(responses.map(() => 30_000));
  });
});

describe('read pacing', () => {
  it('starts only for many small chunks', () => {
    let pauses = 0;
    const pace = new ReadPace({ updateReads: () => (pauses += 1) });
    pace.add(4_095, 4_095);
    pace.add(1, 10_000_000);
    pace.add(4_095, 4_095);
    expect([pace.isSuspended, pauses]).toEqual([false, 0]);
    pace.add(1, 1);
    expect([pace.isSuspended, pauses]).toEqual([true, 1]);
  });

  it('resumes waiting sources one at a time, in order', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      for (const name of ['a', 'b', 'c']) {
        const onUpdate = () => {
          if (!pace.isSuspended) order.push(name);
          if (order.length === 3) resolve();
        };
        const pace: ReadPace = new ReadPace({ updateReads: onUpdate });
        pace.add(5_000, 5_000);
      }
    });
    expect(order).toEqual(['a', 'b', 'c']);
  });
});
