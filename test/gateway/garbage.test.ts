import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { manifest, startGateway } from '../support/gateway.ts';
import { chunked, keepAliveHead, Wire } from '../support/raw.ts';
import { startRawUpstream } from '../support/upstream.ts';

const ROUTES = `
  - { id: read, method: GET, path: /read, upstream: up, access: public }
  - { id: validated, method: POST, path: /validated, upstream: up, access: public, body: { schema: { type: object } } }
  - { id: streamed, method: POST, path: /streamed, upstream: up, access: public }`;
const JSON_BODY = '{"name":"x"}';
const REQUESTS = {
  'a request without a body': keepAliveHead('GET /read HTTP/1.1'),
  'a validated body': `${keepAliveHead('POST /validated HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${JSON_BODY.length}`)}${JSON_BODY}`,
  'a streamed body': `${keepAliveHead('POST /streamed HTTP/1.1', 'Transfer-Encoding: chunked')}${chunked('some', 'bytes')}`,
};
const BATCH = 100;
const BATCHES = 10;
/** V8 itself keeps some bytes: compiled code and type feedback. */
const MAX_BYTES = 600;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? Number.NaN;
}

/** Returns the bytes for each request that short collections leave to the long ones. */
async function bytesLeft(lines: unknown[], send: () => Promise<{ status: number }>): Promise<number> {
  const sendBatches = async () => {
    for (let count = 0; count < BATCHES * BATCH; count += 1) {
      expect((await send()).status).toBe(200);
      if (count % BATCH !== 0) continue;
      lines.length = 0;
      // Objects that survive two collections are old.
      collect({ type: 'minor' });
      collect({ type: 'minor' });
    }
  };
  await sendBatches();
  const before = oldBytes();
  await sendBatches();
  return (oldBytes() - before) / (BATCHES * BATCH);
}

async function startSite() {
  const upstream = await startRawUpstream((socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  });
  const gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
  const close = () => gateway.close().then(upstream.close);
  return { gateway, close };
}

// Old objects are collected in one long pause, which delays the requests of all clients. Node itself leaves objects of each connection.
for (const [name, request] of Object.entries(REQUESTS))
  it(`short garbage collections free the objects of ${name}`, async () => {
    const { gateway, close } = await startSite();
    const wire = await Wire.open(gateway.port);
    expect(await bytesLeft(gateway.lines, () => wire.write(request).response())).toBeLessThan(MAX_BYTES);
    wire.end();
    await close();
  });
