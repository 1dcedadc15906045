import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { createPair } from '../support/certificate.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const REST = `upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
const manifestOf = (admin: string, rest = REST) => `version: 1
listen: 127.0.0.1:0
admin: ${admin}
${rest}`;
const TOKEN = '7mWq2vXc9RtLkP4zGhN8';

const folderWith = (text: string) => temporaryFolder('health', { 'gateway.yaml': text });

/** Runs `health` with a manifest that has this value of `admin`. */
const health = (admin: string, args: string[] = [], env: Record<string, string> = {}, rest = REST) =>
  runCli(['health', ...args], folderWith(manifestOf(admin, rest)), env);

let site: GatewayWithAdmin;
let isStopping = false;
beforeAll(async () => {
  site = await startGatewayWithAdmin(manifestOf('127.0.0.1:0'), {}, {}, { isStopping: () => isStopping });
});
afterAll(() => site.close());

describe('health', () => {
  it('exits with 0 while the gateway is ready', async () => {
    expect(await health(`127.0.0.1:${site.admin.port}`)).toEqual({ code: 0, out: 'ready\n', err: '' });
    const folder = folderWith(manifestOf(`127.0.0.1:${site.admin.port}`));
    expect((await runCli(['health', '-c', join(folder, 'gateway.yaml')], tmpdir())).out).toBe('ready\n');
  });

  it('exits with 1 while the gateway is stopping, but with 0 for --live', async () => {
    isStopping = true;
    const ready = await health(`127.0.0.1:${site.admin.port}`);
    expect(ready).toEqual({ code: 1, out: 'stopping: the process is stopping\n', err: '' });
    const live = await health(`127.0.0.1:${site.admin.port}`, ['--live']);
    expect(live).toEqual({ code: 0, out: 'alive\n', err: '' });
    isStopping = false;
  });

  it.each([
    ['a route is wrong', REST.replace('access: public', 'acess: public')],
    ['a variable is missing', REST.replace('http://127.0.0.1:9', '${NOT_THERE}')],
    ['the file is truncated', REST.slice(0, -30)],
    ['the file is not YAML', `${REST}\t- {`],
  ])('ignores other errors in the manifest, because the last good one stays active: %s', async (_name, rest) => {
    const { code, out } = await health(`127.0.0.1:${site.admin.port}`, [], {}, rest);
    expect([code, out]).toEqual([0, 'ready\n']);
  });

  it.each([
    ['as a variable', () => ["'${ADMIN}'", { ADMIN: `127.0.0.1:${site.admin.port}` }] as const],
    ['as a map', () => [`{ listen: 'localhost:${site.admin.port}' }`, {}] as const],
    [
      'over several lines, with a token that the probe does not send',
      () =>
        [
          `\n\n  # comment\n# comment\n  listen: '0.0.0.0:${site.admin.port}'\n  token: '\${TOKEN}'`,
          { TOKEN },
        ] as const,
    ],
    ['as an alias', () => [`&here 127.0.0.1:${site.admin.port}\n"listen": *here`, {}] as const],
  ])('reads an address that is written %s', async (_name, createArguments) => {
    const [admin, env] = createArguments();
    const { code, out, err } = await health(admin, [], env);
    expect([code, out], err).toEqual([0, 'ready\n']);
  });

  it('connects over TLS, also to a listener that requires client certificates', async () => {
    const [server, client] = [createPair(), createPair({ name: 'operator' })];
    const files = { 's.crt': server.certificate, 's.key': server.key, 'ca.crt': client.certificate };
    const tls = '{ certificate: s.crt, key: s.key, clientCa: ca.crt }';
    const restricted = await startGatewayWithAdmin(manifestOf(`{ listen: '127.0.0.1:0', tls: ${tls} }`), {}, files);
    const { code, out } = await health(`{ listen: '127.0.0.1:${restricted.admin.port}', tls: ${tls} }`);
    expect([code, out]).toEqual([0, 'ready\n']);
    await restricted.close();
  });

  it('checks which manifest is active, with the token and only to the certificate of the manifest', async () => {
    const [pair, other] = [createPair(), createPair()];
    const tls = '{ certificate: s.crt, key: s.key }';
    const files = { 's.crt': pair.certificate, 's.key': pair.key };
    const text = (port: number) => manifestOf(`{ listen: '127.0.0.1:${port}', token: '\${TOKEN}', tls: ${tls} }`);
    const serving = await startGatewayWithAdmin(text(0), { TOKEN }, files);
    const { hash } = serving.gateway.plan;
    const run = (args: string[], env = { TOKEN }, certificate = pair.certificate) => {
      const folder = temporaryFolder('health', { 'gateway.yaml': text(serving.admin.port), 's.crt': certificate });
      return runCli(['health', ...args], folder, env);
    };
    for (const part of [hash, hash.slice(0, 8)])
      expect(await run(['--hash', part])).toEqual({ code: 0, out: 'ready\n', err: '' });
    const another = await run(['--hash', '0123456789']);
    expect([another.code, another.out]).toEqual([1, `another manifest is active: ${hash}\n`]);
    expect((await run(['--hash', hash], { TOKEN: TOKEN.replace('7', '8') })).out).toMatch(/^status 401/);
    expect((await run(['--hash', hash], { TOKEN }, other.certificate)).code).toBe(1);
    for (const args of [
      ['--hash', 'abc'],
      ['--hash', hash, '--live'],
    ])
      expect((await run(args)).code).toBe(2);
    await serving.close();
  });

  it('exits with 1 if nothing listens or the response does not arrive in time', async () => {
    const silent = await startSilentServer();
    const { port } = silent.address() as { port: number };
    const late = await health(`127.0.0.1:${port}`, ['--timeout', '50ms']);
    const url = `http://127.0.0.1:${port}/readyz`;
    expect(late).toEqual({ code: 1, out: `no response from ${url}: timed out after 50 ms\n`, err: '' });
    await new Promise((resolve) => silent.close(resolve));
    expect(await health(`127.0.0.1:${port}`)).toEqual({
      code: 1,
      out: `no response from ${url}: ECONNREFUSED\n`,
      err: '',
    });
  });

  it.each([
    [
      'a timeout without a unit',
      '127.0.0.1:9',
      ['--timeout', '2'],
      '"2" is not a valid timeout; write for example 500ms or 2s',
    ],
    ['port 0', '127.0.0.1:0', [], '"admin" has port 0'],
    ['an invalid address', 'here', [], '"admin" is missing or invalid; write admin: 127.0.0.1:9901'],
    ['two manifests', '127.0.0.1:9', ['a.yaml', 'b.yaml'], 'expected one manifest, got 2'],
    ['a missing manifest', '127.0.0.1:9', ['a.yaml'], 'a.yaml: no such file'],
  ])('exits with 2 for %s', async (_name, admin, args, message) => {
    const { code, out, err } = await health(admin, args);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
  });
});

/** Starts a server that accepts connections and never responds. */
function startSilentServer(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer((socket) => void socket.resume().on('error', () => undefined));
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
