import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/site.ts';

let folder: string;
let port: number;
let admin: number;
let gateway: ReturnType<typeof spawn> | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'streams-'));
  [port, admin] = [await freePort(), await freePort()];
  save('one');
});
afterEach(async () => {
  if (gateway?.exitCode === null && gateway.signalCode === null) {
    gateway.kill('SIGKILL');
    await once(gateway, 'exit');
  }
  gateway = undefined;
  rmSync(folder, { recursive: true });
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

/** A gateway whose standard streams a shell has redirected. */
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

/** Reloads well and badly, which writes to both streams. */
async function reloads(): Promise<void> {
  await eventually('it serves', isLive, 20_000);
  for (const turn of [1, 2, 3]) {
    save(`route-${turn}`);
    expect((await fetch(`http://127.0.0.1:${admin}/-/reload`, { method: 'POST' })).status).toBe(200);
    save('two', 'publik');
    expect((await fetch(`http://127.0.0.1:${admin}/-/reload`, { method: 'POST' })).status).toBe(422);
  }
  expect((await fetch(`http://127.0.0.1:${port}/route-3`)).status).toBe(502);
}

async function stops(child: ReturnType<typeof spawn>): Promise<void> {
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
  ] as const)(
    'reloads and stops well with %s',
    async (_what, redirect, failing) => {
      const child = start(redirect);
      await reloads();
      if (failing !== undefined) {
        const code = async () => (await status()).streams as Record<string, { error: string | null; errors: number }>;
        await eventually('the failure is reported', async () => (await code())[failing]?.error === 'ENOSPC', 5_000);
        expect((await code())[failing]?.errors).toBeGreaterThan(0);
        const metrics = await (await get('/metrics')).text();
        expect(metrics).toMatch(new RegExp(`signing_gateway_stream_failing\\{stream="${failing}"\\} 1`));
        expect(metrics).toMatch(new RegExp(`signing_gateway_stream_write_errors_total\\{stream="${failing}"\\} [1-9]`));
      }
      await stops(child);
    },
    60_000,
  );

  it('reloads and stops well when the readers have left', async () => {
    const child = start('');
    await eventually('it serves', isLive, 20_000);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await reloads();
    await eventually('it is reported', async () => JSON.stringify((await status()).streams).includes('EPIPE'), 5_000);
    await stops(child);
  }, 60_000);

  it('reloads and stops well when the readers take nothing', async () => {
    // Both pipes are full before the gateway begins.
    const child = start('> >(sleep 20) 2> >(sleep 20)');
    await eventually('it serves', isLive, 20_000);
    // Refusals have log lines: more than a pipe holds.
    for (let turn = 0; turn < 100; turn += 1)
      await Promise.all(Array.from({ length: 10 }, () => fetch(`http://127.0.0.1:${port}/${'x'.repeat(1_000)}`)));
    await reloads();
    await eventually('it is reported', async () => JSON.stringify((await status()).streams).includes('EAGAIN'), 5_000);
    await stops(child);
  }, 60_000);
});

describe('a verb whose standard output fails', () => {
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

  it('ends quietly, with its own exit code, when the reader has left', async () => {
    save('one', 'publik');
    // The reader leaves before the verb writes.
    const { out, err } = await run('"$0" "$1" lint | true; echo ${PIPESTATUS[0]}');
    expect(out).toBe('1\n');
    expect(err).not.toMatch(/EPIPE|at /);
  });

  it('says so and ends with 2 when the disk is full', async () => {
    save('one', 'publik');
    const { code, err } = await run('exec "$0" "$1" lint >/dev/full');
    expect(code).toBe(2);
    expect(err).toContain('signing-gateway: the standard output cannot be written: ENOSPC');
  });

  it('keeps its exit code when the standard error is full or closed', async () => {
    save('one', 'publik');
    expect((await run('exec "$0" "$1" lint 2>/dev/full')).code).toBe(1);
    expect((await run('exec "$0" "$1" lint 2>&-')).code).toBe(1);
  });
});
