import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstreamServer, type UpstreamServer } from '../support/upstream.ts';

const SIZE = 6_000_000;

/** Returns bytes that differ from those of every other response at each position. */
function bodyOf(seed: number): Buffer {
  const words = new Uint32Array(SIZE / 4);
  for (let index = 0; index < words.length; index += 1)
    words[index] = Math.imul(index + 1, 2_654_435_761) ^ (seed << 24);
  return Buffer.from(words.buffer);
}

const FRAMINGS = ['counted', 'chunked', 'until the end'] as const;
let upstream: UpstreamServer;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstreamServer(async (request, response) => {
    const [, seed, framing] = (request.url ?? '').split('/');
    const body = bodyOf(Number(seed));
    response.shouldKeepAlive = framing !== 'until';
    response.useChunkedEncodingByDefault = framing === 'chunked';
    if (framing === 'counted') response.setHeader('Content-Length', body.length);
    for (let at = 0; at < body.length; at += 150_000) {
      if (!response.write(body.subarray(at, at + 150_000)))
        await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
  });
  gateway = await startGateway(manifest(PUBLIC_ALL, { up: upstream.url }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function download(seed: number, framing: string, isSlow: boolean): Promise<string> {
  const path = `/${seed}/${framing.split(' ')[0]}`;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port: gateway.port, path, agent: false }, resolve).on('error', reject);
  });
  const hash = createHash('sha256');
  let chunks = 0;
  for await (const chunk of response) {
    hash.update(chunk as Buffer);
    chunks += 1;
    if (isSlow && chunks % 4 === 0) await turn();
  }
  return hash.digest('hex');
}

it('many long responses at once, to fast and slow readers, do not share bytes', async () => {
  const downloads = FRAMINGS.flatMap((framing, row) =>
    [0, 1, 2, 3].map((column) => ({ seed: 4 * row + column, framing, isSlow: column % 2 === 1 })),
  );
  const digests = await Promise.all(downloads.map(({ seed, framing, isSlow }) => download(seed, framing, isSlow)));
  expect(digests).toEqual(downloads.map(({ seed }) => digestOf(bodyOf(seed))));
});
