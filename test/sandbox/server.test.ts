import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { SandboxRequest, SandboxRoute } from '../../src/sandbox/request.ts';
import { listen } from '../../src/sandbox/server.ts';
import { openStore } from '../../src/sandbox/store.ts';
import { request } from './client.ts';

it('responds 500 to errors, survives a client that disconnects, and closes during a request', async () => {
  const routes: readonly SandboxRoute[] = [
    ['GET /broken', 'public', () => Promise.reject(new Error('no luck')), { summary: 'fail' }],
    ['GET /slow', 'public', () => setTimeout(100, { status: 200 }), { summary: 'wait' }],
    ['POST /body', 'public', ({ fields }: SandboxRequest) => ({ status: 200, body: fields }), { summary: 'echo' }],
  ];
  const store = openStore(':memory:');
  const server = await listen(0, routes, store);
  const broken = await request(server.url, 'GET /broken');
  expect([broken.status, broken.body.status]).toEqual([500, 'error']);

  const client = connect(Number(new URL(server.url).port), '127.0.0.1');
  client.write('POST /body HTTP/1.1\r\nhost: sandbox\r\ncontent-length: 100\r\n\r\n{"half"');
  await setTimeout(20);
  client.destroy();
  expect(await request(server.url, 'POST /body', { json: { a: 1 } })).toMatchObject({ status: 200, body: { a: 1 } });

  const interrupted = expect(fetch(`${server.url}/slow`)).rejects.toThrow();
  await setTimeout(20);
  await server.close();
  await interrupted;
  store.close();
});
