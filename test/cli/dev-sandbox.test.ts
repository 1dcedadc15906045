import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli, startCli } from '../support/cli.ts';
import { MANIFEST } from '../support/platform.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ENVIRONMENT = { LISTEN: '127.0.0.1:0', ADMIN: '127.0.0.1:0' };
const files = { 'gateway.yaml': readFileSync(MANIFEST, 'utf8') };

it('dev links the page of the sandbox, which has the address of the gateway, and keeps jobs visible', async () => {
  const cli = startCli(['dev', '--job-time', '60m'], temporaryFolder('dev', files), ENVIRONMENT);
  try {
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
  } finally {
    cli.child.kill('SIGINT');
    await cli.result;
  }
});

it('dev refuses a job time that is no duration, and creates nothing', async () => {
  const folder = temporaryFolder('dev', files);
  for (const time of ['3', '-1s', 's', '3 s', '1h']) {
    const { code, err } = await runCli(['dev', `--job-time=${time}`], folder, ENVIRONMENT);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`--job-time ${time}: write a duration, for example 500ms or 3s`),
    ]);
  }
  expect(existsSync(join(folder, '.sandbox'))).toBe(false);
});
