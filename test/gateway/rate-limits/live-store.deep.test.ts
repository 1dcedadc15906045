import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { NameResolver } from '../../../src/engine/dns/name-resolver.ts';
import type { CounterStore, RedisSettings } from '../../../src/engine/rate-limits/compile-stores.ts';
import { LiveStore } from '../../../src/engine/rate-limits/live-store.ts';
import { LocalCounters } from '../../../src/engine/rate-limits/local-counters.ts';
import type { RateLimit } from '../../../src/engine/rate-limits/rate-limit.ts';
import { COUNT } from '../../../src/engine/rate-limits/redis/gcra-script.ts';
import { SharedCounters } from '../../../src/engine/rate-limits/shared-counters.ts';
import { createPair } from '../../support/certificate.ts';
import { hasRedis, type Redis, startRedis, stopRedis, until } from '../../support/redis.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const log: Record<string, unknown>[] = [];
const closings: (() => unknown)[] = [];

function startStore(redis: Partial<RedisSettings>, timeoutMs = 2_000): LiveStore {
  const settings: RedisSettings = {
    kind: 'server',
    urls: [],
    name: undefined,
    database: 0,
    username: undefined,
    password: undefined,
    sentinelUser: undefined,
    ca: undefined,
    ...redis,
  };
  const store: CounterStore = {
    id: 'counters',
    key: 'counters',
    redis: () => settings,
    secret: () => 'secret',
    timeoutMs,
    onFailure: 'local',
  };
  const logger = pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const live = new LiveStore(store, new NameResolver(), logger);
  closings.push(() => live.close());
  return live;
}

/** Starts a server that speaks anything but the protocol. */
async function startFake(onSocket: (socket: Socket) => void): Promise<{ server: Server; url: string; port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `redis://127.0.0.1:${port}` };
}

/** Starts a proxy in front of a server. Between `hold` and `release`, connections receive no response to their scripts. */
async function startProxy(target: Redis) {
  let held: (() => void)[] | undefined;
  const { url } = await startFake((socket) => {
    const upstream = connect(target.port, '127.0.0.1');
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
    socket.pipe(upstream);
    let hasScript = false;
    socket.on('data', (chunk) => {
      hasScript ||= chunk.includes('EVAL');
    });
    upstream.on('data', (chunk) => {
      if (held !== undefined && hasScript) held.push(() => socket.write(chunk));
      else socket.write(chunk);
    });
  });
  return {
    url,
    hold: () => {
      held = [];
    },
    release: () => {
      for (const write of held ?? []) write();
      held = undefined;
    },
  };
}

const count = (live: LiveStore, key = 'sg:rl:test:a') => live.run(COUNT, key, [1_000_000, 5, 1]);
const reasonsOf = (live: LiveStore) => live.status.reason;
const timeoutsOf = (live: LiveStore) => live.status.failures.get('timeout') ?? 0;

afterEach(async () => {
  await Promise.all(closings.splice(0).map((close) => close()));
  await stopRedis();
  log.length = 0;
});

describe.skipIf(!hasRedis)('a store', () => {
  it('is up after it made a decision in time', async () => {
    const redis = await startRedis();
    const live = startStore({ urls: [redis.url] });
    expect(live.status.state).toBe('connecting');
    await live.start();
    expect(live.status).toMatchObject({ state: 'up', reason: undefined, pending: 0 });
    expect(await count(live)).toEqual([1, 0, 1_000_000, expect.any(Number), expect.any(Number)]);
    expect(log).toEqual([]);
  });

  it('uses the user, the password and the database of its settings', async () => {
    const redis = await startRedis();
    await redis.run(
      ...['ACL', 'SETUSER', 'gateway', 'on', '>pass word', '~sg:rl:*', '+eval', '+evalsha', '+get', '+set', '+del'],
      ...['+time', '+select'],
    );
    await redis.run('ACL', 'SETUSER', 'default', 'off');
    const live = startStore({ urls: [redis.url], username: 'gateway', password: 'pass word', database: 3 });
    await live.start();
    expect(live.status.state).toBe('up');
    await count(live);
  });

  it.each([
    ['a wrong password', ['--requirepass', 'right'], { password: 'wrong' }, 'credentials'],
    ['no password', ['--requirepass', 'right'], {}, 'credentials'],
    ['a replica', ['--replicaof', '127.0.0.1', '9'], {}, 'readonly'],
    ['no free memory', ['--maxmemory', '1', '--maxmemory-policy', 'noeviction'], {}, 'memory'],
    ['no such database', [], { database: 99 }, 'response'],
  ])('is down with %s', async (_title, args, settings, reason) => {
    const redis = await startRedis({ args });
    const live = startStore({ urls: [redis.url], ...settings });
    await live.start();
    expect(live.status).toMatchObject({ state: 'down', reason });
    await expect(count(live)).rejects.toMatchObject({ reason });
    expect(log).toEqual([
      expect.objectContaining({ store: 'counters', reason, on_failure: 'local', msg: 'rate limit store failed' }),
    ]);
    expect(JSON.stringify(log)).not.toMatch(/wrong|127\.0\.0\.1/);
  });

  it('is up again once the server has memory', async () => {
    const redis = await startRedis();
    const live = startStore({ urls: [redis.url] });
    await live.start();
    await redis.run('CONFIG', 'SET', 'maxmemory', '1');
    await expect(count(live)).rejects.toMatchObject({ reason: 'memory' });
    expect(reasonsOf(live)).toBe('memory');
    await redis.run('CONFIG', 'SET', 'maxmemory', '0');
    await until(() => live.status.state === 'up');
    expect(log.map(({ msg }) => msg)).toEqual(['rate limit store failed', 'rate limit store responds again']);
  });

  it('is up again once the server is a primary', async () => {
    const redis = await startRedis();
    const live = startStore({ urls: [redis.url] });
    await live.start();
    await redis.run('REPLICAOF', '127.0.0.1', '9');
    await expect(count(live)).rejects.toMatchObject({ reason: 'readonly' });
    await redis.run('REPLICAOF', 'NO', 'ONE');
    await until(() => live.status.state === 'up');
    await count(live);
  });

  it('verifies the certificate of the server', async () => {
    const pair = createPair();
    const folder = temporaryFolder('redis-tls', { 'redis.crt': pair.certificate, 'redis.key': pair.key });
    const tlsArgs = ['--tls-cert-file', `${folder}/redis.crt`, '--tls-key-file', `${folder}/redis.key`];
    const fake = await startFake(() => undefined);
    fake.server.close();
    const args = ['--tls-port', String(fake.port), ...tlsArgs, '--tls-auth-clients', 'no'];
    args.push('--tls-ca-cert-file', `${folder}/redis.crt`);
    await startRedis({ args });
    const urls = [`rediss://127.0.0.1:${fake.port}`];
    const trusted = startStore({ urls, ca: pair.certificate });
    await trusted.start();
    expect(trusted.status.state).toBe('up');
    await count(trusted);
    for (const ca of [undefined, createPair({ name: 'other' }).certificate]) {
      const untrusted = startStore({ urls, ca });
      await untrusted.start();
      expect(untrusted.status).toMatchObject({ state: 'down', reason: 'tls' });
    }
    const plain = startStore({ urls: [`redis://127.0.0.1:${fake.port}`] });
    await plain.start();
    expect(plain.status.state).toBe('down');
  });

  it('stays down while its responses take longer than the timeout', async () => {
    const proxy = await startProxy(await startRedis());
    const live = startStore({ urls: [proxy.url] }, 500);
    await live.start();
    await until(() => live.status.state === 'up');
    const before = timeoutsOf(live);
    proxy.hold();
    // Each late response arrives before the next decision begins.
    for (let index = 0; index < 3; index += 1) {
      await expect(count(live)).rejects.toMatchObject({ reason: 'timeout' });
      if (index === 2) break;
      proxy.release();
      await until(() => live.status.pending === 0);
      proxy.hold();
    }
    expect(live.status).toMatchObject({ state: 'down', reason: 'timeout' });
    expect(timeoutsOf(live) - before).toBe(3);
    await expect(count(live)).rejects.toMatchObject({ reason: 'timeout' });
    // The next attempt opens a connection, and receives no decision.
    await until(() => timeoutsOf(live) - before === 4);
    expect(live.status.state).toBe('down');
    proxy.release();
    await until(() => live.status.state === 'up');
  });

  it('stays up if a single decision comes too late', async () => {
    const proxy = await startProxy(await startRedis());
    const live = startStore({ urls: [proxy.url] }, 1_000);
    await live.start();
    await until(() => live.status.state === 'up');
    log.length = 0;
    proxy.hold();
    await expect(count(live)).rejects.toMatchObject({ reason: 'timeout' });
    proxy.release();
    await until(() => live.status.pending === 0);
    expect(live.status.state).toBe('up');
    expect(log).toEqual([]);
  });

  it('fails all pending decisions at once if the connection closes', async () => {
    const redis = await startRedis();
    const live = startStore({ urls: [redis.url] }, 30_000);
    await live.start();
    redis.pause();
    // They may be rejected before the server has ended.
    const pending = Promise.allSettled(Array.from({ length: 100 }, () => count(live)));
    await until(() => live.status.pending === 100);
    await redis.kill();
    const results = await pending;
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(live.status).toMatchObject({ state: 'down', reason: 'closed', pending: 0 });
  });

  it('counts requests of one turn with two commands, each with its own place', async () => {
    const redis = await startRedis();
    const live = startStore({ urls: [redis.url] });
    await live.start();
    const limit = { id: 'limit', key: 'limit', periodMs: 3_000, requests: 3, burst: 3, intervalMs: 1_000 } as RateLimit;
    const counters = new SharedCounters(live, new LocalCounters(() => performance.now()));
    const before = await redis.run('INFO', 'commandstats');
    const results = await Promise.all([1, 2, 3, 4].map(async () => counters.count(limit, 'turn')));
    const calls = (text: string) => Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)?.[1]);
    expect(calls(await redis.run('INFO', 'commandstats')) - calls(before)).toBe(2);
    const counted = results.filter((result) => 'waitMs' in result);
    const [first] = counted;
    expect(counted.slice(0, 3).map(({ arrival }) => arrival - (first?.arrival ?? 0))).toEqual([
      0, 1_000_000, 2_000_000,
    ]);
    expect(counted.map(({ waitMs }) => waitMs > 0)).toEqual([false, false, false, true]);
    expect(counted.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
  });

  it('has at most 4,096 pending decisions', async () => {
    const redis = await startRedis();
    const live = startStore({ urls: [redis.url] }, 30_000);
    await live.start();
    redis.pause();
    const pending: Promise<unknown>[] = [];
    while (live.obstacle === undefined) pending.push(count(live).catch(() => undefined));
    expect(pending).toHaveLength(4_096);
    expect(live.obstacle).toBe('busy');
    redis.resume();
    await Promise.all(pending);
    expect(live.obstacle).toBeUndefined();
  });
});

describe('a store without a Redis server', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['sends no response', () => undefined],
    ['closes each connection', (socket) => socket.destroy()],
    ['sends bytes of no protocol', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['sends random bytes', (socket) => socket.write(Buffer.from([0xff, 0, 0x2a, 0x0d, 0x0a, 0x24]))],
    ['sends other results', (socket) => socket.on('data', () => socket.write('*1\r\n+OK\r\n'))],
    [
      'sends too many results',
      (socket) => socket.on('data', () => socket.write('*5\r\n:1\r\n:0\r\n:1\r\n:2\r\n:3\r\n'.repeat(9))),
    ],
    [
      'sends numbers that are no integers',
      (socket) => socket.on('data', () => socket.write('*5\r\n:1\r\n:9\r\n$1\r\n1\r\n:1\r\n:1\r\n')),
    ],
    ['sends an endless line', (socket) => socket.on('data', () => socket.write(`-${'x'.repeat(100_000)}`))],
    ['sends unknown errors', (socket) => socket.on('data', () => socket.write('-SECRET of the server\r\n'))],
  ])('is down if the server %s', async (_title, onSocket) => {
    const fake = await startFake(onSocket);
    const live = startStore({ urls: [fake.url] }, 100);
    await live.start();
    expect(live.status.state).toBe('down');
    expect(live.obstacle).toBeDefined();
    expect(log).toHaveLength(1);
    expect(JSON.stringify(log)).not.toContain('SECRET');
  });

  it('is down if no server listens, and tries again in the background', async () => {
    const fake = await startFake(() => undefined);
    fake.server.close();
    const live = startStore({ urls: [fake.url] });
    await live.start();
    expect(live.status).toMatchObject({ state: 'down', reason: 'unreachable' });
    await live.close();
    await live.close();
  });

  it('closes during an attempt to connect', async () => {
    const fake = await startFake(() => undefined);
    const live = startStore({ urls: [fake.url] });
    const started = live.start();
    await once(fake.server, 'connection');
    await live.close();
    await started;
    expect(log).toEqual([]);
  });
});
