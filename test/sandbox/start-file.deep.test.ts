import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { request, startSandbox } from './client.ts';
import { platformFolder, start } from './start.ts';

describe('npm start', () => {
  it('serves the platform with the sandbox, and prints commands that work when pasted', async () => {
    const cli = start(platformFolder(), ['--sandbox-ports', '0,0']);
    await cli.waitFor(/Try:\n(.*\n){3}/);
    const lines = cli.err().split('Try:\n')[1]?.trimEnd() ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', lines]);
    expect(stdout).toContain('"data":[{');
    expect(stdout).toContain('"per_page":2');
    expect(stdout).toContain('"message":"API gateway is restricted to company admin and user roles"');
    cli.child.kill('SIGINT');
    expect((await cli.result).code).toBe(0);
  });

  it('keeps the data of an earlier start, and deletes it with --reset', async () => {
    const folder = platformFolder();
    mkdirSync(join(folder, '.sandbox'));
    const earlier = await startSandbox(join(folder, '.sandbox/sandbox.db'));
    await request(earlier.identityUrl, 'POST /api/v1/password/forgot', { json: { email: 'user@acme.example' } });
    await earlier.close();
    const countEmails = async (...args: string[]) => {
      const cli = start(folder, ['--sandbox-ports', '0,0', ...args]);
      const [, identity = ''] = await cli.waitFor(/emails (\S+)\/outbox/);
      const { body } = await request(identity, 'GET /outbox');
      cli.child.kill('SIGINT');
      await cli.result;
      return body.data.length;
    };
    expect(await countEmails()).toBe(1);
    expect(await countEmails('--reset')).toBe(0);
  });
});
