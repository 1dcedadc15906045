import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Tests that limit the resources of a process run only where the system supports it. */
const canLimit = process.platform === 'linux';
const canUnshare =
  canLimit && spawnSync('unshare', ['-Ur', 'sh', '-c', 'echo 0 > /proc/sys/user/max_inotify_instances']).status === 0;

const MANIFEST = (url: string, connections = 10_000) => `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: ${url}, connections: { limit: 8 } } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
server: { limits: { connections: ${connections} }, stopping: { delay: 0s } }
`;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts `run` within the limits that a shell command sets first. */
async function start(limits: string[], manifest: (upstream: Upstream) => string) {
  const upstream = await startUpstream((_request, response) => void response.end('ok'));
  const folder = temporaryFolder('losses', { 'gateway.yaml': manifest(upstream) });
  const [command = '', ...args] = [...limits, process.execPath, MAIN, 'run'];
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  cleanups.push(
    () => upstream.close(),
    async () => {
      if (child.exitCode !== null || !child.kill('SIGKILL')) return;
      await once(child, 'exit');
    },
  );
  const lines = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  await eventually('it serves', () => lines().some(({ msg }) => msg === 'serving'));
  const { url, admin } = lines().find(({ msg }) => msg === 'serving');
  return { child, folder, upstream, lines, url: url as string, admin: admin as string };
}

const withDescriptorLimit = (files: number) => ['bash', '-c', `ulimit -n ${files}; exec "$0" "$@"`];

const isTooFew = ({ msg }: { msg: string }) => msg.startsWith('server.limits.connections exceeds the file descriptors');

describe.skipIf(!canLimit)('file descriptors', () => {
  it('are logged as too few at startup if the limits of the manifest need more', async () => {
    const { lines, admin } = await start(withDescriptorLimit(300), ({ url }) => MANIFEST(url));
    await eventually('it warns', () => lines().some(isTooFew));
    expect(lines().filter(isTooFew)).toEqual([
      expect.objectContaining({ level: 40, limit: 300, wanted: 10_000 + 8 + 256 + 64, accepted: 191 }),
    ]);
    const status = JSON.parse(await (await fetch(`${admin}/status`)).text());
    expect(status.file_descriptors).toEqual({ limit: 300, open: expect.any(Number), wanted: 10_328, shortages: 0 });
    const { value } = await scrape(admin);
    expect([value('file_descriptors_wanted'), value('process_max_fds')]).toEqual([10_328, 300]);
    expect(value('process_open_fds')).toBeGreaterThan(10);
  });

  it('are not logged as too few if there are enough', async () => {
    const { lines, admin } = await start(withDescriptorLimit(500), ({ url }) => MANIFEST(url, 100));
    await eventually('the gateway counts descriptors', async () => (await scrape(admin)).value('process_open_fds') > 0);
    expect(lines().filter(isTooFew)).toEqual([]);
  });

  it('are reserved for probes, upstreams and reloads if there are few', async () => {
    const { folder, upstream, lines, url, admin } = await start(withDescriptorLimit(100), ({ url }) => MANIFEST(url));
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname).on('error', () => undefined));
    // A refused connection counts until the system has closed it.
    await eventually('all connections over the limit are closed', async () => {
      const { open, limit, refused } = await clientsOf(admin);
      return refused > 0 && open === limit;
    });
    expect((await clientsOf(admin)).limit).toBe(16);
    expect((await fetch(`${admin}/livez`)).status).toBe(200);
    const responses = sockets.map((socket) => {
      socket.write('GET /one HTTP/1.1\r\nHost: gateway\r\n\r\n');
      return once(socket, 'data').then(String, () => '');
    });
    expect(await Promise.race(responses.map(async (response) => (await response) || NEVER))).toMatch(/^HTTP\/1.1 200 /);
    writeFileSync(join(folder, 'gateway.yaml'), MANIFEST(upstream.url).replace('/one', '/two'));
    await eventually('the manifest is reloaded', () => lines().some(({ msg }) => msg === 'manifest reloaded'));
    for (const socket of sockets) socket.destroy();
  });

  it('are not all used by idle connections to upstreams', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `up${index}`);
    const { url, admin } = await start(withDescriptorLimit(100), ({ url }) => manyUpstreams(url, ids));
    const agent = new Agent({ keepAlive: true, maxSockets: 12 });
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const received: (number | undefined)[] = [];
        for (const id of ids) received.push(await statusOf(`${url}/${id}`, agent));
        return received;
      }),
    );
    agent.destroy();
    expect(new Set(statuses.flat())).toEqual(new Set([200]));
    expect((await fetch(`${admin}/livez`)).status).toBe(200);
  });

  it('that run out are counted and logged, and the gateway keeps running', async () => {
    const { child, lines, url, admin } = await start(withDescriptorLimit(100), ({ url }) => MANIFEST(url));
    const limit = (files: number) => spawnSync('prlimit', ['--pid', String(child.pid), `--nofile=${files}:100`]);
    const shortageLines = () => lines().filter(({ msg }) => msg.startsWith('no file descriptor is free'));
    expect(limit(10).status).toBe(0);
    await eventually('they run out', () => shortageLines().length > 0);
    limit(100);
    await eventually('it serves again', async () => (await fetch(`${url}/one`).catch(() => undefined))?.status === 200);
    expect(shortageLines()).toEqual([expect.objectContaining({ level: 40, reason: 'EMFILE', limit: 100 })]);
    expect((await scrape(admin)).value('file_descriptor_shortages_total', { use: 'check' })).toBeGreaterThan(0);
    expect(child.exitCode).toBeNull();
  });
});

const NEVER = new Promise<string>(() => undefined);

const manyUpstreams = (url: string, ids: readonly string[]) => `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams:
${ids.map((id) => `  ${id}: { url: ${url} }`).join('\n')}
routes:
${ids.map((id) => `  - { id: ${id}, method: GET, path: /${id}, upstream: ${id}, access: public }`).join('\n')}
`;

async function clientsOf(admin: string) {
  return JSON.parse(await (await fetch(`${admin}/status`)).text()).client_connections;
}

async function statusOf(url: string, agent: Agent): Promise<number | undefined> {
  const [response] = (await once(request(url, { agent }).end(), 'response')) as [IncomingMessage];
  for await (const _ of response);
  return response.statusCode;
}

describe('client connections over the limit', () => {
  it('are closed and counted', async () => {
    const { url, admin, lines } = await start([], ({ url }) => MANIFEST(url, 3));
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 10 }, () => connect(Number(port), hostname).on('error', () => undefined));
    await eventually(
      'seven are refused',
      async () => (await scrape(admin)).value('client_connections_refused_total') === 7,
    );
    const status = JSON.parse(await (await fetch(`${admin}/status`)).text());
    expect(status.client_connections).toEqual({ open: 3, limit: 3, refused: 7, unaccepted: 0 });
    const logged = () => lines().filter(({ msg }) => msg === 'connections over the limit were closed');
    await eventually('it is logged', () => logged().length > 0);
    expect(logged().length).toBe(1);
    for (const socket of sockets) socket.destroy();
  });
});

describe.skipIf(!canUnshare)('file watching', () => {
  it('is replaced by polling if the system refuses it, which is logged and reported', async () => {
    const limits = ['unshare', '-Ur', 'sh', '-c', 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$0" "$@"'];
    const { folder, upstream, lines, admin } = await start(limits, ({ url }) => MANIFEST(url));
    const warnings = () =>
      lines().filter(
        ({ msg }) => msg === 'the files of the manifest cannot be watched; the gateway polls them instead',
      );
    await eventually('it is logged', () => warnings().length > 0);
    expect(warnings()).toEqual([expect.objectContaining({ level: 40, count: 1, reason: 'EMFILE' })]);
    expect(JSON.parse(await (await fetch(`${admin}/status`)).text()).watch_error).toBe('EMFILE');
    expect((await scrape(admin)).value('config_watch_active')).toBe(0);
    writeFileSync(join(folder, 'gateway.yaml'), MANIFEST(upstream.url).replace('/one', '/two'));
    await eventually('the change is found', () => lines().some(({ msg }) => msg === 'manifest reloaded'));
  });

  it('is active by default', async () => {
    const { admin } = await start([], ({ url }) => MANIFEST(url));
    expect((await scrape(admin)).value('config_watch_active')).toBe(1);
  });
});
