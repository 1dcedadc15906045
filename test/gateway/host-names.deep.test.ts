import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { NameResolver } from '../../src/engine/dns/name-resolver.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { createPair } from '../support/certificate.ts';
import { type NameRecord, type NameServer, startNameServer, type Zone } from '../support/name-server.ts';
import { turns } from '../support/pause.ts';
import { scrape } from '../support/scrape.ts';
import { scaledMs } from '../support/slowness.ts';

const a = (data: string, ttl = 60): NameRecord => ({ type: 'A', ttl, data });
const aaaa = (data: string, ttl = 60): NameRecord => ({ type: 'AAAA', ttl, data });
const ipv4 =
  (...ips: string[]): Zone =>
  (_name, type) =>
    type === 'A' ? ips.map((ip) => a(ip, 1)) : [];
const until = (check: () => unknown) => vi.waitFor(check, { timeout: scaledMs(20_000), interval: 10 });

const cleanups: (() => Promise<unknown> | unknown)[] = [];
// Most of the time of these tests is spent on timeouts, so they run concurrently and clean up at the end.
afterAll(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

interface Endpoint {
  readonly port: number;
  /** The number of accepted connections. */
  connections: number;
  requests: number;
}

/**
 * Starts an endpoint at one address. The body of each response is the address. Tests that expect an address to refuse connections
 * use 127.77.0.0/16, where no other program of the machine listens.
 */
async function startEndpoint(host: string, port = 0, server: Server = createServer()): Promise<Endpoint> {
  const endpoint = { port, connections: 0, requests: 0 };
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    endpoint.connections += 1;
    sockets.add(socket);
  });
  server.on('request', (_request, response) => {
    endpoint.requests += 1;
    response.end(host);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, host);
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  endpoint.port = (server.address() as AddressInfo).port;
  return endpoint;
}

/** Starts a listener with a blocked thread and fills its queue, so that the kernel drops further connections. */
async function startSilentEndpoint(host: string, port: number): Promise<void> {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ port: ${port}, host: '${host}', backlog: 1 }, () => {
      parentPort.postMessage('listening');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(code, { eval: true });
  await once(worker, 'message');
  const sockets: Socket[] = [];
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await worker.terminate();
  });
  // The kernel accepts connections to itself at once, until the queue is full.
  const canConnect = async () => {
    const socket = connect(port, host);
    sockets.push(socket.on('error', () => undefined));
    await turns(20);
    return !socket.connecting;
  };
  while (await canConnect());
}

interface Site extends GatewayWithAdmin {
  readonly server: NameServer;
  readonly resolver: NameResolver;
  get(path: string): Promise<string>;
  refusal(path: string): Promise<unknown>;
}

/** @param upstreams the YAML of each upstream by name. The name is also the path of its route */
async function start(zone: Zone, upstreams: Record<string, string>, files: Record<string, string> = {}): Promise<Site> {
  const server = await startNameServer(zone);
  const options = { servers: [server.address], hostsPath: '/nonexistent/hosts', resolvConfPath: '/nonexistent/conf' };
  const resolver = new NameResolver(options);
  const manifest = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams:
${Object.entries(upstreams)
  .map(([id, text]) => `  ${id}: ${text}`)
  .join('\n')}
routes:
${Object.keys(upstreams)
  .map((id) => `  - { id: ${id}, method: GET, path: /${id}, upstream: ${id}, access: public }`)
  .join('\n')}
`;
  const site = await startGatewayWithAdmin(manifest, {}, files, {}, undefined, resolver);
  cleanups.push(
    () => server.close(),
    () => site.close(),
  );
  return {
    ...site,
    server,
    resolver,
    get: async (path) => (await fetch(site.url + path)).text(),
    refusal: async (path) => {
      const response = await fetch(site.url + path);
      const { code } = (await response.json()) as { code: string };
      const line = site.lines.findLast((entry) => entry['refusal'] !== undefined);
      return [response.status, code, line?.['reason']];
    },
  };
}

describe.concurrent('an upstream with a host name', () => {
  it('is resolved once for many connections', async () => {
    const { port } = await startEndpoint('127.0.0.1');
    const site = await start((_name, type) => (type === 'A' ? [a('127.0.0.1')] : []), {
      up: `{ url: 'http://contacts.test:${port}' }`,
    });
    const all = await Promise.all(Array.from({ length: 50 }, () => site.get('/up')));
    expect(new Set(all)).toEqual(new Set(['127.0.0.1']));
    expect(site.server.questions.sort()).toEqual(['A contacts.test', 'AAAA contacts.test']);
  });

  it('may be localhost without a DNS lookup', async () => {
    const { port } = await startEndpoint('127.0.0.1');
    const site = await start(() => 'hang', { up: `{ url: 'http://localhost:${port}' }` });
    expect(await site.get('/up')).toBe('127.0.0.1');
    expect(site.server.questions).toEqual([]);
  });

  it('must have a certificate for its name without a trailing dot', async () => {
    const { certificate, key } = createPair({ host: 'contacts.test' });
    const names: unknown[] = [];
    const server = createTlsServer({ cert: certificate, key });
    server.on('secureConnection', ({ servername }) => void names.push(servername));
    const { port } = await startEndpoint('127.77.0.1', 0, server);
    const tls = 'tls: { ca: ca.pem }';
    const upstreams = {
      up: `{ url: 'https://contacts.test:${port}', ${tls} }`,
      dot: `{ url: 'https://contacts.test.:${port}', ${tls} }`,
      other: `{ url: 'https://other.test:${port}', ${tls} }`,
    };
    const site = await start(ipv4('127.77.0.2', '127.77.0.1'), upstreams, { 'ca.pem': certificate });
    expect(await site.get('/up')).toBe('127.77.0.1');
    expect(await site.get('/dot')).toBe('127.77.0.1');
    expect(new Set(names)).toEqual(new Set(['contacts.test']));
    expect(await site.refusal('/other')).toEqual([502, 'upstream_error', 'upstream_err_tls_cert_altname_invalid']);
  });
});

describe.concurrent('a name that does not resolve', () => {
  it.each([
    ['nxdomain', 'upstream_enotfound'],
    ['servfail', 'upstream_eai_again'],
    ['garbage', 'upstream_eai_again'],
  ] as const)('causes a refusal if the name server responds with %s', async (result, reason) => {
    const { port } = await startEndpoint('127.77.0.1');
    const site = await start(() => result, {
      up: `{ url: 'http://contacts.test:${port}' }`,
      other: `{ url: 'http://127.77.0.1:${port}', breaker: { failures: 1 } }`,
    });
    expect(await site.refusal('/up')).toEqual([502, 'upstream_unreachable', reason]);
    expect(await site.get('/other')).toBe('127.77.0.1');
  });

  it('is logged once, and again when it resolves', async () => {
    const { port } = await startEndpoint('127.77.0.1');
    const site = await start(() => 'nxdomain', { up: `{ url: 'http://contacts.test:${port}' }` });
    for (let turn = 0; turn < 5; turn += 1) await site.refusal('/up');
    const changes = () => site.told.filter(({ msg }) => msg === 'upstream endpoint changed');
    const lines = () => changes().filter(({ event }) => /resolved/.test(String(event)));
    expect(changes()).toMatchObject([
      { level: 40, upstream: 'up', event: 'unresolved (ENOTFOUND)' },
      { level: 40, upstream: 'up', event: 'unhealthy', reason: 'upstream_enotfound' },
    ]);
    site.server.zone = ipv4('127.77.0.1');
    // The gateway resolves the name in the background, so no request is necessary.
    await until(() => expect(lines()).toHaveLength(2));
    expect(lines()[1]).toMatchObject({ level: 40, upstream: 'up', event: 'resolved' });
    expect(await site.get('/up')).toBe('127.77.0.1');
  });

  // Alone, because all requests must arrive before the first one times out.
  it('does not delay other upstreams while 200 requests wait for it', { concurrent: false }, async () => {
    const { port } = await startEndpoint('127.77.0.1');
    const slow = 'timeouts: { connect: 3s }';
    const site = await start((name, type) => (name === 'slow.test' ? 'hang' : ipv4('127.77.0.1')(name, type)), {
      slow: `{ url: 'http://slow.test:${port}', ${slow} }`,
      good: `{ url: 'http://good.test:${port}' }`,
      literal: `{ url: 'http://127.77.0.1:${port}' }`,
    });
    const waiting = Array.from({ length: 200 }, () => site.refusal('/slow'));
    await until(() => expect(site.gateway.metrics.inFlight).toBe(200));
    await until(() => expect(site.resolver.counts.inFlight).toBe(1));
    await readFile(new URL(import.meta.url));
    for (const path of ['/good', '/literal', '/good']) expect(await site.get(path)).toBe('127.77.0.1');
    // The requests to other upstreams finished while the 200 requests waited.
    expect(site.gateway.metrics.inFlight).toBeGreaterThanOrEqual(200);
    const refusals = await Promise.all(waiting);
    // On a busy machine, the end of the shared lookup is also the end of those that began last.
    for (const refusal of refusals)
      expect(refusal).toEqual([
        504,
        'upstream_timeout',
        expect.stringMatching(/^upstream_(?:connect_timeout|etimeout)$/),
      ]);
    expect(String(refusals[0])).toBe('504,upstream_timeout,upstream_connect_timeout');
    await until(() => expect(site.resolver.counts.inFlight).toBe(0));
    // The connect timeout ends the first requests before the lookup ends.
    expect(site.told.map(({ upstream, event }) => [upstream, event])).toEqual([
      ['slow', 'unhealthy'],
      ['slow', 'unresolved (ETIMEOUT)'],
    ]);
    expect(await site.refusal('/slow')).toEqual([504, 'upstream_timeout', expect.stringMatching(/timeout|etimeout/)]);
  });

  it('leaves no lookup behind when its clients disconnect', async () => {
    const site = await start(() => 'hang', { slow: "{ url: 'http://slow.test:9', timeouts: { connect: 30s } }" });
    const aborts = Array.from({ length: 20 }, () => new AbortController());
    const all = aborts.map(({ signal }) => fetch(`${site.url}/slow`, { signal }).catch(() => 'aborted'));
    await until(() => expect(site.gateway.metrics.inFlight).toBe(20));
    await until(() => expect(site.resolver.counts.inFlight).toBe(1));
    for (const abort of aborts) abort.abort();
    await Promise.all(all);
    await until(() => expect(site.resolver.counts.inFlight).toBe(0));
  });

  it('opens the breaker of its own endpoint, and requests go to the other one', async () => {
    const { port } = await startEndpoint('127.77.0.1');
    const urls = `['http://missing.test:${port}', 'http://good.test:${port}']`;
    const zone: Zone = (name, type) => (name === 'missing.test' ? 'nxdomain' : ipv4('127.77.0.1')(name, type));
    const site = await start(zone, { up: `{ urls: ${urls}, breaker: { failures: 2, pause: 1h } }` });
    for (let turn = 0; turn < 10; turn += 1) expect(await site.get('/up')).toBe('127.77.0.1');
    const [failed, good] = site.gateway.upstreams[0]?.endpoints ?? [];
    expect([failed?.breaker, good?.breaker]).toEqual(['open', 'closed']);
    expect(failed?.resolution).toEqual({ state: 'failed', addresses: [], reason: 'ENOTFOUND' });
    expect(good?.resolution).toEqual({ state: 'resolved', addresses: ['127.77.0.1'], reason: null });
  });
});

describe.concurrent('a name with several addresses', () => {
  it('uses all of them', async () => {
    const one = await startEndpoint('127.77.0.1');
    const two = await startEndpoint('127.77.0.2', one.port);
    const three = await startEndpoint('::1', one.port);
    const zone: Zone = (_name, type) => (type === 'A' ? [a('127.77.0.1'), a('127.77.0.2')] : [aaaa('::1')]);
    const site = await start(zone, { up: `{ url: 'http://contacts.test:${one.port}' }` });
    await Promise.all(Array.from({ length: 60 }, () => site.get('/up')));
    const counts = [one, two, three].map(({ connections }) => connections).sort((least, most) => least - most);
    expect(counts[0]).toBeGreaterThan(0);
    expect((counts[2] ?? 0) - (counts[0] ?? 0)).toBeLessThanOrEqual(1);
  });

  it('responds while one address refuses connections', async () => {
    // The tests run at the same time, and one that listens on a port of 127.77.0.1 may get the port of this endpoint.
    const { port } = await startEndpoint('127.77.1.2');
    const site = await start(ipv4('127.77.1.1', '127.77.1.2', '127.77.1.3'), {
      up: `{ url: 'http://contacts.test:${port}', retry: false }`,
    });
    const all = await Promise.all(Array.from({ length: 50 }, () => site.get('/up')));
    expect(new Set(all)).toEqual(new Set(['127.77.1.2']));
  });

  it('responds while one address neither accepts nor refuses connections', async () => {
    const { port } = await startEndpoint('127.77.0.2');
    await startSilentEndpoint('127.77.0.1', port);
    const site = await start(ipv4('127.77.0.1', '127.77.0.2'), {
      up: `{ url: 'http://contacts.test:${port}', retry: false, timeouts: { connect: 4s } }`,
    });
    const all = await Promise.all(Array.from({ length: 20 }, () => site.get('/up')));
    expect(new Set(all)).toEqual(new Set(['127.77.0.2']));
  });

  it('does not reuse connections to an address that was removed', async () => {
    const one = await startEndpoint('127.77.0.1');
    const two = await startEndpoint('127.77.0.2', one.port);
    const site = await start(ipv4('127.77.0.1'), { up: `{ url: 'http://contacts.test:${one.port}' }` });
    expect(await site.get('/up')).toBe('127.77.0.1');
    site.server.zone = ipv4('127.77.0.2');
    // Requests keep the connection alive, so only the background lookup finds the new address.
    await until(async () => expect(await site.get('/up')).toBe('127.77.0.2'));
    expect(one.connections).toBe(1);
    expect(await site.get('/up')).toBe('127.77.0.2');
    expect(two.connections).toBe(1);
  });

  it('is resolved again before its time to live ends if its addresses refuse connections', async () => {
    const { port } = await startEndpoint('127.77.0.2');
    const long =
      (ip: string): Zone =>
      (_name, type) =>
        type === 'A' ? [a(ip, 300)] : [];
    const site = await start(long('127.77.0.1'), { up: `{ url: 'http://contacts.test:${port}' }` });
    expect(await site.refusal('/up')).toEqual([502, 'upstream_unreachable', 'upstream_econnrefused']);
    site.server.zone = long('127.77.0.2');
    await until(async () => expect(await site.get('/up')).toBe('127.77.0.2'));
  });
});

describe.concurrent('the admin API', () => {
  it('reports names, lookups and stale addresses', async () => {
    const { port } = await startEndpoint('127.77.0.1');
    // The addresses must not expire before the test has read the numbers.
    const zone: Zone = (name, type) => {
      if (name === 'missing.test') return 'nxdomain';
      return type === 'A' ? [a('127.77.0.1')] : [];
    };
    const site = await start(zone, {
      up: `{ url: 'http://good.test:${port}' }`,
      missing: "{ url: 'http://missing.test:9' }",
      literal: `{ url: 'http://[::1]:9' }`,
    });
    await site.get('/up');
    await site.get('/missing');
    const status = (await (await fetch(`${site.admin.url}/status`)).json()) as {
      upstreams: { id: string; endpoints: { resolution: unknown }[] }[];
    };
    expect(status.upstreams.map(({ id, endpoints }) => [id, endpoints[0]?.resolution])).toEqual([
      ['up', { state: 'resolved', addresses: ['127.77.0.1'], reason: null }],
      ['missing', { state: 'failed', addresses: [], reason: 'ENOTFOUND' }],
      ['literal', null],
    ]);
    const { value } = await scrape(site.admin.url);
    expect(value('dns_lookups_total', { result: 'ok' })).toBe(1);
    expect(value('dns_lookups_total', { result: 'not_found' })).toBe(1);
    expect(value('dns_lookup_duration_seconds_count')).toBe(2);
    expect(value('dns_lookups_in_flight')).toBe(0);
    expect(value('dns_failing_names')).toBe(1);
    expect(value('dns_stale_addresses_served_total')).toBe(0);
  });
});
