import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let port: number;
let admin: number;
let gateway: ReturnType<typeof spawn> | undefined;

beforeEach(async () => {
  folder = temporaryFolder('streams');
  [port, admin] = [await freePort(), await freePort()];
  save('one');
});
afterEach(async () => {
  if (gateway?.exitCode === null && gateway.signalCode === null) {
    gateway.kill('SIGKILL');
    await once(gateway, 'exit');
  }
  gateway = undefined;
});

function save(route: string, access = 'public'): void {
  const text = `version: 1
listen: 127.0.0.1:${port}
admin: 127.0.0.1:${admin}
upstreams: { up: { url: http://127.0.0.1:9 } }
routes:
  - { id: ${route}, method: GET, path: /${route}, upstream: up, access: ${access} }
server: { stopping: { delay: 0s } }
`;
  writeFileSync(join(folder, 'gateway.yaml'), text);
}

/** Starts a gateway whose standard streams a shell redirects. */
function start(redirect: string): ReturnType<typeof spawn> {
  gateway = spawn('bash', ['-c', `exec "$0" "$1" run ${redirect}`, process.execPath, MAIN], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return gateway;
}

const get = (path: string) => fetch(`http://127.0.0.1:${admin}${path}`);
const isLive = () =>
  get('/livez').then(
    ({ ok }) => ok,
    () => false,
  );
async function status(): Promise<{ last_reload: { result: string } | null; manifest: object; streams: object }> {
  return (await get('/status')).json() as never;
}

/** Causes accepted and rejected reloads, which write to both streams. */
async function reloadRepeatedly(): Promise<void> {
  await eventually('it serves', isLive);
  for (const turn of [1, 2, 3]) {
    save(`route-${turn}`);
    expect((await fetch(`http://127.0.0.1:${admin}/-/reload`, { method: 'POST' })).status).toBe(200);
    save('two', 'publik');
    expect((await fetch(`http://127.0.0.1:${admin}/-/reload`, { method: 'POST' })).status).toBe(422);
  }
  expect((await fetch(`http://127.0.0.1:${port}/route-3`)).status).toBe(502);
}

async function expectCleanStop(child: ReturnType<typeof spawn>): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
}

describe('a gateway whose standard streams fail', () => {
  it.each([
    ['a full standard error', '2>/dev/full', 'stderr'],
    ['a closed standard error', '2>&-', undefined],
    ['a full standard output', '>/dev/full', 'stdout'],
    ['full standard streams', '>/dev/full 2>&1', 'stderr'],
    ['closed standard streams', '>&- 2>&-', undefined],
  ] as const)('keeps reloading and stops cleanly with %s', async (_case, redirect, failing) => {
    const child = start(redirect);
    await reloadRepeatedly();
    if (failing !== undefined) {
      const streamStatus = async () =>
        (await status()).streams as Record<string, { error: string | null; errors: number }>;
      await eventually('the failure is reported', async () => (await streamStatus())[failing]?.error === 'ENOSPC');
      expect((await streamStatus())[failing]?.errors).toBeGreaterThan(0);
      const metrics = await (await get('/metrics')).text();
      expect(metrics).toMatch(new RegExp(`signing_gateway_stream_failing\\{stream="${failing}"\\} 1`));
      expect(metrics).toMatch(new RegExp(`signing_gateway_stream_write_errors_total\\{stream="${failing}"\\} [1-9]`));
    }
    await expectCleanStop(child);
  });

  it('keeps reloading and stops cleanly after the readers have closed the pipes', async () => {
    const child = start('');
    await eventually('it serves', isLive);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await reloadRepeatedly();
    await eventually('it is reported', async () => JSON.stringify((await status()).streams).includes('EPIPE'));
    await expectCleanStop(child);
  });

  it('keeps reloading and stops cleanly while the readers do not read', async () => {
    // The readers sleep, so both pipes fill up.
    const child = start('> >(sleep 50) 2> >(sleep 50)');
    await eventually('it serves', isLive);
    // The log lines of these refusals exceed the capacity of a pipe.
    for (let turn = 0; turn < 100; turn += 1)
      await Promise.all(Array.from({ length: 10 }, () => fetch(`http://127.0.0.1:${port}/${'x'.repeat(1_000)}`)));
    await reloadRepeatedly();
    await eventually('it is reported', async () => JSON.stringify((await status()).streams).includes('EAGAIN'));
    await expectCleanStop(child);
  });
});

describe('a verb whose standard streams fail', () => {
  const run = (script: string) => {
    const child = spawn('bash', ['-c', script, process.execPath, MAIN], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    return once(child, 'close').then(([code]) => ({ code, out, err }));
  };

  it('exits quietly with its own exit code if the reader has closed the pipe', async () => {
    save('one', 'publik');
    // The reader closes the pipe before the verb writes.
    const { out, err } = await run('"$0" "$1" lint | true; echo ${PIPESTATUS[0]}');
    expect(out).toBe('1\n');
    expect(err).not.toMatch(/EPIPE|at /);
  });

  it('exits with 2 and an error message if the disk is full', async () => {
    save('one', 'publik');
    const { code, err } = await run('exec "$0" "$1" lint >/dev/full');
    expect(code).toBe(2);
    expect(err).toContain('signing-gateway: cannot write to standard output: ENOSPC');
  });

  it('keeps its exit code if standard error is full or closed', async () => {
    save('one', 'publik');
    expect((await run('exec "$0" "$1" lint 2>/dev/full')).code).toBe(1);
    expect((await run('exec "$0" "$1" lint 2>&-')).code).toBe(1);
  });
});
