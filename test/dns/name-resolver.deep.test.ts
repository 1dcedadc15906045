import { pbkdf2 } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { NameResolver, type NameResolverOptions } from '../../src/engine/dns/name-resolver.ts';
import { type NameRecord, type NameServer, startNameServer, type Zone } from '../support/name-server.ts';
import { scaledMs } from '../support/slowness.ts';

const a = (data: string, ttl = 60): NameRecord => ({ type: 'A', ttl, data });
const aaaa = (data: string, ttl = 60): NameRecord => ({ type: 'AAAA', ttl, data });

// Most of the time of these tests is spent on lookup timeouts, so they run concurrently and clean up at the end.
const closing: (() => Promise<unknown> | unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const until = (check: () => unknown) => vi.waitFor(check, { timeout: scaledMs(20_000), interval: 10 });

interface Fixture {
  readonly server: NameServer;
  readonly resolver: NameResolver;
  /** Returns the addresses in the order of the attempts, or the error code. */
  resolve(host: string): Promise<string[] | string>;
  /** The events of the subscription: names that stopped resolving, with the reason, or resolve again. */
  readonly events: string[];
  /** Writes `hosts` or `resolv.conf`, which do not exist at first. */
  write(file: string, text: string): void;
  /** Ends the subscription. */
  stop(): void;
}

async function start(zone: Zone, options: NameResolverOptions = {}): Promise<Fixture> {
  const server = await startNameServer(zone);
  const folder = mkdtempSync(join(tmpdir(), 'names-'));
  const hostsPath = join(folder, 'hosts');
  const resolvConfPath = join(folder, 'resolv.conf');
  const resolver = new NameResolver({ servers: [server.address], hostsPath, resolvConfPath, ...options });
  const events: string[] = [];
  const stop = resolver.subscribe((name, reason) => void events.push(`${name} ${reason ?? 'resolves'}`));
  closing.push(() => rmSync(folder, { recursive: true, force: true }), server.close, stop);
  const write = (file: string, text: string) => {
    writeFileSync(join(folder, `${file}.new`), text);
    renameSync(join(folder, `${file}.new`), join(folder, file));
  };
  return { server, resolver, events, write, stop, resolve: (host) => resolve(resolver, host) };
}

function resolve(resolver: NameResolver, host: string): Promise<string[] | string> {
  return new Promise((done) => {
    resolver.hostName(host).resolve((error, addresses) => done(error?.code ?? addresses.map(({ ip }) => ip)));
  });
}

describe.concurrent('the age of an address', () => {
  it('begins with the query, also if the response for the other family is late', async () => {
    let time = 0;
    const zone: Zone = (_name, type) => (type === 'A' ? [a('127.0.0.1', 60)] : 'hang');
    const { server, resolver, resolve, stop } = await start(zone, { now: () => time });
    stop();
    expect(await resolve('contacts.example')).toEqual(['127.0.0.1']);
    await until(() => expect(resolver.counts.inFlight).toBe(0));
    const questions = server.questions.length;
    // The lookup has taken five seconds, which this clock has not counted.
    time = 56_000;
    await resolve('contacts.example');
    await until(() => expect(server.questions.length).toBeGreaterThan(questions));
  });
});

describe.concurrent('a lookup', () => {
  it('returns the addresses of both families', async () => {
    const { resolve } = await start((_name, type) => (type === 'A' ? [a('127.0.0.1')] : [aaaa('::1')]));
    expect(await resolve('contacts.example')).toEqual(['127.0.0.1', '::1']);
  });

  it('returns the addresses of one family while the other one is slow, and adds those later', async () => {
    const { server, resolver, resolve } = await start((_name, type) => (type === 'A' ? [a('127.0.0.1')] : 'hang'));
    expect(await resolve('contacts.example')).toEqual(['127.0.0.1']);
    server.zone = (_name, type) => (type === 'A' ? [a('127.0.0.1')] : [aaaa('::1')]);
    await until(() => expect(resolver.counts.inFlight).toBe(0));
    expect([...(await resolve('contacts.example'))].sort()).toEqual(['127.0.0.1', '::1']);
  });

  it('follows a chain of CNAMEs and uses its shortest time to live', async () => {
    let now = 0;
    const options = { now: () => now };
    const { server, resolve } = await start(
      (name) => [
        { type: 'CNAME', ttl: 1, data: 'b.example' },
        { name: 'b.example', type: 'CNAME', ttl: 600, data: 'c.example' },
        { ...a('127.0.0.7', 600), name: name === 'c.example' ? name : 'c.example' },
      ],
      options,
    );
    expect(await resolve('a.example')).toEqual(['127.0.0.7']);
    const count = server.questions.length;
    now = 900;
    await resolve('a.example');
    expect(server.questions.length).toBe(count);
    now = 1_100;
    await resolve('a.example');
    await until(() => expect(server.questions.length).toBeGreaterThan(count));
  });

  it('queries over TCP for a thousand addresses and caches at most 256 of them', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => a(`127.1.${index >> 8}.${index & 255}`));
    const { server, resolver, resolve } = await start(() => many);
    expect(await resolve('many.example')).toHaveLength(4);
    expect(server.questions).toContain('tcp A many.example');
    expect(resolver.statusOf('many.example')?.addresses).toHaveLength(256);
  });

  it.each([
    ['nxdomain', 'ENOTFOUND'],
    ['servfail', 'EAI_AGAIN'],
    ['hang', 'ETIMEOUT'],
    ['garbage', 'EAI_AGAIN'],
  ] as const)('of a name for which the server responds with %s fails with %s', async (result, code) => {
    const { resolver, resolve, events } = await start(() => result);
    expect(await resolve('missing.example')).toBe(code);
    expect(await resolve('missing.example')).toBe(code);
    expect(events).toEqual([`missing.example ${code}`]);
    expect(resolver.failingNames).toBe(1);
    expect(resolver.statusOf('missing.example')).toEqual({ state: 'failed', addresses: [], reason: code });
  });

  it('fails with EAI_AGAIN when no name server is reachable', async () => {
    const { server, resolve } = await start(() => []);
    await server.close();
    expect(await resolve('missing.example')).toBe('EAI_AGAIN');
  });

  it('fails for a name that is not valid in DNS', async () => {
    const { resolve } = await start(() => [a('127.0.0.1')]);
    for (const name of [`${'a'.repeat(70)}.example`, 'a..b', 'x'.repeat(300)])
      expect(await resolve(name)).toBe('ENOTFOUND');
  });

  it('is shared by all waiters of the same name', async () => {
    const { server, resolver, resolve } = await start((_name, type) => (type === 'A' ? [a('127.0.0.1')] : []));
    const all = await Promise.all(Array.from({ length: 100 }, () => resolve('contacts.example')));
    expect(all).toEqual(Array.from({ length: 100 }, () => ['127.0.0.1']));
    expect(server.questions.sort()).toEqual(['A contacts.example', 'AAAA contacts.example']);
    expect(resolver.counts.outcomes.ok).toBe(1);
  });

  it('is cancelled 1 s after the last waiter has left, and counts as a failure', async () => {
    const { resolver, events } = await start(() => 'hang');
    const cancels = [1, 2, 3].map(() => resolver.hostName('slow.example').resolve(() => expect.unreachable()));
    await until(() => expect(resolver.counts.inFlight).toBe(1));
    for (const cancel of cancels) cancel();
    await until(() => expect(resolver.counts.inFlight).toBe(0));
    expect(resolver.counts.outcomes.timeout).toBe(1);
    expect(events).toEqual(['slow.example ETIMEOUT']);
  });

  it('ends with the last subscription, so that the process can exit', async () => {
    const { resolver, resolve, server, stop } = await start((_name, type) => (type === 'A' ? [a('127.0.0.1', 1)] : []));
    await resolve('contacts.example');
    server.zone = () => 'hang';
    await until(() => expect(resolver.counts.inFlight).toBe(1));
    stop();
    expect(resolver.counts.inFlight).toBe(0);
    expect(resolver.counts.outcomes.cancelled).toBe(1);
  });
});

describe.concurrent('a name of endpoints', () => {
  it('is dropped with its last endpoint, and its lookup is cancelled', async () => {
    const { resolver, resolve, server } = await start(() => []);
    const releases = [resolver.retain('Contacts.example'), resolver.retain('contacts.example')];
    expect(await resolve('contacts.example')).toBe('ENOTFOUND');
    expect([resolver.names, resolver.failingNames]).toEqual([1, 1]);
    server.zone = () => 'hang';
    resolver.hostName('contacts.example').refresh();
    releases[0]?.();
    expect([resolver.names, resolver.counts.inFlight]).toEqual([1, 1]);
    releases[1]?.();
    expect([resolver.names, resolver.failingNames, resolver.counts.inFlight]).toEqual([0, 0, 0]);
  });
});

describe.concurrent('the cache', () => {
  it('returns fresh addresses for their time to live, then stale ones while a new lookup hangs', async () => {
    let now = 0;
    const options = { now: () => now };
    const { server, resolver, resolve, events } = await start(
      (_n, t) => (t === 'A' ? [a('127.0.0.1', 30)] : []),
      options,
    );
    await resolve('contacts.example');
    server.zone = () => 'hang';
    now = 29_000;
    expect(await resolve('contacts.example')).toEqual(['127.0.0.1']);
    expect(resolver.counts.stale).toBe(0);
    now = 31_000;
    expect(await resolve('contacts.example')).toEqual(['127.0.0.1']);
    // The lookup has not timed out yet.
    expect(resolver.counts.outcomes.timeout).toBe(0);
    expect(resolver.counts.stale).toBe(1);
    await until(() => expect(events).toEqual(['contacts.example ETIMEOUT']));
    expect(resolver.statusOf('contacts.example')).toMatchObject({ state: 'stale', reason: 'ETIMEOUT' });
    server.zone = (_n, t) => (t === 'A' ? [a('127.0.0.2', 30)] : []);
    now = 40_000;
    expect(await resolve('contacts.example')).toEqual(['127.0.0.1']);
    await until(() => expect(events).toEqual(['contacts.example ETIMEOUT', 'contacts.example resolves']));
    expect(await resolve('contacts.example')).toEqual(['127.0.0.2']);
  });

  it('drops addresses a minute after the name servers report that the name has none', async () => {
    let now = 0;
    const options = { now: () => now };
    const { server, resolver, resolve } = await start((_n, t) => (t === 'A' ? [a('127.0.0.1', 30)] : []), options);
    await resolve('contacts.example');
    server.zone = () => 'nxdomain';
    const refreshAt = async (timeMs: number) => {
      now = timeMs;
      const { not_found: before } = resolver.counts.outcomes;
      const addresses = await resolve('contacts.example');
      await until(() => expect(resolver.counts.outcomes.not_found).toBe(before + 1));
      return addresses;
    };
    expect(await refreshAt(31_000)).toEqual(['127.0.0.1']);
    expect(await refreshAt(60_000)).toEqual(['127.0.0.1']);
    expect(await refreshAt(92_000)).toEqual(['127.0.0.1']);
    expect(await resolve('contacts.example')).toBe('ENOTFOUND');
  });

  it('marks removed addresses and keeps the state of the others', async () => {
    let now = 0;
    const options = { now: () => now };
    const { server, resolver } = await start(
      (_n, t) => (t === 'A' ? [a('127.0.0.1', 30), a('127.0.0.2', 30)] : []),
      options,
    );
    const addresses = () =>
      new Promise<readonly { ip: string; isRemoved: boolean }[]>((done) => {
        resolver.hostName('contacts.example').resolve((_error, addresses) => done(addresses));
      });
    const before = await addresses();
    server.zone = (_n, t) => (t === 'A' ? [a('127.0.0.2', 30), a('127.0.0.3', 30)] : []);
    now = 31_000;
    await addresses();
    await until(() => expect(resolver.counts.outcomes.ok).toBe(2));
    expect(before.map(({ ip, isRemoved }) => `${ip} ${isRemoved}`).sort()).toEqual([
      '127.0.0.1 true',
      '127.0.0.2 false',
    ]);
    expect((await addresses()).some((address) => before.includes(address))).toBe(true);
  });

  it('rotates the addresses', async () => {
    const { resolve } = await start((_n, t) => (t === 'A' ? [a('127.0.0.1'), a('127.0.0.2'), a('127.0.0.3')] : []));
    const first = await Promise.all([1, 2, 3].map(() => resolve('contacts.example')));
    expect(first.map(([address]) => address).sort()).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.3']);
  });

  it('has a bounded number of names', async () => {
    const { resolver } = await start(() => 'nxdomain');
    for (let index = 0; index < 5_000; index += 1) resolver.hostName(`name-${index}.example`);
    expect(resolver.names).toBeLessThanOrEqual(4_096);
  });
});

describe.concurrent('many names that hang', () => {
  it('end 1 s after they have no waiter, and do not delay a new name', async () => {
    const { resolver, resolve } = await start((name, type) => {
      if (name !== 'new.example') return 'hang';
      return type === 'A' ? [a('127.0.0.2')] : [];
    });
    const cancels = Array.from({ length: 300 }, (_, index) =>
      resolver.hostName(`name-${index}.example`).resolve(() => expect.unreachable()),
    );
    await until(() => expect(resolver.counts.inFlight).toBe(300));
    expect(await resolve('new.example')).toEqual(['127.0.0.2']);
    expect(resolver.counts.inFlight).toBe(300);
    for (const cancel of cancels) cancel();
    await until(() => expect(resolver.counts.inFlight).toBe(0));
    expect(resolver.counts.outcomes).toMatchObject({ timeout: 300, ok: 1 });
  });

  it('are refreshed in the background a few at a time', async () => {
    let now = 0;
    const options = { now: () => now };
    const { server, resolver, resolve } = await start((_n, t) => (t === 'A' ? [a('127.0.0.1', 1)] : []), options);
    await Promise.all(Array.from({ length: 100 }, (_, index) => resolve(`name-${index}.example`)));
    const refreshed = new Set<string>();
    server.zone = (name) => {
      refreshed.add(name);
      return 'hang';
    };
    now = 10_000;
    await until(() => expect(resolver.counts.inFlight).toBeGreaterThan(0));
    expect(resolver.counts.inFlight).toBe(32);
    // The first lookups may have timed out before the last ones begin.
    await until(() => expect(refreshed.size).toBe(100));
  });

  it('do not block names that resolve, the event loop or the thread pool, and time out', async () => {
    const { resolver, resolve, stop } = await start((name, type) =>
      name.startsWith('slow') ? 'hang' : type === 'A' ? [a('127.0.0.1', 1)] : [],
    );
    await resolve('good.example');
    const slow = Array.from({ length: 200 }, (_, index) => resolve(`slow-${index}.example`));
    await until(() => expect(resolver.counts.inFlight).toBeGreaterThanOrEqual(200));
    await promisify(pbkdf2)('a', 'b', 1, 32, 'sha256');
    expect(await resolve('other.example')).toEqual(['127.0.0.1']);
    expect(await resolve('good.example')).toEqual(['127.0.0.1']);
    // None of the slow lookups has ended yet.
    expect(resolver.counts.outcomes.timeout).toBe(0);
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['ETIMEOUT']));
    const again = Array.from({ length: 400 }, (_, index) => resolve(`slow-${index}.example`));
    expect(await resolve('third.example')).toEqual(['127.0.0.1']);
    expect(new Set(await Promise.all(again))).toEqual(new Set(['ETIMEOUT']));
    stop();
    await until(() => expect(resolver.counts.inFlight).toBe(0));
  });
});

describe.concurrent('the resolver files', () => {
  it('take precedence over the name servers and are reread after a change', async () => {
    const { server, resolver, resolve, write } = await start(() => 'nxdomain');
    write('hosts', '# comment\n127.0.0.8 Contacts.example other # more\n127.0.0.9\tcontacts.example\n');
    expect(await resolve('CONTACTS.example')).toEqual(['127.0.0.8', '127.0.0.9']);
    expect(server.questions).toEqual([]);
    expect(resolver.statusOf('contacts.example')?.state).toBe('static');
    write('hosts', '127.0.0.10 contacts.example\n');
    await until(async () => expect(await resolve('contacts.example')).toEqual(['127.0.0.10']));
  });

  it('may be missing', async () => {
    const { resolve } = await start((_n, t) => (t === 'A' ? [a('127.0.0.1')] : []));
    expect(await resolve('contacts.example')).toEqual(['127.0.0.1']);
  });

  it('configure the search domains', async () => {
    const { server, resolve, write } = await start((name, type) => {
      if (name !== 'contacts.team.svc.cluster.local') return 'nxdomain';
      return type === 'A' ? [a('127.0.0.1')] : [];
    });
    write('resolv.conf', 'nameserver 127.0.0.1\nsearch team.svc.cluster.local svc.cluster.local\noptions ndots:5\n');
    expect(await resolve('contacts.team')).toEqual(['127.0.0.1']);
    expect(server.questions.filter((question) => question.startsWith('A '))).toEqual([
      'A contacts.team.team.svc.cluster.local',
      'A contacts.team.svc.cluster.local',
    ]);
    expect(await resolve('contacts.team.')).toBe('ENOTFOUND');
    expect(server.questions.at(-1)).toMatch(/ contacts\.team$/);
  });

  it('do not lead to the next search domain when one has no response, since the name could be another host there', async () => {
    const { server, resolve, write } = await start((name) =>
      name === 'contacts.a.example' ? 'hang' : [a('127.0.0.1')],
    );
    write('resolv.conf', 'search a.example b.example\n');
    expect(await resolve('contacts')).toBe('ETIMEOUT');
    expect(server.questions.some((question) => question.includes('b.example'))).toBe(false);
  });

  it('lead to the next search domain when the server of one fails', async () => {
    const { resolve, write } = await start((name) => (name === 'contacts.a.example' ? 'servfail' : [a('127.0.0.1')]));
    write('resolv.conf', 'search a.example b.example\n');
    expect(await resolve('contacts')).toEqual(['127.0.0.1']);
  });

  it.each(['localhost', 'localhost.', 'any.localhost'])('do not affect %s', async (name) => {
    const { server, resolve, write } = await start(() => [a('10.0.0.2')]);
    write('hosts', `10.0.0.1 ${name}\n`);
    expect(await resolve(name)).toEqual(['127.0.0.1', '::1']);
    expect(server.questions).toEqual([]);
  });
});
