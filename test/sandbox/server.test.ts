import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import type { SandboxRequest, SandboxRoute } from '../../examples/platform/request.ts';
import { listen } from '../../examples/platform/server.ts';
import { openStore } from '../../examples/platform/store.ts';
import { turns } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { request } from './client.ts';

it('responds 500 to errors, survives a client that disconnects, and closes during a request', async () => {
  let isStarted = false;
  const slow = Promise.withResolvers<void>();
  const handleSlow = async () => {
    isStarted = true;
    await slow.promise;
    return { status: 200 };
  };
  const routes: readonly SandboxRoute[] = [
    ['GET /broken', 'public', () => Promise.reject(new Error('no luck')), { summary: 'fail' }],
    ['GET /slow', 'public', handleSlow, { summary: 'wait' }],
    ['POST /body', 'public', ({ fields }: SandboxRequest) => ({ status: 200, body: fields }), { summary: 'echo' }],
  ];
  const store = openStore(':memory:');
  const server = await listen(0, routes, store);
  const broken = await request(server.url, 'GET /broken');
  expect([broken.status, broken.body.status]).toEqual([500, 'error']);

  const client = connect(Number(new URL(server.url).port), '127.0.0.1');
  client.write('POST /body HTTP/1.1\r\nhost: sandbox\r\ncontent-length: 100\r\n\r\n{"half"');
  await once(client, 'connect');
  await turns(10);
  client.destroy();
  expect(await request(server.url, 'POST /body', { json: { a: 1 } })).toMatchObject({ status: 200, body: { a: 1 } });

  const interrupted = expect(fetch(`${server.url}/slow`)).rejects.toThrow();
  await eventually('the request is handled', () => isStarted);
  await server.close();
  await interrupted;
  slow.resolve();
  store.close();
});
