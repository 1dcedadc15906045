import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/site.ts';
import { startUpstream } from '../support/upstream.ts';
import { PLATFORM_MANIFEST, platformFolder, start } from './start.ts';

const FREE_PORTS = ['--sandbox-ports', '0,0'];

describe('npm start', () => {
  it('links the page of the sandbox, which has the address of the gateway, and keeps jobs visible', async () => {
    const cli = start(platformFolder(), ['--job-time', '60m']);
    const [, gateway = ''] = await cli.waitFor(/served at (\S+)\. Edit/);
    const [, page = ''] = await cli.waitFor(/a command for each flow of the platform: (\S+)/);
    expect(await (await fetch(page)).text()).toContain(`\nGATEWAY=${gateway}\nSANDBOX=${page}\n`);
    const send = async (method: string, path: string, token?: string, body?: object) => {
      const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
      const response = await fetch(gateway + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return ((await response.json()) as { data: Record<string, string> }).data;
    };
    const credentials = { email: 'user@acme.example', password: 'demo-password' };
    const { access_token } = await send('POST', '/api/v1/login', undefined, credentials);
    const { id } = await send('POST', '/api/edm/export', access_token, {});
    expect(await send('GET', `/api/edm/export/${id}`, access_token)).toEqual({ id, status: 'queued' });
  });

  it('names the variables that it sets, which are not those of the caller', async () => {
    const { url, close } = await startUpstream((_request, response) => response.end('mine'));
    const cli = start(platformFolder(), FREE_PORTS, { CERTIFICATES_URL: url });
    const [, names = ''] = await cli.waitFor(
      /^These addresses replace (.*)\. A variable that you set takes precedence\.$/m,
    );
    const variables = [...PLATFORM_MANIFEST.matchAll(/\$\{(\w+_URL):-/g)].map(([, name = '']) => name);
    expect(names.split(', ').sort()).toEqual(
      [...new Set(variables)].filter((name) => name !== 'CERTIFICATES_URL').sort(),
    );
    const [, gateway = ''] = await cli.waitFor(/is served at (\S+)\. Edit/);
    expect(await (await fetch(`${gateway}/api/v1/certificates/7/download`)).text()).toBe('mine');
    await cli.waitFor(/Accounts:/);
    await close();
  });

  it('promises no accounts if the gateway does not accept their tokens', async () => {
    const cli = start(platformFolder(), FREE_PORTS, { TOKEN_ISSUER: 'https://other.example' });
    await cli.waitFor(/Try:\n.*\n/);
    expect(cli.err()).toMatch(/^gateway\.yaml is served at /m);
    expect(cli.err()).not.toMatch(/Accounts|password|signing platform is served|other\.example/);
  });

  it('uses the ports of --sandbox-ports', async () => {
    const [identity, services] = [await freePort(), await freePort()];
    const cli = start(platformFolder(), ['--sandbox-ports', `${identity},${services}`]);
    await cli.waitFor(
      new RegExp(`identity http://127\\.0\\.0\\.1:${identity}, platform http://127\\.0\\.0\\.1:${services},`),
    );
  });

  it('reports a rejected manifest', async () => {
    const folder = platformFolder();
    const cli = start(folder, FREE_PORTS);
    await cli.waitFor(/Accounts:/);
    writeFileSync(join(folder, 'gateway.yaml'), PLATFORM_MANIFEST.replace('version: 1', 'version: 2'));
    await cli.waitFor(/gateway\.yaml:5:\d+ error/);
  });
});

describe('npm start that fails', () => {
  const failures: [string, string, (port: number) => string[], number, (port: number) => string][] = [
    ['the manifest has an error', PLATFORM_MANIFEST.replace('version: 1', 'version: 2'), () => [], 1, () => 'version'],
    [
      'a port of the sandbox is in use',
      PLATFORM_MANIFEST,
      (port) => ['--sandbox-ports', `0,${port}`],
      2,
      (port) => `port ${port} is in use; choose other ports with --sandbox-ports`,
    ],
    [
      'the address is in use',
      PLATFORM_MANIFEST,
      (port) => [...FREE_PORTS, '--listen', `127.0.0.1:${port}`],
      2,
      () => 'another process listens there; change "listen" in the manifest, or use --listen',
    ],
    [
      'the ports are invalid',
      PLATFORM_MANIFEST,
      () => ['--sandbox-ports', '7101'],
      2,
      () => 'write two ports, for identity and platform, for example 7101,7102',
    ],
    [
      'an address is invalid',
      PLATFORM_MANIFEST,
      () => ['--listen', '8080'],
      2,
      () => '--listen 8080: this is not a host and a port',
    ],
    ['an option is unknown', PLATFORM_MANIFEST, () => ['--port', '8080'], 2, () => 'Usage: npm start -- [--listen'],
  ];

  it.each(failures)('leaves no folder if %s', async (_name, manifest, argumentsFor, code, message) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const folder = platformFolder(manifest);
    const result = await start(folder, argumentsFor(port)).result;
    server.close();
    expect([result.code, result.err]).toEqual([code, expect.stringContaining(message(port))]);
    expect(readdirSync(folder)).toEqual(['gateway.yaml']);
  });

  it('refuses a job time that is no duration, and creates nothing', async () => {
    const folder = platformFolder();
    for (const time of ['3', '-1s', 's', '3 s', '1h']) {
      const { code, err } = await start(folder, [`--job-time=${time}`]).result;
      expect([code, err]).toEqual([
        2,
        expect.stringContaining(`--job-time ${time}: write a duration, for example 500ms or 3s`),
      ]);
    }
    expect(existsSync(join(folder, '.sandbox'))).toBe(false);
  });

  it('keeps the data of an earlier sandbox, even with --reset', async () => {
    const folder = platformFolder('version: 1\n');
    mkdirSync(join(folder, '.sandbox'));
    writeFileSync(join(folder, '.sandbox/sandbox.db'), 'data');
    expect((await start(folder, ['--reset']).result).code).toBe(1);
    expect(readFileSync(join(folder, '.sandbox/sandbox.db'), 'utf8')).toBe('data');
  });
});

describe('npm start that stops', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 on %s, and ends the gateway', async (signal) => {
    const cli = start(platformFolder(), FREE_PORTS);
    const [, gateway = ''] = await cli.waitFor(/is served at (\S+)\. Edit/);
    cli.child.kill(signal);
    expect((await cli.result).code).toBe(0);
    expect(cli.out()).toContain('"msg":"stopped"');
    await expect(fetch(gateway)).rejects.toThrow();
  });

  it('stops when npm ends without passing its signal on, and the gateway stops when this process is killed', async () => {
    const folder = platformFolder();
    const program = new URL('../../examples/platform/start.ts', import.meta.url).pathname;
    const script = `"${process.execPath}" "${program}" ${FREE_PORTS.join(' ')} >out 2>err & while ! grep -q served err; do sleep 0.05; done; echo $!`;
    const env = { ...process.env, npm_command: 'start', LISTEN: '127.0.0.1:0', ADMIN: '127.0.0.1:0' };
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env });
    await eventually('the process ends', () => !existsSync(`/proc/${stdout.trim()}/exe`));
    expect(readFileSync(join(folder, 'out'), 'utf8')).toContain('"msg":"stopped"');

    const cli = start(folder, FREE_PORTS);
    await cli.waitFor(/Accounts:/);
    cli.child.kill('SIGKILL');
    await cli.result;
    expect(cli.out()).toContain('"msg":"stopped"');
  });
});
