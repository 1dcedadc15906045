import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Started, startCli } from '../support/cli.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const started: Started[] = [];
const upstreams: Upstream[] = [];

afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  for (const upstream of upstreams.splice(0)) await upstream.close();
});

const SLOW_MS = 5_000;

/** A gateway in a process of its own, and where its two sides are. */
async function start(stopping: string, env: Record<string, string> = {}) {
  const upstream = await startUpstream((request, response) => {
    setTimeout(() => response.end('ok'), request.url === '/slow' ? SLOW_MS : 0);
  });
  upstreams.push(upstream);
  const folder = mkdtempSync(join(tmpdir(), 'stopping-'));
  const text = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { stopping: ${stopping} }
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
`;
  writeFileSync(join(folder, 'gateway.yaml'), text);
  const cli = startCli(['run'], folder, env);
  started.push(cli);
  const [, url = '', admin = ''] = await cli.seen(/"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/);
  return { cli, url, admin, upstream };
}

/** The status of the answer, and whether it is the last one of its connection; a text when there was none. */
function ask(url: string, agent: Agent): Promise<string | { status: number | undefined; isLast: boolean }> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume();
      response.on('error', (error) => resolve(error.message));
      response.on('end', () =>
        resolve({ status: response.statusCode, isLast: response.headers.connection === 'close' }),
      );
    }).on('error', (error) => resolve(error.message));
  });
}

describe('SIGTERM', () => {
  it('fails no request of 200 a second, slow ones among them, for who asks whether it is ready', async () => {
    const { cli, url, admin } = await start('{ delay: 1s, grace: 20s }');
    const agent = new Agent({ keepAlive: true, maxSockets: 400 });
    const answers: ReturnType<typeof ask>[] = [];
    let isReady = true;
    let turn = 0;
    const begin = performance.now();
    const sending = setInterval(() => {
      // The clock of a busy machine skips: what is due by now is sent now.
      for (const due = (performance.now() - begin) / 5; isReady && turn < due; turn += 1)
        answers.push(ask(`${url}/${turn % 50 === 0 ? 'slow' : 'quick'}`, agent));
    }, 5);
    const looking = setInterval(async () => {
      const { status } = await fetch(`${admin}/readyz`);
      if (status !== 200) isReady = false;
    }, 100);
    while (turn < 400) await new Promise((resolve) => setTimeout(resolve, 20));
    cli.child.kill('SIGTERM');
    while (isReady) await new Promise((resolve) => setTimeout(resolve, 20));
    clearInterval(sending);
    clearInterval(looking);
    const came = await Promise.all(answers);
    agent.destroy();
    expect(came.filter((answer) => typeof answer === 'string' || answer.status !== 200)).toEqual([]);
    expect(came.length).toBeGreaterThanOrEqual(400);
    expect(came.filter((answer) => typeof answer !== 'string' && answer.isLast).length).toBeGreaterThan(0);
    expect((await cli.ended).code).toBe(0);
  });

  it('is not ready at once, serves for the delay, then takes no connections', async () => {
    const { cli, url, admin } = await start('{ delay: 2s, grace: 20s }');
    const agent = new Agent({ keepAlive: false });
    const slow = ask(`${url}/slow`, agent);
    cli.child.kill('SIGTERM');
    await cli.seen(/"delay_ms":2000,"grace_ms":20000,"msg":"stopping"/);
    const readiness = await fetch(`${admin}/readyz`);
    expect([readiness.status, await readiness.text()]).toEqual([503, expect.stringContaining('"status":"stopping"')]);
    expect(await ask(`${url}/quick`, agent)).toEqual({ status: 200, isLast: true });
    let last: Awaited<ReturnType<typeof ask>> = '';
    do last = await ask(`${url}/quick`, agent);
    while (typeof last !== 'string');
    // A connection that waits to be taken when the listener closes is reset.
    expect(last).toMatch(/ECONNREFUSED|ECONNRESET|hang up/);
    expect(await slow).toMatchObject({ status: 200 });
    expect((await cli.ended).code).toBe(0);
  });

  it('cuts what the grace leaves', async () => {
    const { cli, url, upstream } = await start('{ delay: 0s, grace: 200ms }');
    const slow = ask(`${url}/slow`, new Agent());
    while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    cli.child.kill('SIGTERM');
    await cli.seen(/"connections":1,"msg":"grace period expired/);
    expect(typeof (await slow)).toBe('string');
    expect((await cli.ended).code).toBe(0);
  });

  it('a second time ends at once, the log written', async () => {
    const { cli } = await start('{ delay: 1m, grace: 1m }');
    cli.child.kill('SIGTERM');
    await cli.seen(/"msg":"stopping"/);
    cli.child.kill('SIGINT');
    expect((await cli.ended).code).toBe(128 + 2);
  });
});

describe('SIGINT', () => {
  it('waits for nobody to learn of it', async () => {
    const { cli } = await start('{ delay: 1m, grace: 1m }');
    cli.child.kill('SIGINT');
    await cli.seen(/"delay_ms":0,"grace_ms":60000,"msg":"stopping"/);
    expect((await cli.ended).code).toBe(0);
  });
});

describe('a fault that nobody caught', () => {
  it.each([
    ['an error', 'setTimeout(() => { throw new Error("boom of the test"); }, 50)'],
    ['a rejection', 'setTimeout(() => Promise.reject(new Error("boom of the test")), 50)'],
  ])('is written, and ends the process: %s', async (_what, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'crash-'));
    // What is loaded before the command line stands in for a fault of its own.
    writeFileSync(join(folder, 'fault.mjs'), `process.on('SIGUSR2', () => ${code});`);
    const { cli } = await start('{ delay: 1m }', { NODE_OPTIONS: `--import ${join(folder, 'fault.mjs')}` });
    cli.child.kill('SIGUSR2');
    const { code: exit, out } = await cli.ended;
    expect(exit).toBe(1);
    expect(out).toMatch(/"level":60,.*boom of the test.*"msg":"the process ends by a fault of its own"/);
  });
});
