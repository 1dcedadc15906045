import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type CliProcess, startCli } from '../support/cli.ts';
import { pause } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const started: CliProcess[] = [];
const upstreams: Upstream[] = [];

// Most of the time of these tests is spent on delays, so they run concurrently and clean up at the end.
afterAll(async () => {
  for (const { child, result } of started) {
    child.kill('SIGKILL');
    await result;
  }
  for (const upstream of upstreams) await upstream.close();
});

const SLOW_MS = 5_000;

/** Starts a gateway in its own process and returns its URL and that of its admin API. */
async function start(stopping: string, env: Record<string, string> = {}) {
  const upstream = await startUpstream((request, response) => {
    void pause(request.url === '/slow' ? SLOW_MS : 0).then(() => response.end('ok'));
  });
  upstreams.push(upstream);
  const text = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { stopping: ${stopping} }
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
`;
  const folder = temporaryFolder('stopping', { 'gateway.yaml': text });
  const cli = startCli(['run'], folder, env);
  started.push(cli);
  const [, url = '', admin = ''] = await cli.waitFor(/"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/);
  return { cli, url, admin, upstream };
}

/** Returns the status of the response and whether the connection closes after it, or the error message. */
function send(url: string, agent: Agent): Promise<string | { status: number | undefined; isLast: boolean }> {
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

describe.concurrent('SIGTERM', () => {
  it('fails none of 200 requests per second, even slow ones, for a client that checks readiness', async () => {
    // The client has to notice within the delay that the gateway is not ready, also on a busy machine.
    const { cli, url, admin } = await start('{ delay: 4s, grace: 20s }');
    const agent = new Agent({ keepAlive: true, maxSockets: 400 });
    const responses: ReturnType<typeof send>[] = [];
    let isReady = true;
    let turn = 0;
    const startedAt = performance.now();
    const sending = setInterval(() => {
      // Timers run late on a busy machine, so send all requests that are due.
      for (const due = (performance.now() - startedAt) / 5; isReady && turn < due; turn += 1)
        responses.push(send(`${url}/${turn % 50 === 0 ? 'slow' : 'quick'}`, agent));
    }, 5);
    const checking = setInterval(async () => {
      const { status } = await fetch(`${admin}/readyz`);
      if (status !== 200) isReady = false;
    }, 100);
    await eventually('400 requests are sent', () => turn >= 400);
    cli.child.kill('SIGTERM');
    await eventually('the gateway is unready', () => !isReady);
    clearInterval(sending);
    clearInterval(checking);
    const results = await Promise.all(responses);
    agent.destroy();
    expect(results.filter((result) => typeof result === 'string' || result.status !== 200)).toEqual([]);
    expect(results.length).toBeGreaterThanOrEqual(400);
    expect(results.filter((result) => typeof result !== 'string' && result.isLast).length).toBeGreaterThan(0);
    expect((await cli.result).code).toBe(0);
  });

  it('makes the gateway unready at once, keeps serving for the delay, then closes the listener', async () => {
    const { cli, url, admin } = await start('{ delay: 4s, grace: 20s }');
    const agent = new Agent({ keepAlive: false });
    const slow = send(`${url}/slow`, agent);
    cli.child.kill('SIGTERM');
    await cli.waitFor(/"delay_ms":4000,"grace_ms":20000,"msg":"stopping"/);
    const readiness = await fetch(`${admin}/readyz`);
    expect([readiness.status, await readiness.text()]).toEqual([503, expect.stringContaining('"status":"stopping"')]);
    expect(await send(`${url}/quick`, agent)).toEqual({ status: 200, isLast: true });
    let last: Awaited<ReturnType<typeof send>> = '';
    do last = await send(`${url}/quick`, agent);
    while (typeof last !== 'string');
    // The kernel resets connections that the listener has not accepted when it closes.
    expect(last).toMatch(/ECONNREFUSED|ECONNRESET|hang up/);
    expect(await slow).toMatchObject({ status: 200 });
    expect((await cli.result).code).toBe(0);
  });

  it('cuts the requests that are in flight after the grace period', async () => {
    const { cli, url, upstream } = await start('{ delay: 0s, grace: 200ms }');
    const slow = send(`${url}/slow`, new Agent());
    await eventually('the request reaches the upstream', () => upstream.requests.length > 0);
    cli.child.kill('SIGTERM');
    await cli.waitFor(/"connections":1,"msg":"grace period expired/);
    expect(typeof (await slow)).toBe('string');
    expect((await cli.result).code).toBe(0);
  });

  it('exits at once on a second signal, after the log is written', async () => {
    const { cli } = await start('{ delay: 1m, grace: 1m }');
    cli.child.kill('SIGTERM');
    await cli.waitFor(/"msg":"stopping"/);
    cli.child.kill('SIGINT');
    expect((await cli.result).code).toBe(128 + 2);
  });
});

describe.concurrent('SIGINT', () => {
  it('stops without the delay', async () => {
    const { cli } = await start('{ delay: 1m, grace: 1m }');
    cli.child.kill('SIGINT');
    await cli.waitFor(/"delay_ms":0,"grace_ms":60000,"msg":"stopping"/);
    expect((await cli.result).code).toBe(0);
  });
});

describe.concurrent('an uncaught error', () => {
  it.each([
    ['an error', 'setImmediate(() => { throw new Error("boom of the test"); })'],
    ['a rejection', 'setImmediate(() => Promise.reject(new Error("boom of the test")))'],
  ])('is logged and ends the process: %s', async (_case, code) => {
    // A module that the process loads first throws the error.
    const folder = temporaryFolder('crash', { 'crash.mjs': `process.on('SIGUSR2', () => ${code});` });
    const { cli } = await start('{ delay: 1m }', { NODE_OPTIONS: `--import ${join(folder, 'crash.mjs')}` });
    cli.child.kill('SIGUSR2');
    const { code: exit, out } = await cli.result;
    expect(exit).toBe(1);
    expect(out).toMatch(/"level":60,.*boom of the test.*"msg":"the process exits after an unexpected error"/);
  });
});
