import { afterEach, describe, expect, it } from 'vitest';
import { hashSlot } from '../../../src/engine/rate-limits/redis/redis-cluster.ts';
import { hasRedis, type Redis, startCluster, startSentinelPair, stopRedis, until } from '../../support/redis.ts';
import { type SharedGateways, startSharedGateways, storeAt } from '../../support/shared-gateways.ts';

let shared: SharedGateways | undefined;

/** Redis closes its connections when its role changes. */
const roleOf = (redis: Redis) => redis.run('ROLE').catch(() => '');
const states = () => (shared?.gateways ?? []).map(({ gateway }) => gateway.stores[0]?.state);
/** True if the replica has acknowledged all writes of the primary. The primary learns it once a second. */
function isReplicated(info: string): boolean {
  const [, written] = /^master_repl_offset:(\d+)/m.exec(info) ?? [];
  const [, acknowledged] = /^slave0:.*\boffset=(\d+)/m.exec(info) ?? [];
  return written !== undefined && written === acknowledged;
}
const areUp = () => states().every((state) => state === 'up');
const lines = (message: string) =>
  (shared?.gateways ?? []).flatMap(({ told }) => told.filter(({ msg }) => msg === message));

afterEach(async () => {
  await shared?.close();
  shared = undefined;
  await stopRedis();
});

describe.skipIf(!hasRedis)('a store behind Sentinel', () => {
  it('counts at the new primary after a failover, with the counters of the old one', async () => {
    const { primary, replica, sentinel } = await startSentinelPair();
    const redis = `{ sentinels: ['redis://127.0.0.1:1', 'redis://127.0.0.1:${sentinel.port}'], name: counters }`;
    shared = await startSharedGateways({ stores: storeAt(redis) });
    expect(states()).toEqual(['up', 'up', 'up']);
    expect(await shared.guess(30, 'a')).toEqual({ 401: 5, 429: 25 });
    await until(async () => isReplicated(await primary.run('INFO', 'replication')));
    await primary.kill();
    // Each gateway counts by itself meanwhile. The failover may end before the last guess.
    const { 401: guesses } = await shared.guess(90, 'b');
    expect(guesses).toBeGreaterThanOrEqual(15);
    expect(guesses).toBeLessThanOrEqual(20);
    await until(async () => (await roleOf(replica)).startsWith('master'));
    await until(areUp);
    expect(await shared.guess(30, 'a')).toEqual({ 429: 30 });
    expect(await shared.guess(30, 'c')).toEqual({ 401: 5, 429: 25 });
    expect(lines('rate limit store failed')).toHaveLength(3);
    expect(lines('rate limit store responds again')).toHaveLength(3);
  });

  it('follows a failover on command, at which the old primary continues as a replica', async () => {
    const { primary, replica, sentinel } = await startSentinelPair();
    const redis = `{ sentinels: ['redis://127.0.0.1:${sentinel.port}'], name: counters }`;
    shared = await startSharedGateways({ stores: storeAt(redis) });
    // Sentinel refuses the command until it knows the replica well, and gives up a failover that takes too long.
    await until(async () => {
      const [, port] = (await sentinel.run('SENTINEL', 'get-master-addr-by-name', 'counters')).split('\n');
      if (port !== String(primary.port)) return true;
      await sentinel.run('SENTINEL', 'failover', 'counters');
      return false;
    });
    // Sentinel sends the same commands, but only when it has seen the old primary for eight seconds.
    await primary.run('REPLICAOF', '127.0.0.1', String(replica.port));
    await primary.run('CLIENT', 'KILL', 'TYPE', 'normal');
    await until(async () => (await roleOf(primary)).startsWith('slave'));
    // Until a gateway has noticed, it counts by itself.
    let logins = 0;
    await until(async () => {
      const before = Number(await replica.run('DBSIZE'));
      for (const index of [0, 1, 2]) await shared?.login(index, `login ${logins + index}`);
      logins += 3;
      return Number(await replica.run('DBSIZE')) === before + 3;
    });
    expect(states()).toEqual(['up', 'up', 'up']);
    expect(await shared.guess(30, 'a')).toEqual({ 401: 5, 429: 25 });
  });

  it('is down if Sentinel does not know the name', async () => {
    const { sentinel } = await startSentinelPair();
    const redis = `{ sentinels: ['redis://127.0.0.1:${sentinel.port}'], name: other }`;
    shared = await startSharedGateways({ stores: storeAt(redis), count: 1 });
    expect(shared.gateways[0]?.gateway.stores[0]).toMatchObject({ state: 'down', reason: 'primary' });
  });
});

describe.skipIf(!hasRedis)('a store that is a cluster', () => {
  it('counts each key at its server, also after slots move', async () => {
    const nodes = await startCluster();
    const redis = `{ cluster: ['redis://127.0.0.1:1', 'redis://127.0.0.1:${nodes[1]?.port}'] }`;
    shared = await startSharedGateways({ stores: storeAt(redis) });
    expect(states()).toEqual(['up', 'up', 'up']);
    for (const email of ['a', 'b', 'c', 'd', 'e', 'f'])
      expect(await shared.guess(12, email)).toEqual({ 401: 5, 429: 7 });
    const sizes = await Promise.all(nodes.map((node) => node.run('DBSIZE')));
    expect(sizes.every((size) => Number(size) > 0)).toBe(true);

    const ids = await Promise.all(nodes.map((node) => node.run('CLUSTER', 'MYID')));
    const keysOf = async () => (await nodes[0]?.run('KEYS', 'sg:rl:account:*'))?.split('\n').filter(Boolean) ?? [];
    const [moved = ''] = await keysOf();
    const slot = String(hashSlot(moved));
    expect(await nodes[0]?.run('CLUSTER', 'KEYSLOT', moved)).toBe(slot);
    await nodes[1]?.run('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[0] ?? '');
    await nodes[0]?.run('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[1] ?? '');
    await nodes[0]?.run('MIGRATE', '127.0.0.1', String(nodes[1]?.port), moved, '0', '1000');
    // The counter is at the second server, and the first one still owns the slot: it redirects with ASK.
    for (const email of ['a', 'b', 'c', 'd', 'e', 'f']) expect(await shared.guess(6, email)).toEqual({ 429: 6 });
    for (const node of nodes) await node.run('CLUSTER', 'SETSLOT', slot, 'NODE', ids[1] ?? '');
    for (const email of ['a', 'b', 'c', 'd', 'e', 'f']) expect(await shared.guess(6, email)).toEqual({ 429: 6 });
    expect(lines('rate limit store failed')).toEqual([]);
  });

  it('is down while a server is down, and up again after that', async () => {
    const nodes = await startCluster();
    shared = await startSharedGateways({ stores: storeAt(`{ cluster: ['${nodes[0]?.url}'] }`), count: 1 });
    await nodes[2]?.kill();
    await until(() => states()[0] === 'down');
    expect(await shared.guess(12, 'a')).toEqual({ 401: 5, 429: 7 });
    expect(states()).toEqual(['down']);
  });
});

describe('the hash slot', () => {
  it.each([
    ['123456789', 0x31c3],
    ['foo', 12_182],
    ['', 0],
  ])('of %j is %i', (key, slot) => {
    expect(hashSlot(key)).toBe(slot);
  });
});
