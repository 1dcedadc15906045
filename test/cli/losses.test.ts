import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Lets a test bound what its process may have; tests that need it are skipped elsewhere. */
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

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** `run`, within the limits that a shell sets first. */
async function start(limits: string[], manifest: (upstream: Upstream) => string) {
  const upstream = await startUpstream((_request, response) => void response.end('ok'));
  const folder = mkdtempSync(join(tmpdir(), 'losses-'));
  writeFileSync(join(folder, 'gateway.yaml'), manifest(upstream));
  const [command = '', ...args] = [...limits, process.execPath, MAIN, 'run'];
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  ends.push(
    () => rmSync(folder, { recursive: true }),
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
  await eventually('it serves', () => lines().some(({ msg }) => msg === 'serving'), 20_000);
  const { url, admin } = lines().find(({ msg }) => msg === 'serving');
  return { child, folder, upstream, lines, url: url as string, admin: admin as string };
}

const limitedTo = (files: number) => ['bash', '-c', `ulimit -n ${files}; exec "$0" "$@"`];

describe.skipIf(!canLimit)('file descriptors', () => {
  it('that are fewer than the limits of the manifest need are a warning at the start', async () => {
    const { lines, admin } = await start(limitedTo(300), ({ url }) => MANIFEST(url));
    const warned = () =>
      lines().filter(({ msg }) => msg.startsWith('the limits of the manifest allow more connections'));
    await eventually('it warns', () => warned().length > 0);
    expect(warned()).toEqual([
      expect.objectContaining({ level: 40, limit: 300, wanted: 10_000 + 8 + 256 + 64, accepted: 191 }),
    ]);
    const status = JSON.parse(await (await fetch(`${admin}/status`)).text());
    expect(status.file_descriptors).toEqual({ limit: 300, open: expect.any(Number), wanted: 10_328, shortages: 0 });
    const { value } = await scrape(admin);
    expect([value('file_descriptors_wanted'), value('process_max_fds')]).toEqual([10_328, 300]);
    expect(value('process_open_fds')).toBeGreaterThan(10);
  });

  it('that are enough are no warning', async () => {
    const { lines, admin } = await start(limitedTo(500), ({ url }) => MANIFEST(url, 100));
    await eventually('it has looked', async () => (await scrape(admin)).value('process_open_fds') > 0);
    expect(lines().filter(({ level }) => level > 30)).toEqual([]);
  });

  it('that are few leave room for probes, upstreams and reloads', async () => {
    const { folder, upstream, lines, url, admin } = await start(limitedTo(100), ({ url }) => MANIFEST(url));
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname).on('error', () => undefined));
    await eventually('connections are refused', async () => (await clientsOf(admin)).refused > 0);
    const { open, limit } = await clientsOf(admin);
    expect([open, limit]).toEqual([16, 16]);
    expect((await fetch(`${admin}/livez`)).status).toBe(200);
    const answers = sockets.map((socket) => {
      socket.write('GET /one HTTP/1.1\r\nHost: gateway\r\n\r\n');
      return once(socket, 'data').then(String, () => '');
    });
    expect(await Promise.race(answers.map(async (answer) => (await answer) || NEVER))).toMatch(/^HTTP\/1.1 200 /);
    writeFileSync(join(folder, 'gateway.yaml'), MANIFEST(upstream.url).replace('/one', '/two'));
    await eventually('the manifest is reloaded', () => lines().some(({ msg }) => msg === 'manifest reloaded'), 20_000);
    for (const socket of sockets) socket.destroy();
  });

  it('that are few are not all kept by idle connections to upstreams', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `up${index}`);
    const { url, admin } = await start(limitedTo(100), ({ url }) => manyUpstreams(url, ids));
    const agent = new Agent({ keepAlive: true, maxSockets: 12 });
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const seen: (number | undefined)[] = [];
        for (const id of ids) seen.push(await statusOf(`${url}/${id}`, agent));
        return seen;
      }),
    );
    agent.destroy();
    expect(new Set(statuses.flat())).toEqual(new Set([200]));
    expect((await fetch(`${admin}/livez`)).status).toBe(200);
  });

  it('that ran out are counted and logged, and end nothing', async () => {
    const { child, lines, url, admin } = await start(limitedTo(100), ({ url }) => MANIFEST(url));
    const limit = (files: number) => spawnSync('prlimit', ['--pid', String(child.pid), `--nofile=${files}:100`]);
    const short = () => lines().filter(({ msg }) => msg.startsWith('no file descriptor is free'));
    expect(limit(10).status).toBe(0);
    await eventually('they run out', () => short().length > 0, 20_000);
    limit(100);
    await eventually(
      'it serves again',
      async () => (await fetch(`${url}/one`).catch(() => undefined))?.status === 200,
      20_000,
    );
    expect(short()).toEqual([expect.objectContaining({ level: 40, reason: 'EMFILE', limit: 100 })]);
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

describe('connections over the limit', () => {
  it('are counted', async () => {
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

describe.skipIf(!canUnshare)('a watch that cannot be had', () => {
  it('is logged and shown, and files are polled', async () => {
    const limits = ['unshare', '-Ur', 'sh', '-c', 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$0" "$@"'];
    const { folder, upstream, lines, admin } = await start(limits, ({ url }) => MANIFEST(url));
    const unwatched = () =>
      lines().filter(({ msg }) => msg === 'the files of the manifest cannot be watched; they are polled');
    await eventually('it is logged', () => unwatched().length > 0);
    expect(unwatched()).toEqual([expect.objectContaining({ level: 40, count: 1, reason: 'EMFILE' })]);
    expect(JSON.parse(await (await fetch(`${admin}/status`)).text()).watch_error).toBe('EMFILE');
    expect((await scrape(admin)).value('config_watch_active')).toBe(0);
    writeFileSync(join(folder, 'gateway.yaml'), MANIFEST(upstream.url).replace('/one', '/two'));
    await eventually('the change is found', () => lines().some(({ msg }) => msg === 'manifest reloaded'), 30_000);
  });

  it('is one elsewhere', async () => {
    const { admin } = await start([], ({ url }) => MANIFEST(url));
    expect((await scrape(admin)).value('config_watch_active')).toBe(1);
  });
});
