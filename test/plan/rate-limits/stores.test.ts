import { describe, expect, it } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../../src/engine/manifest/source.ts';
import type { RedisSettings } from '../../../src/engine/rate-limits/compile-stores.ts';

const ENV = {
  SECRET: 'a secret of the gateways of a test',
  REDIS_URL: 'rediss://user:p%40ss@redis.test:6380/3',
  SENTINEL_URL: 'redis://watcher:watch@sentinel.test:26379',
  PASSWORD: 'password of the servers',
};

function settingsOf(redis: string): RedisSettings | undefined {
  const text = `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
stores: { counters: { redis: ${redis}, secret: '\${SECRET}' } }
rateLimits: { client: { key: client, allow: 5 per 1m, store: counters } }
routes: [{ id: a, method: GET, path: /a, upstream: up, access: public, rateLimits: [client] }]
`;
  return load({ path: 'gateway.yaml', text }, createMemoryEnvironment(ENV)).plan?.rateLimits[0]?.store?.redis();
}

describe('the settings of a store', () => {
  it('come from a URL', () => {
    expect(settingsOf("'${REDIS_URL}'")).toMatchObject({
      kind: 'server',
      urls: ['rediss://redis.test:6380'],
      database: 3,
      username: 'user',
      password: 'p@ss',
      sentinelUser: undefined,
    });
  });

  it('have other credentials for the Sentinel servers than for the Redis servers', () => {
    const redis = "{ sentinels: ['${SENTINEL_URL}'], name: primary, username: gateway, password: '${PASSWORD}' }";
    expect(settingsOf(redis)).toMatchObject({
      kind: 'sentinel',
      name: 'primary',
      username: 'gateway',
      password: 'password of the servers',
      sentinelUser: { username: 'watcher', password: 'watch' },
    });
  });

  it('have no user for Sentinel servers whose URL has none', () => {
    const redis = "{ sentinels: ['redis://sentinel.test'], name: primary, password: '${PASSWORD}' }";
    expect(settingsOf(redis)).toMatchObject({ sentinelUser: undefined, password: 'password of the servers' });
  });
});
