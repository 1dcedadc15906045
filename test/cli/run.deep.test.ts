import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createPair } from '../support/certificate.ts';
import { type CliProcess, startCli } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const started: CliProcess[] = [];
const upstreams: Upstream[] = [];

afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
  for (const upstream of upstreams.splice(0)) await upstream.close();
});

function start(args: string[], files: Record<string, string>, env: Record<string, string> = {}) {
  const folder = temporaryFolder('run', files);
  const cli = startCli(args, folder, { LISTEN: '127.0.0.1:0', ADMIN: '127.0.0.1:0', ...env });
  started.push(cli);
  return { folder, ...cli };
}

const GOOD = (url: string) => `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: ${url} } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
server: { stopping: { delay: 0s } }
`;

const SERVING = /"url":"(http:[^"]+)".*"msg":"serving"/;

describe('run', () => {
  it('activates a saved manifest, and keeps the last good one if the saved one has errors', async () => {
    const upstream = await startUpstream();
    upstreams.push(upstream);
    const cli = start(['run'], { 'gateway.yaml': GOOD(upstream.url) });
    const [, url = ''] = await cli.waitFor(SERVING);
    const file = join(cli.folder, 'gateway.yaml');
    const status = async (path: string) => (await fetch(url + path)).status;
    expect([await status('/one'), await status('/two')]).toEqual([200, 404]);

    writeFileSync(file, GOOD(upstream.url).replace('/one', '/two'));
    await cli.waitFor(/manifest reloaded/);
    await cli.waitFor(/^the saved manifest is active; changed: one; now public: one$/m);
    expect([await status('/one'), await status('/two')]).toEqual([404, 200]);

    writeFileSync(file, GOOD(upstream.url).replace('access', 'acess'));
    await cli.waitFor(/manifest rejected/);
    await cli.waitFor(/gateway\.yaml:5:\d+ error unknown key "acess"; did you mean "access"\?/);
    expect([await status('/one'), await status('/two')]).toEqual([404, 200]);

    rmSync(file);
    await cli.waitFor(/manifest cannot be read/);
    expect(await status('/two')).toBe(200);
  });

  it('serves TLS, reloads a renewed certificate and never prints its key', async () => {
    const [oldPair, newPair] = [createPair(), createPair()];
    const tls = 'tls: { certificate: a.crt, key: a.key }';
    const text = GOOD('http://127.0.0.1:9').replace('server: {', `server: { ${tls},`);
    const cli = start(['run'], { 'gateway.yaml': text, 'a.crt': oldPair.certificate, 'a.key': oldPair.key });
    await cli.waitFor(/"url":"https:[^"]+".*"msg":"serving"/);
    writeFileSync(join(cli.folder, 'a.key'), newPair.key);
    await cli.waitFor(/gateway\.yaml:6:\d+ error this key does not belong to the certificate/);
    writeFileSync(join(cli.folder, 'a.crt'), newPair.certificate);
    await cli.waitFor(/^the saved manifest is active; server: tls$/m);
    for (const { key } of [oldPair, newPair]) expect(cli.out() + cli.err()).not.toContain(key.split('\n')[1]);
  });

  it('reloads on SIGHUP and logs both hashes and a summary of the change', async () => {
    const cli = start(['run'], { 'gateway.yaml': GOOD('http://127.0.0.1:9') });
    const [, hash = ''] = await cli.waitFor(/"hash":"([0-9a-f]{64})".*"msg":"serving"/);
    // The manual finds the process by this name.
    if (process.platform === 'linux')
      expect(readFileSync(`/proc/${cli.child.pid}/comm`, 'utf8').trim()).toBe('signing-gateway');
    cli.child.kill('SIGHUP');
    await cli.waitFor(/"cause":"signal","msg":"manifest unchanged; nothing was reloaded"/);
    writeFileSync(join(cli.folder, 'gateway.yaml'), GOOD('http://127.0.0.1:9').replaceAll('one', 'two'));
    cli.child.kill('SIGHUP');
    const [line] = await cli.waitFor(/.*"msg":"manifest reloaded"/);
    const entry = JSON.parse(`${line}}`);
    expect(entry).toMatchObject({ old_hash: hash, files: ['gateway.yaml'], added: ['two'], removed: ['one'] });
    expect(entry.summary).toBe('1 route added, 1 route removed, 1 now public');
    expect(entry.hash).not.toBe(hash);
  });

  it('logs the keys that need a restart and activates the other changes', async () => {
    const cli = start(['run'], { 'gateway.yaml': GOOD('http://127.0.0.1:9') });
    await cli.waitFor(SERVING);
    const moved = GOOD('http://127.0.0.1:9').replace('127.0.0.1:0', '127.0.0.1:1').replaceAll('one', 'two');
    writeFileSync(join(cli.folder, 'gateway.yaml'), moved);
    await cli.waitFor(/"keys":\["listen"\],"msg":"these keys take effect only after a restart; restart the gateway"/);
    await cli.waitFor(
      /^the saved manifest is active; added: two; removed: one; now public: two; needs a restart: listen$/m,
    );
  });

  it('prints the changed file if no route or upstream changed', async () => {
    const text = `${GOOD('http://127.0.0.1:9')}reload: { selfTest: self.test.yaml }\n`;
    const selfTest =
      'version: 1\ncases:\n  - { name: a, request: { method: GET, url: /one }, expect: { status: 200 } }\n';
    const cli = start(['run'], { 'gateway.yaml': text, 'self.test.yaml': selfTest });
    await cli.waitFor(SERVING);
    writeFileSync(join(cli.folder, 'self.test.yaml'), `${selfTest}# again\n`);
    await cli.waitFor(/^the saved manifest is active; routes and upstreams are unchanged; saved: self\.test\.yaml$/m);
  });

  it('exits with 1 if the manifest fails its self-test at startup', async () => {
    const text = `${GOOD('http://127.0.0.1:9')}reload: { selfTest: self.test.yaml }\n`;
    const selfTest =
      'version: 1\ncases:\n  - { name: a, request: { method: GET, url: /one }, expect: { status: 404 } }\n';
    const { code, out, err } = await start(['run'], { 'gateway.yaml': text, 'self.test.yaml': selfTest }).result;
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('self.test.yaml:3:71 error "a" fails: status is 200, not 404 [self-test]\n  1 │ version: 1');
  });

  it('exits with 1 and prints the problems if the manifest has errors at startup', async () => {
    const cli = start(['run'], { 'gateway.yaml': 'version: 2\n' });
    const { code, out, err } = await cli.result;
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^gateway\.yaml:1:10 error 2 is not supported here; write 1/m);
  });

  it('exits with 2 if its port is in use, and prints which key to change', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const cli = start(['run'], { 'gateway.yaml': GOOD('http://127.0.0.1:9').replace(':0\n', `:${port}\n`) });
    const { code, err } = await cli.result;
    other.close();
    expect(code).toBe(2);
    expect(err).toBe(
      `signing-gateway: cannot listen on 127.0.0.1:${port}: another process listens there; change "listen" in the manifest, or use --listen\n`,
    );
  });

  it('finishes a request in flight on SIGTERM and exits with 0', async () => {
    let respond: () => void = () => undefined;
    const received = new Promise<void>((resolve) => {
      void startUpstream((_request, response) => {
        respond = () => response.end('late');
        resolve();
      }).then((upstream) => upstreams.push(upstream));
    });
    await new Promise((resolve) => setImmediate(resolve));
    while (upstreams.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const cli = start(['run'], { 'gateway.yaml': GOOD(upstreams[0]?.url ?? '') });
    const [, url = ''] = await cli.waitFor(SERVING);
    const response = fetch(`${url}/one`).then((received) => received.text());
    await received;
    cli.child.kill('SIGTERM');
    await cli.waitFor(/"msg":"stopping"/);
    respond();
    expect(await response).toBe('late');
    expect((await cli.result).code).toBe(0);
    expect(cli.out()).toMatch(/"msg":"stopped"/);
  });

  it('exits at once on a second signal', async () => {
    const upstream = await startUpstream(() => undefined);
    upstreams.push(upstream);
    const cli = start(['run'], { 'gateway.yaml': GOOD(upstream.url) });
    const [, url = ''] = await cli.waitFor(SERVING);
    const response = fetch(`${url}/one`).catch(() => 'cut');
    while (upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    cli.child.kill('SIGTERM');
    await cli.waitFor(/"msg":"stopping"/);
    cli.child.kill('SIGTERM');
    expect((await cli.result).code).toBe(128 + 15);
    expect(await response).toBe('cut');
  });
});

describe('the admin API', () => {
  it('reports liveness, readiness, status and a rejected manifest', async () => {
    const port = await freePort();
    const text = `${GOOD('http://127.0.0.1:9')}admin: 127.0.0.1:${port}\n`;
    const cli = start(['run'], { 'gateway.yaml': text });
    await cli.waitFor(SERVING);
    const getJson = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).json();
    expect(await getJson('/livez')).toEqual({ status: 'alive' });
    expect(await getJson('/readyz')).toEqual({ status: 'ready', reasons: [] });
    expect(await getJson('/status')).toMatchObject({ manifest: { routes: 1 }, last_reload: null });
    writeFileSync(join(cli.folder, 'gateway.yaml'), text.replace('method: GET', 'method: get'));
    await cli.waitFor(/manifest rejected/);
    expect(await getJson('/readyz')).toEqual({ status: 'degraded', reasons: ['the saved manifest was rejected'] });
    expect(await getJson('/status')).toMatchObject({
      last_reload: { result: 'rejected', problems: [{ line: 5, column: 24 }] },
    });
  });

  it('reloads on request and responds with the outcome', async () => {
    const port = await freePort();
    const text = `${GOOD('http://127.0.0.1:9')}admin: 127.0.0.1:${port}\n`;
    const cli = start(['run'], { 'gateway.yaml': text });
    const [, url = ''] = await cli.waitFor(SERVING);
    const requestReload = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/-/reload`, { method: 'POST' });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect(await requestReload()).toMatchObject({ status: 200, body: { result: 'unchanged', cause: 'request' } });
    writeFileSync(join(cli.folder, 'gateway.yaml'), text.replace('access: public', 'access: publik'));
    expect(await requestReload()).toMatchObject({
      status: 422,
      body: { result: 'rejected', problems: [{ line: 5, rule: 'schema', frame: expect.stringContaining('^^^^^^') }] },
    });
    writeFileSync(join(cli.folder, 'gateway.yaml'), text.replaceAll('one', 'two'));
    const { status, body } = await requestReload();
    const statusOf = async () =>
      (await (await fetch(`http://127.0.0.1:${port}/status`)).json()) as { last_reload: Record<string, unknown> };
    // The watcher may have reloaded the file before the request arrived. Then nothing was left to do.
    const { last_reload: last } = await statusOf();
    expect([status, last['result'], last['summary']]).toEqual([
      200,
      'accepted',
      '1 route added, 1 route removed, 1 now public',
    ]);
    expect((await fetch(`${url}/one`)).status).toBe(404);
    rmSync(join(cli.folder, 'gateway.yaml'));
    expect(await requestReload()).toMatchObject({ status: 503, body: { result: 'unreadable', hash: body['hash'] } });
    const report = await statusOf();
    expect(report).toMatchObject({ last_reload: { result: 'unreadable' }, needs_restart: [] });
    expect((await fetch(`http://127.0.0.1:${port}/-/reload`)).status).toBe(405);
  });
});
