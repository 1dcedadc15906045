import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { type CliProcess, startCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PROGRAM = new URL('../../src/cli/health/container-health.ts', import.meta.url).pathname;

const started: CliProcess[] = [];
const parents: ChildProcess[] = [];
afterEach(async () => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
});

const MANIFEST = `version: 1
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

async function start(text: string, args: string[], files: Record<string, string> = {}): Promise<CliProcess> {
  const cli = startCli(['run', ...args], temporaryFolder('container', { 'gateway.yaml': text, ...files }));
  started.push(cli);
  await cli.waitFor(/"msg":"serving"/);
  return cli;
}

function check(pid: number | undefined): Promise<{ readonly code: number; readonly out: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, String(pid)], (_error, out) =>
      resolve({ code: child.exitCode ?? -1, out }),
    );
  });
}

describe.skipIf(process.platform !== 'linux')('the health check of the container', () => {
  it.each(['127.0.0.1:0', '0.0.0.0:0', '[::1]:0', '[::]:0', '127.8.7.6:0'])(
    'needs no admin API, no log line and no manifest on %s',
    async (address) => {
      const cli = await start(MANIFEST, ['--listen', address]);
      expect(await check(cli.child.pid)).toEqual({ code: 0, out: 'alive\n' });
      cli.child.kill('SIGTERM');
      await cli.waitFor(/"msg":"stopping"/);
      expect(cli.out().match(/"msg":/g)?.length).toBe(2);
    },
  );

  it('does not depend on TLS', async () => {
    const { certificate, key } = createPair();
    const text = `${MANIFEST}server: { tls: { certificate: a.crt, key: a.key } }\n`;
    const cli = await start(text, ['--listen', '127.0.0.1:0'], { 'a.crt': certificate, 'a.key': key });
    expect(await check(cli.child.pid)).toEqual({ code: 0, out: 'alive\n' });
    expect(cli.out().match(/"msg":/g)?.length).toBe(1);
  });

  it('passes while the client connections are at their limit', async () => {
    const text = `${MANIFEST}server: { limits: { connections: 1 } }\n`;
    const cli = await start(text, ['--listen', '127.0.0.1:0']);
    const [, url = ''] = await cli.waitFor(/"url":"([^"]+)"/);
    const agent = new Agent({ keepAlive: true });
    const [response] = await once(get(`${url}/one`, { agent }), 'response');
    response.resume();
    await once(response, 'end');
    expect((await check(cli.child.pid)).code).toBe(0);
    agent.destroy();
  });

  it('fails while the process does not respond', async () => {
    const cli = await start(MANIFEST, ['--listen', '127.0.0.1:0']);
    cli.child.kill('SIGSTOP');
    const { code, out } = await check(cli.child.pid);
    expect([code, out]).toEqual([1, expect.stringMatching(/^no response from port \d+ within 2 s\n$/)]);
  });

  it('fails for a process without a listener, and without a process', async () => {
    const idle = spawn('sleep', ['60']);
    parents.push(idle);
    expect(await check(idle.pid)).toEqual({ code: 1, out: `process ${idle.pid} listens on no port and no socket\n` });
    idle.kill('SIGKILL');
    await once(idle, 'exit');
    expect((await check(idle.pid)).code).toBe(1);
  });

  it('finds a gateway that is a child of the process, as below an init process', async () => {
    const folder = temporaryFolder('container', { 'gateway.yaml': MANIFEST });
    const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
    const script = `"${process.execPath}" "${main}" run --listen 127.0.0.1:0 & trap 'kill -9 $!' TERM; wait`;
    const parent = spawn('bash', ['-c', script], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    parents.push(parent);
    while (!String((await once(parent.stdout, 'data'))[0]).includes('"msg":"serving"'));
    expect(await check(parent.pid)).toEqual({ code: 0, out: 'alive\n' });
    parent.kill('SIGTERM');
    await once(parent, 'exit');
  });
});
