import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { NameResolver } from '../../../src/engine/dns/name-resolver.ts';
import type { CounterStore } from '../../../src/engine/rate-limits/compile-stores.ts';
import { LiveStore } from '../../../src/engine/rate-limits/live-store.ts';
import { COUNT } from '../../../src/engine/rate-limits/redis/gcra-script.ts';
import { hasRedis, startRedis, stopRedis, until } from '../../support/redis.ts';

const ROUNDS = 300;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

afterAll(stopRedis);

function storeAt(url: string): CounterStore {
  const redis = {
    kind: 'server',
    urls: [url],
    name: undefined,
    database: 0,
    username: undefined,
    password: undefined,
    sentinelUser: undefined,
    ca: undefined,
  } as const;
  return {
    id: 'counters',
    key: 'counters',
    redis: () => redis,
    secret: () => '',
    timeoutMs: 2_000,
    onFailure: 'local',
  };
}

const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

it.skipIf(!hasRedis)('a store leaves no sockets and no memory behind after hundreds of lost connections', async () => {
  const redis = await startRedis();
  const resolver = new NameResolver();
  const logger = pino({ level: 'silent' });
  const before = sockets();
  const failOften = async (rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      const live = new LiveStore(storeAt(redis.url), resolver, logger);
      await live.start();
      const count = (_: unknown, key: number) => live.run(COUNT, `sg:rl:test:${key}`, [1_000_000, 5, 1]);
      const settled = Promise.allSettled(Array.from({ length: 10 }, count));
      await redis.run('CLIENT', 'KILL', 'TYPE', 'normal');
      await settled;
      await live.close();
    }
  };
  await failOften(ROUNDS / 3);
  collectGarbage();
  const heap = process.memoryUsage().heapUsed;
  await failOften(ROUNDS);
  collectGarbage();
  await until(() => sockets() === before);
  // A client takes 50 kB.
  expect(process.memoryUsage().heapUsed - heap).toBeLessThan(3e6);
});
