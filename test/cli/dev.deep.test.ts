import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type CliProcess, runCli, startCli } from '../support/cli.ts';
import { MANIFEST } from '../support/platform.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const platform = readFileSync(MANIFEST, 'utf8');
const ADDRESSES = { LISTEN: '127.0.0.1:0', ADMIN: '127.0.0.1:0' };
const SERVING = /is served at (\S+)\. Edit/;

const started: CliProcess[] = [];
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
  for (const close of closers.splice(0)) await close();
});

function startDev(folder: string, args: string[] = [], env: Record<string, string> = {}): CliProcess {
  const cli = startCli(['dev', ...args], folder, { ...ADDRESSES, ...env });
  started.push(cli);
  return cli;
}

async function upstream(handler?: Parameters<typeof startUpstream>[0]): Promise<Upstream> {
  const running = await startUpstream(handler);
  closers.push(() => running.close());
  return running;
}

const OWN = (url: string) => `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${url}' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

describe('dev after init', () => {
  it('responds with the request that the upstream received, also to protected routes, without an account of the platform', async () => {
    const folder = temporaryFolder('dev');
    await runCli(['init'], folder);
    // An empty variable counts as not set.
    const cli = startDev(folder, [], { ECHO_URL: '' });
    await cli.waitFor(/Try:\n(.*\n){3}/);
    const text = cli.err();
    expect(text).toMatch(/^The echo upstream at http:\S+ responds with the request that it received\.$/m);
    // npm prints four more lines before them. The log may have a warning too: a busy machine stops the process for a second.
    const log = cli.out().replace(/^.*"msg":"the process stood still".*\n/gm, '');
    expect((log + text).trimEnd().split('\n').length).toBeLessThanOrEqual(11);
    expect(text).toMatch(/These addresses replace JWKS_URL, ECHO_URL\./m);
    expect(text).not.toMatch(/platform|sandbox|Accounts|password/);
    const commands = text.split('Try:\n')[1]?.trimEnd() ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', commands]);
    const responses = stdout.split(/(?=^HTTP)/m).map((response) => response.split('\r\n\r\n'));
    expect(responses.map(([head = '']) => head.split('\r\n')[0])).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
    const [open, closed] = responses.map(([, body = '']) => JSON.parse(body));
    expect(open).toMatchObject({
      method: 'GET',
      url: '/status',
      headers: { 'X-Forwarded-For': '127.0.0.1' },
      body: '',
    });
    expect(closed).toMatchObject({ url: '/api', headers: { Authorization: expect.stringMatching(/^Bearer eyJ/) } });
    expect(readdirSync(folder).sort()).toEqual(['gateway.test.yaml', 'gateway.yaml']);
  });

  it('serves the service that init was given, and starts no echo upstream', async () => {
    const { url } = await upstream((_request, response) => response.end('mine'));
    const folder = temporaryFolder('dev');
    await runCli(['init', '--upstream', `${url}/hello`], folder);
    const cli = startDev(folder);
    const [, gateway = ''] = await cli.waitFor(SERVING);
    expect(await (await fetch(`${gateway}/hello`)).text()).toBe('mine');
    await cli.waitFor(/Try:\n.*\n/);
    expect(cli.err()).not.toContain('echo');
    expect(cli.err()).toMatch(/This address replaces JWKS_URL\./m);
  });
});

describe('dev with a manifest that refers to no local service', () => {
  it('starts none and writes nothing', async () => {
    const { url } = await upstream((_request, response) => response.end('mine'));
    const folder = temporaryFolder('dev', { 'gateway.yaml': OWN(url) });
    const cli = startDev(folder);
    const [, gateway = ''] = await cli.waitFor(SERVING);
    expect(await (await fetch(`${gateway}/one`)).text()).toBe('mine');
    await cli.waitFor(/Try:\n.*\n/);
    expect(cli.err()).toBe(
      `\ngateway.yaml is served at ${gateway}. Edit gateway.yaml and save it: the gateway reloads it.\n\nTry:\n  curl -i ${gateway}/one\n`,
    );
    expect(readdirSync(folder)).toEqual(['gateway.yaml']);
  });

  it('starts none for variables that the caller sets, and prints no value of the environment', async () => {
    const { url } = await upstream((_request, response) => response.end('mine'));
    const folder = temporaryFolder('dev', { 'gateway.yaml': OWN('${ECHO_URL}') });
    const cli = startDev(folder, [], { ECHO_URL: url });
    const [, gateway = ''] = await cli.waitFor(SERVING);
    expect(await (await fetch(`${gateway}/one`)).text()).toBe('mine');
    await cli.waitFor(/Try:\n.*\n/);
    expect(cli.err()).not.toMatch(/echo|replace/);
    expect(cli.out() + cli.err()).not.toContain(url);
  });
});

describe('dev with the manifest of the platform', () => {
  it('has the echo upstream in place of its services, and a token issuer, for the variables that are not set', async () => {
    const { url } = await upstream((_request, response) => response.end('mine'));
    const folder = temporaryFolder('dev', { 'gateway.yaml': platform });
    const cli = startDev(folder, [], { CERTIFICATES_URL: url });
    const [, gateway = ''] = await cli.waitFor(SERVING);
    await cli.waitFor(/Try:\n(.*\n){3}/);
    const [, names = ''] =
      /These addresses replace (.*)\. A variable that you set takes precedence\.$/m.exec(cli.err()) ?? [];
    const variables = [...platform.matchAll(/\$\{(\w+_URL):-/g)].map(([, name = '']) => name);
    expect(names.split(', ').sort()).toEqual(
      [...new Set(variables)].filter((name) => name !== 'CERTIFICATES_URL').sort(),
    );
    expect(await (await fetch(`${gateway}/api/v1/certificates/7/download`)).text()).toBe('mine');
    const [, getToken = ''] = /TOKEN=\$\(curl -s '(\S+)'\)$/m.exec(cli.err()) ?? [];
    const headers = { Authorization: `Bearer ${await (await fetch(getToken)).text()}` };
    const response = await fetch(`${gateway}/api/contacts`, { headers });
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ url: '/api/contacts' })]);
    expect(cli.err()).not.toMatch(/sandbox|Accounts|password/);
    expect(readdirSync(folder)).toEqual(['gateway.yaml']);
  });
});

describe('dev that fails', () => {
  const portInUse = async () => {
    const server: Server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  };
  const failures: [string, string, (port: number) => string[], number, (port: number) => string][] = [
    ['the manifest has an error', platform.replace('version: 1', 'version: 2'), () => [], 1, () => 'version'],
    [
      'the address is in use',
      platform,
      (port) => ['--listen', `127.0.0.1:${port}`],
      2,
      () => 'another process listens there; change "listen" in the manifest, or use --listen',
    ],
    [
      'an address is invalid',
      platform,
      () => ['--listen', '8080'],
      2,
      () => '--listen 8080: this is not a host and a port',
    ],
  ];

  it.each(failures)('leaves no folder if %s', async (_name, text, argumentsFor, code, message) => {
    const port = await portInUse();
    const folder = temporaryFolder('dev', { 'gateway.yaml': text });
    const result = await startDev(folder, argumentsFor(port)).result;
    expect([result.code, result.err]).toEqual([code, expect.stringContaining(message(port))]);
    expect(readdirSync(folder)).toEqual(['gateway.yaml']);
  });

  it('leaves no folder if there is no manifest, and names the command that creates one', async () => {
    const folder = temporaryFolder('dev');
    const { code, err } = await startDev(folder).result;
    expect([code, err]).toEqual([
      2,
      'signing-gateway: gateway.yaml: no such file; create it with "signing-gateway init", or name another manifest\n',
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('dev that stops', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends open requests at once on %s and exits with 0', async (signal) => {
    const { promise: received, resolve } = Promise.withResolvers<void>();
    const { url } = await upstream(() => resolve());
    const cli = startDev(temporaryFolder('dev', { 'gateway.yaml': OWN(url) }));
    const [, gateway = ''] = await cli.waitFor(SERVING);
    const response = fetch(`${gateway}/one`).catch(() => 'cut');
    await received;
    cli.child.kill(signal);
    expect((await cli.result).code).toBe(0);
    expect(await response).toBe('cut');
    expect(cli.out()).toMatch(/"delay_ms":0,"grace_ms":0,"msg":"stopping"/);
  });

  it('stops when npm ends without passing its signal on', async () => {
    const { url } = await upstream();
    const folder = temporaryFolder('dev', { 'gateway.yaml': OWN(url) });
    // The shell is the parent of the gateway, as in a command that npm runs, and ends before it.
    const { execPath } = process;
    const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
    const script = `"${execPath}" "${main}" dev >out 2>err & while ! grep -q served err; do sleep 0.05; done; echo $!`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      cwd: folder,
      env: { ...process.env, npm_command: 'exec' },
    });
    await eventually('the gateway ends', () => !existsSync(`/proc/${stdout.trim()}/exe`));
    expect(readFileSync(join(folder, 'out'), 'utf8')).toMatch(
      /"signal":"SIGTERM".*"msg":"stopping"[\s\S]*"msg":"stopped"/,
    );
  });
});
