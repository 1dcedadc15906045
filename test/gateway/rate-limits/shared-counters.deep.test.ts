import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasRedis, type Redis, startRedis, stopRedis, until } from '../../support/redis.ts';
import { ACCOUNT, type SharedGateways, startSharedGateways, storeAt } from '../../support/shared-gateways.ts';
import { scaledMs } from '../../support/slowness.ts';

let redis: Redis;
let shared: SharedGateways | undefined;

const lines = (message: string) =>
  (shared?.gateways ?? []).flatMap(({ told }) => told.filter(({ msg }) => msg === message));

describe.skipIf(!hasRedis)('rate limits in Redis', () => {
  beforeAll(async () => {
    redis = await startRedis();
  });

  afterEach(async () => {
    await shared?.close();
    shared = undefined;
    redis.resume();
    await redis.run('FLUSHALL');
  });

  afterAll(stopRedis);

  it('let exactly 5 of 600 parallel guesses through three gateways reach the upstream', async () => {
    shared = await startSharedGateways({ stores: storeAt(redis.url) });
    expect(await shared.guess(600, 'user@example.com')).toEqual({ 401: 5, 429: 595 });
    expect(shared.upstream.requests).toHaveLength(5);
    expect(await shared.login(1, 'other@example.com')).toBe(401);
  });

  it('count by the clock of the server, however far apart the clocks of the gateways are', async () => {
    const clockOf = (index: number) => () => index * 1e9 + performance.now() * (index + 1);
    shared = await startSharedGateways({ stores: storeAt(redis.url), clockOf });
    expect(await shared.guess(30, 'a')).toEqual({ 401: 5, 429: 25 });
  });

  it('take successful logins back for all gateways', async () => {
    shared = await startSharedGateways({ stores: storeAt(redis.url) });
    for (let index = 0; index < 12; index += 1) expect(await shared.login(index, 'a', 'right')).toBe(200);
    await until(() => shared?.gateways.every(({ gateway }) => gateway.stores[0]?.pending === 0) ?? false);
    expect(await shared.guess(9, 'a')).toEqual({ 401: 5, 429: 4 });
    expect(await shared.login(0, 'a', 'right')).toBe(429);
  });

  it('have keys that do not contain the value, and expire', async () => {
    shared = await startSharedGateways({ stores: storeAt(redis.url) });
    await shared.login(0, 'user@example.com');
    const keys = (await redis.run('KEYS', '*')).split('\n').filter((key) => key !== 'sg:rl:@probe');
    expect(keys).toEqual([expect.stringMatching(/^sg:rl:account:[\w-]{43}$/)]);
    const expiryMs = Number(await redis.run('PTTL', keys[0] ?? ''));
    expect(expiryMs).toBeGreaterThan(170_000);
    expect(expiryMs).toBeLessThanOrEqual(180_000);
  });

  it('survive a server that forgets its scripts', async () => {
    shared = await startSharedGateways({ stores: storeAt(redis.url) });
    await shared.login(0, 'a');
    await redis.run('SCRIPT', 'FLUSH');
    expect(await shared.guess(9, 'a')).toEqual({ 401: 4, 429: 5 });
    expect(lines('rate limit store failed')).toEqual([]);
  });

  it('count again after all keys are deleted', async () => {
    shared = await startSharedGateways({ stores: storeAt(redis.url) });
    await shared.guess(9, 'a');
    await redis.run('FLUSHALL');
    expect(await shared.guess(9, 'a')).toEqual({ 401: 5, 429: 4 });
  });

  it('send Retry-After by the clock of the server', async () => {
    shared = await startSharedGateways({
      stores: storeAt(redis.url),
      limits: ACCOUNT.replace('5 per 15m', '1 per 90s'),
    });
    const send = () =>
      fetch(`${shared?.gateways[0]?.url}/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"email":"a","password":"b"}',
      });
    expect((await send()).status).toBe(401);
    const response = await send();
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toMatch(/^(?:90|89)$/);
  });

  it('continue to count over a reload that does not change the store', async () => {
    shared = await startSharedGateways({ stores: storeAt(redis.url) });
    await shared.guess(3, 'a');
    const clients = await redis.run('CLIENT', 'LIST', 'TYPE', 'normal');
    shared.swap(ACCOUNT.replace('failures,', 'failures, failures: [401],'), storeAt(redis.url));
    expect(await shared.guess(9, 'a')).toEqual({ 401: 2, 429: 7 });
    const ids = (text: string) => text.match(/^id=\d+/gm)?.slice(0, 3);
    expect(ids(await redis.run('CLIENT', 'LIST', 'TYPE', 'normal'))).toEqual(ids(clients));
  });

  it('continue to count in the process once a reload removes the store', async () => {
    shared = await startSharedGateways({ stores: storeAt(redis.url), count: 1 });
    await shared.guess(9, 'a');
    shared.swap(ACCOUNT.replace(', store: counters', ''), '');
    expect(shared.gateways[0]?.gateway.stores).toEqual([]);
    expect(await shared.guess(9, 'a')).toEqual({ 429: 9 });
    expect(await shared.guess(9, 'b')).toEqual({ 401: 5, 429: 4 });
    shared.swap(ACCOUNT, storeAt(redis.url));
    await until(() => shared?.gateways[0]?.gateway.stores[0]?.state === 'up');
    expect(await shared.guess(9, 'a')).toEqual({ 429: 9 });
  });
});

describe.skipIf(!hasRedis)('a rate limit whose store fails', () => {
  afterEach(async () => {
    await shared?.close();
    shared = undefined;
    await stopRedis();
  });

  it('is counted by each gateway alone, until the store is back', async () => {
    redis = await startRedis();
    shared = await startSharedGateways({ stores: storeAt(redis.url), count: 2 });
    await redis.kill();
    expect(await shared.guess(40, 'a')).toEqual({ 401: 10, 429: 30 });
    expect(lines('rate limit store failed')).toEqual([
      expect.objectContaining({ store: 'counters', on_failure: 'local' }),
      expect.objectContaining({ store: 'counters', on_failure: 'local' }),
    ]);
    expect(shared.gateways[0]?.gateway.rateLimiter.counts.get('account')).toMatchObject({ fallback: 20 });
    expect(shared.gateways[0]?.gateway.stores[0]).toMatchObject({ state: 'down', decisionsWithout: 20 });
    await redis.start();
    await until(() => lines('rate limit store responds again').length === 2);
    expect(lines('rate limit store responds again')[0]).toMatchObject({ store: 'counters', decisions_without: 20 });
    expect(await shared.guess(20, 'b')).toEqual({ 401: 5, 429: 15 });
  });

  it('gives no more guesses to who is over the limit when the store fails', async () => {
    redis = await startRedis();
    shared = await startSharedGateways({ stores: storeAt(redis.url), count: 2 });
    expect(await shared.guess(20, 'a')).toEqual({ 401: 5, 429: 15 });
    await redis.kill();
    expect(await shared.guess(20, 'a')).toEqual({ 429: 20 });
  });

  it('refuses with 503 if the manifest says so', async () => {
    redis = await startRedis();
    shared = await startSharedGateways({ stores: storeAt(redis.url, 'timeout: 2s, onFailure: refuse'), count: 1 });
    expect(await shared.login(0, 'a')).toBe(401);
    await redis.kill();
    expect(await shared.guess(5, 'a')).toEqual({ 503: 5 });
    expect(shared.upstream.requests).toHaveLength(1);
    await until(() => shared?.gateways[0]?.lines.length === 6);
    expect(shared.gateways[0]?.lines.at(-1)).toMatchObject({ refusal: 'rate_limit_unavailable', limit: 'account' });
  });

  it('waits for a store that hangs for the first requests only', async () => {
    redis = await startRedis();
    shared = await startSharedGateways({ stores: storeAt(redis.url, `timeout: ${scaledMs(500)}ms`), count: 1 });
    redis.pause();
    const times: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      const start = performance.now();
      await shared.login(0, `user-${index}`);
      times.push(performance.now() - start);
    }
    const waits = times.filter((time) => time >= scaledMs(500));
    expect(waits).toHaveLength(3);
    redis.resume();
    await until(() => shared?.gateways[0]?.gateway.stores[0]?.state === 'up');
  });

  it('does not keep the gateway from closing', async () => {
    redis = await startRedis();
    shared = await startSharedGateways({ stores: storeAt(redis.url, 'timeout: 200ms'), count: 1 });
    redis.pause();
    const guesses = shared.guess(10, 'a').catch(() => undefined);
    await until(() => (shared?.gateways[0]?.gateway.stores[0]?.pending ?? 0) > 0);
    const start = performance.now();
    await shared.close();
    expect(performance.now() - start).toBeLessThan(scaledMs(5_000));
    await guesses;
  });

  it('never lets more guesses through than each gateway may alone, while the store comes and goes under load', async () => {
    redis = await startRedis();
    shared = await startSharedGateways({ stores: storeAt(redis.url, 'timeout: 50ms'), count: 2 });
    const changes: (() => unknown)[] = [
      () => redis.pause(),
      () => redis.resume(),
      () => redis.kill(),
      () => redis.start(),
      () => redis.run('FLUSHALL'),
    ];
    const statuses = new Set<number>();
    for (const change of changes) {
      const guesses = shared.guess(60, 'a');
      await change();
      for (const status of Object.keys(await guesses)) statuses.add(Number(status));
    }
    // Five at each gateway, five before the server ends, five after its start, and five after all keys are deleted.
    expect(shared.upstream.requests.length).toBeLessThanOrEqual(25);
    expect([...statuses].sort()).toEqual([401, 429]);
  });

  it('loses no count in reloads under load that remove, change and restore the store', async () => {
    redis = await startRedis();
    shared = await startSharedGateways({ stores: storeAt(redis.url), count: 1 });
    await shared.guess(5, 'a');
    const [gateway] = shared.gateways;
    const guesses: Promise<unknown>[] = [];
    for (const rest of ['timeout: 2s', 'timeout: 3s', 'timeout: 2s, onFailure: refuse', 'timeout: 2s']) {
      guesses.push(shared.guess(20, 'a'));
      shared.swap(ACCOUNT, storeAt(redis.url, rest));
      await until(() => gateway?.gateway.stores[0]?.state === 'up');
      guesses.push(shared.guess(20, 'a'));
    }
    await Promise.all(guesses);
    // The five of the store, and five that the gateway counts by itself while the new store connects.
    expect(shared.upstream.requests.length).toBeLessThanOrEqual(10);
    expect(gateway?.told.filter(({ msg }) => msg === 'rate limit store failed')).toEqual([]);
  });
});
