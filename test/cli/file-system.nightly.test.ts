import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test as base, describe, expect } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { type CliProcess, runProcess, startCli } from '../support/cli.ts';
import { pause } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const route = (id: string) => `  - { id: ${id}, method: GET, path: /${id}, upstream: up, access: public }\n`;
const manifest = (id: string) => `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
include: routes/*.yaml
upstreams: { up: { url: 'https://127.0.0.1:9', tls: { ca: a.crt } } }
server: { stopping: { delay: 0s } }
routes:
${route(id)}  - { id: checked, method: POST, path: /checked, upstream: up, access: public, body: { schema: { $ref: schema.json } } }
`;

interface RunningGateway {
  readonly cli: CliProcess;
  /** Requests an endpoint of the admin API. */
  readonly request: (path: string, method?: string) => Promise<{ status: number; body: Record<string, unknown> }>;
}

/** The files of one test. */
interface Files {
  readonly folder: string;
  save(name: string, text: string): void;
  /** Starts the gateway. Each of its threads loads the module `preload` first. */
  start(preload: string): Promise<RunningGateway>;
  /** Opening the file `routes/r7.yaml` hangs from now on, if the gateway has loaded `HANG`. */
  hang(): void;
  /** Ends the hang: opening the pipe returns, and reading it finds its end. */
  release(): void;
}

/** Most of the time of these tests is spent on timeouts, so they run concurrently, each in its own folder. */
const it = base.extend<{ files: Files }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from the pattern
  files: async ({}, use) => {
    const started: CliProcess[] = [];
    await use(createFiles(started));
    for (const { child } of started) child.kill('SIGKILL');
    for (const { result } of started) await result;
  },
});

function createFiles(started: CliProcess[]): Files {
  const folder = temporaryFolder('file-system');
  const save = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (let file = 0; file < 20; file += 1) save(`routes/r${file}.yaml`, `routes:\n${route(`r${file}`)}`);
  const { certificate, key } = createPair();
  save('a.crt', certificate);
  save('a.key', key);
  save('schema.json', '{ "type": "object" }');
  save('gateway.yaml', manifest('one'));
  const pipe = join(folder, 'hang');
  return {
    folder,
    save,
    start: async (preload) => {
      save('preload.mjs', PRELOAD + preload);
      const cli = startCli(['run'], folder, { NODE_OPTIONS: `--import ${join(folder, 'preload.mjs')}` });
      started.push(cli);
      const [, admin = ''] = await cli.waitFor(/"admin":"([^"]+)".*"msg":"serving"/);
      const request = async (path: string, method = 'GET') => {
        const response = await fetch(admin + path, { method });
        return { status: response.status, body: (await response.json()) as Record<string, unknown> };
      };
      return { cli, request };
    },
    hang: () => void execFileSync('mkfifo', [pipe]),
    release: () => {
      const writer = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
      rmSync(pipe);
      closeSync(writer);
    },
  };
}

/** `around(holder, name, wrap)` wraps a function of `node:fs`, also for modules that import it by name. */
const PRELOAD = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
const around = (holder, name, wrap) => { holder[name] = wrap(holder[name]); syncBuiltinESMExports(); };
const folder = import.meta.dirname;
`;

/** Records every file system call of the main thread on a file of the manifest, once the file `begin` exists. */
const RECORD_CALLS = `
const appendFileSync = fs.appendFileSync;
const existsSync = fs.existsSync;
const record = (holder, name) => around(holder, name, (original) => function (...args) {
  if (String(args[0]).startsWith(folder) && existsSync(folder + '/begin')) appendFileSync(folder + '/calls', name + ' ' + args[0] + '\\n');
  return Reflect.apply(original, this, args);
});
const NAMES = ['open', 'openSync', 'readFile', 'readFileSync', 'stat', 'statSync', 'lstat', 'lstatSync', 'readdir', 'readdirSync',
  'opendir', 'opendirSync', 'realpath', 'realpathSync', 'watch', 'watchFile', 'access', 'createReadStream'];
if (isMainThread) {
  for (const name of NAMES) record(fs, name);
  for (const name of ['open', 'readFile', 'stat', 'lstat', 'readdir', 'opendir', 'realpath']) record(fs.promises, name);
}
`;

/** Records every call that uses the thread pool, which also verifies tokens, compresses and writes the log. */
const RECORD_POOL_CALLS = `
for (const name of ['open', 'readFile', 'stat', 'lstat', 'readdir', 'opendir', 'realpath', 'readlink', 'access'])
  around(fs.promises, name, (original) => function (...args) {
    if (String(args[0]).startsWith(folder)) fs.appendFileSync(folder + '/pool-calls', name + ' ' + args[0] + '\\n');
    return Reflect.apply(original, this, args);
  });
`;

/** Makes every attempt to watch a folder fail and records it. */
const NO_WATCH = `
around(fs, 'watch', () => (path) => {
  fs.appendFileSync(folder + '/attempts', path + '\\n');
  throw Object.assign(new Error('the limit of inotify is reached'), { code: 'ENOSPC' });
});
`;

/** While the pipe `hang` exists, opening one file of the manifest opens the pipe instead, which blocks without a writer. */
const HANG = `
const existsSync = fs.existsSync;
const realOpen = fs.openSync;
around(fs, 'openSync', (original) => (path, ...args) =>
  String(path).endsWith('r7.yaml') && existsSync(folder + '/hang') ? realOpen(folder + '/hang', 'r') : original(path, ...args));
`;

describe.concurrent('the serving thread', () => {
  it('never reads a file after startup, whatever file changes', async ({ files }) => {
    const { folder, save, start } = files;
    const { cli, request } = await start(RECORD_CALLS);
    save('begin', '');
    save('gateway.yaml', manifest('two'));
    await cli.waitFor(/"msg":"manifest reloaded"/);
    const pair = createPair();
    save('a.crt', pair.certificate);
    await cli.waitFor(/"files":\["a.crt"\]/);
    save('schema.json', '{ "type": "array" }');
    await cli.waitFor(/"files":\["schema.json"\]/);
    save('routes/more.yaml', `routes:\n${route('more')}`);
    await cli.waitFor(/"added":\["more"\]/);
    save('gateway.yaml', 'version: 2');
    expect((await request('/-/reload', 'POST')).status).toBe(422);
    // Longer than the polling interval.
    await pause(6_000);
    expect(() => readFileSync(join(folder, 'calls'), 'utf8')).toThrow('ENOENT');
  });
});

describe.concurrent('the thread that watches files', () => {
  it('does not use the thread pool and notices a change at once', async ({ files }) => {
    const { folder, save, start } = files;
    const { cli } = await start(RECORD_POOL_CALLS);
    save('gateway.yaml', manifest('two'));
    await cli.waitFor(/"msg":"manifest reloaded"/);
    rmSync(join(folder, 'routes'), { recursive: true });
    save('routes/other.yaml', `routes:\n${route('other')}`);
    await cli.waitFor(/"added":\["other"\]/);
    save('routes/more.yaml', `routes:\n${route('more')}`);
    await cli.waitFor(/"cause":"change".*"added":\["more"\]/);
    expect(() => readFileSync(join(folder, 'pool-calls'), 'utf8')).toThrow('ENOENT');
  });

  it('does not retry forever if files cannot be watched', async ({ files }) => {
    const { folder, save, start } = files;
    const { cli, request } = await start(NO_WATCH);
    await cli.waitFor(
      /"reason":"ENOSPC".*"msg":"the files of the manifest cannot be watched; the gateway polls them instead"/,
    );
    save('gateway.yaml', manifest('two'));
    // Each reload sets up the watch for the files that it found.
    await cli.waitFor(/"msg":"manifest reloaded"/);
    expect((await request('/-/reload', 'POST')).status).toBe(200);
    const attempts = readFileSync(join(folder, 'attempts'), 'utf8').trim().split('\n');
    // One attempt for the manifest's folder, one for the folder of the routes.
    expect(attempts.length).toBe(2);
    expect((await request('/status')).body).toMatchObject({ watch_error: 'ENOSPC', status: 'ready' });
  });
});

describe.concurrent('a file system that hangs', () => {
  it('blocks no request or reload forever, is reported, and recovers when it responds', async ({ files }) => {
    const { save, start, hang, release } = files;
    const { cli, request } = await start(HANG);
    hang();
    save('gateway.yaml', manifest('two'));
    await cli.waitFor(/"reason":"the file system does not respond[^"]*".*"msg":"manifest cannot be read/);
    expect((await request('/readyz')).body).toMatchObject({ status: 'degraded' });
    expect((await request('/status')).body).toMatchObject({ last_reload: { result: 'unreadable' }, hung_threads: 1 });
    const { status, body } = await request('/-/reload', 'POST');
    expect([status, body['result'], body['reason']]).toEqual([
      503,
      'unreadable',
      expect.stringContaining('does not respond'),
    ]);
    // The number of hung threads is limited, and the log has one line for the change and one for the request.
    // Longer than it takes to report the next hung thread.
    await pause(8_000);
    expect((await request('/status')).body['hung_threads']).toBeLessThanOrEqual(4);
    expect(cli.out().match(/manifest cannot be read/g)?.length).toBeLessThanOrEqual(3);
    release();
    await cli.waitFor(/"msg":"manifest reloaded"/);
    await eventually('no thread hangs', async () => (await request('/status')).body['hung_threads'] === 0);
    expect((await request('/readyz')).body).toMatchObject({ status: 'ready' });
    cli.child.kill('SIGTERM');
    expect((await cli.result).code).toBe(0);
  });

  it.for(['SIGTERM', 'SIGTERM twice'])('does not delay the exit after %s', async (signals, { files }) => {
    const { save, start, hang } = files;
    const { cli, request } = await start(HANG);
    hang();
    save('gateway.yaml', manifest('two'));
    const reload = request('/-/reload', 'POST');
    await cli.waitFor(/"msg":"manifest cannot be read/);
    cli.child.kill('SIGTERM');
    if (signals === 'SIGTERM twice') cli.child.kill('SIGINT');
    const { code, out } = await cli.result;
    expect([0, 128 + 2, 128 + 15]).toContain(code);
    if (signals === 'SIGTERM') expect([code, out]).toEqual([0, expect.stringContaining('"msg":"stopped"')]);
    expect((await reload.catch(() => ({ status: 503 }))).status).toBe(503);
  });
});

describe.concurrent('a file that is too large', () => {
  /** Makes a sparse file of 60 MB. */
  const grow = ({ folder, save }: Files, name: string) => {
    save(name, '# large\n');
    truncateSync(join(folder, name), 60_000_000);
  };
  const MESSAGE = /gateway\.yaml: larger than 5000000 bytes; split it into several files/;

  it.for(['lint', 'run', 'fmt', 'routes'])('is rejected by %s before it is read', async (verb, { files }) => {
    grow(files, 'gateway.yaml');
    const { code, err } = await runProcess([verb], files.folder, { NODE_OPTIONS: '--max-old-space-size=64' });
    expect([code, err]).toEqual([2, expect.stringMatching(MESSAGE)]);
  });

  it('is rejected if it is an endless device', async ({ files }) => {
    const { code, err } = await runProcess(['lint', '/dev/zero'], files.folder);
    expect([code, err]).toEqual([2, expect.stringContaining('/dev/zero: larger than 5000000 bytes')]);
  });

  it('keeps the active manifest and uses no memory for the file', async ({ files }) => {
    const { folder, start } = files;
    const { cli, request } = await start('');
    const peakMemoryMb = () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${cli.child.pid}/status`, 'utf8'))?.[1]) / 1_024;
    const before = peakMemoryMb();
    for (const [name, kind, message] of [
      ['gateway.yaml', 'unreadable', 'larger than 5000000 bytes'],
      ['routes/r7.yaml', 'rejected', 'cannot be read'],
      ['schema.json', 'rejected', 'it has more than 5000000 bytes'],
      ['a.crt', 'rejected', 'it has more than 5000000 bytes'],
    ] as const) {
      const old = readFileSync(join(folder, name));
      grow(files, name);
      const { body } = await request('/-/reload', 'POST');
      expect([name, body['result']]).toEqual([name, kind]);
      expect(JSON.stringify(body)).toContain(message);
      writeFileSync(join(folder, name), old);
      expect((await request('/-/reload', 'POST')).status).toBe(200);
    }
    expect(peakMemoryMb() - before).toBeLessThan(200);
  });
});

describe.concurrent('a gateway that stops', () => {
  it('refuses to reload on request', async ({ files }) => {
    const { save, start } = files;
    save('gateway.yaml', manifest('one').replace('delay: 0s', 'delay: 3s'));
    const { cli, request } = await start('');
    cli.child.kill('SIGTERM');
    await cli.waitFor(/"msg":"stopping"/);
    save('gateway.yaml', manifest('two'));
    expect(await request('/-/reload', 'POST')).toEqual({
      status: 503,
      body: { status: 503, detail: expect.stringContaining('the gateway is stopping') },
    });
    expect((await request('/readyz')).status).toBe(503);
    expect((await cli.result).out).not.toContain('manifest reloaded');
  });
});
