import { expect, it } from 'vitest';
import { loadRedis } from '../../../src/engine/rate-limits/redis/redis-link.ts';

it('creates the clients of all addresses from one class, because another class takes tens of milliseconds', async () => {
  const createClient = await loadRedis();
  const [first, second] = [1, 2].map((port) => createClient({ socket: { host: '127.0.0.1', port } }));
  expect(first?.constructor).toBe(second?.constructor);
  expect(first?.options).toMatchObject({ RESP: 2, socket: { port: 1 } });
});
