import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type CliProcess, MAIN, runProcess, startCli } from '../support/cli.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const HEALTH = new URL('../../src/cli/health/container-health.ts', import.meta.url).pathname;

const started: CliProcess[] = [];
let upstream: Upstream | undefined;
afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
  await upstream?.close();
  upstream = undefined;
});

const manifestOf = (listen: string, up = 'http://127.0.0.1:9') => `version: 1
listen: ${listen}
server: { stopping: { delay: 1s, grace: 20s } }
upstreams: { up: { url: '${up}' } }
routes:
  - { id: own, method: GET, path: /own, access: public, respond: { status: 200, body: hello } }
  - { id: all, method: any, path: /**, access: public, upstream: up }
`;

function folderOf(mode = '0660', up?: string): { readonly folder: string; readonly path: string } {
  const folder = temporaryFolder('socket');
  const path = join(folder, 'gateway.sock');
  writeFileSync(join(folder, 'gateway.yaml'), manifestOf(`{ address: 'unix:${path}', mode: '${mode}' }`, up));
  return { folder, path };
}

async function start(folder: string, ...args: string[]): Promise<CliProcess> {
  const cli = startCli(['run', ...args], folder);
  started.push(cli);
  await cli.waitFor(/"msg":"serving"/);
  return cli;
}

/** Records every mode that a socket, or a new folder beside it, has at any moment, until its input ends. */
const WATCH = `
const { lstatSync, readdirSync } = require('node:fs');
const [folder] = process.argv.slice(1);
const seen = new Set();
const look = (kind, path) => {
  try {
    seen.add(kind + ' ' + (lstatSync(path).mode & 0o777).toString(8));
  } catch {}
};
let isOver = false;
process.stdin.on('end', () => { isOver = true; }).resume();
process.stdout.write('ready ');
(function watch() {
  for (let round = 0; round < 50; round += 1)
    for (const name of readdirSync(folder)) {
      if (name === 'gateway.sock') look('socket', folder + '/' + name);
      if (name.startsWith('.')) look('folder', folder + '/' + name);
    }
  if (isOver) process.stdout.write([...seen].sort().join());
  else setImmediate(watch);
})();
`;

describe('a process that listens on a unix socket', () => {
  it('has its permissions at every moment of its start, with any umask', async () => {
    const { folder, path } = folderOf('0620');
    const watcher = spawn(process.execPath, ['-e', WATCH, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    let out = '';
    watcher.stdout.on('data', (chunk) => {
      out += chunk;
    });
    await once(watcher.stdout, 'data');
    const gateway = spawn('sh', ['-c', `umask 000; exec "${process.execPath}" "${MAIN}" run`], { cwd: folder });
    try {
      await eventually('the socket', () => existsSync(path));
      watcher.stdin.end();
      await once(watcher, 'close');
    } finally {
      gateway.kill('SIGKILL');
      await once(gateway, 'close');
    }
    expect(out).toMatch(/^ready (?:folder 700,)?socket 620$/);
  });

  it('serves curl, the health check of the container, and reports its address', async () => {
    const { folder, path } = folderOf();
    const cli = await start(folder);
    expect(cli.out()).toContain(`"url":"unix:${path}"`);
    const curl = ['-s', '--unix-socket', path, 'http://gateway.test/own'];
    if (existsSync('/usr/bin/curl')) expect(execFileSync('curl', curl, { encoding: 'utf8' })).toBe('hello');
    const health = (pid: number | undefined) => execFileSync(process.execPath, [HEALTH, String(pid)]).toString();
    if (process.platform === 'linux') expect(health(cli.child.pid)).toBe('alive\n');
    unlinkSync(path);
    if (process.platform === 'linux') expect(() => health(cli.child.pid)).toThrow();
  });

  it('says why it cannot listen, and takes the place of a process that was killed', async () => {
    const { folder, path } = folderOf();
    const cli = await start(folder);
    const reasonOf = async (args: string[] = []) => (await runProcess(['run', ...args], folder)).err.trim();
    const end = '; change "listen" in the manifest, or use --listen';
    expect(await reasonOf()).toBe(
      `signing-gateway: cannot listen on unix:${path}: another process listens there${end}`,
    );
    cli.child.kill('SIGKILL');
    await cli.result;
    expect(statSync(path).isSocket()).toBe(true);
    const next = await start(folder);
    const text = join(folder, 'gateway.yaml');
    expect(await reasonOf(['--listen', `unix:${text}`])).toBe(
      `signing-gateway: cannot listen on unix:${text}: a file that is not a socket is there${end}`,
    );
    expect(await reasonOf(['--listen', `unix:${folder}/none/gateway.sock`])).toContain('its folder does not exist');
    next.child.kill('SIGTERM');
    expect((await next.result).code).toBe(0);
    expect(readdirSync(folder)).toEqual(['gateway.yaml']);
  });

  it('needs a restart for another socket or mode, and keeps the active one', async () => {
    const { folder, path } = folderOf();
    const cli = await start(folder);
    writeFileSync(join(folder, 'gateway.yaml'), manifestOf(`{ address: 'unix:${path}', mode: '0666' }`));
    await cli.waitFor(/"needs_restart":\["listen"\]/);
    expect(statSync(path).mode & 0o777).toBe(0o660);
  });

  it('loses no request when it stops', async () => {
    upstream = await startUpstream();
    const { folder, path } = folderOf('0600', upstream.url);
    const cli = await start(folder);
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const results: Promise<number | string | undefined>[] = [];
    const send = () =>
      new Promise<number | string | undefined>((resolve) => {
        get({ socketPath: path, path: '/x', agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      });
    const timer = setInterval(() => results.push(send(), send()), 5);
    await eventually('200 requests', () => results.length > 200);
    cli.child.kill('SIGTERM');
    await eventually('the file is gone', () => !existsSync(path));
    clearInterval(timer);
    const outcomes = new Set(await Promise.all(results));
    agent.destroy();
    // Requests that began after the file was gone reach no gateway.
    outcomes.delete('ENOENT');
    expect(outcomes).toEqual(new Set([200]));
    expect((await cli.result).code).toBe(0);
  });
});
