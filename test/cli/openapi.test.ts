import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams: { up: { url: '\${UP}' } }
routes:
  - { id: notes, method: GET, path: '/notes/{id}', upstream: up, access: public }
`;
const folder = temporaryFolder('openapi', { 'gateway.yaml': MANIFEST, 'broken.yaml': 'version: 2\n' });
const run = (...args: string[]) => runCli(['openapi', ...args], folder, { UP: 'http://secret.internal:1' });

describe('openapi', () => {
  it('prints the document of a manifest, without values from the environment', async () => {
    const { code, out, err } = await run();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(Object.keys(JSON.parse(out).paths)).toEqual(['/notes/{id}']);
    expect(out).not.toContain('secret.internal');
  });

  it('writes it into a file', async () => {
    expect(await run('gateway.yaml', '-o', 'openapi.json')).toEqual({ code: 0, out: '', err: '' });
    expect(readFileSync(join(folder, 'openapi.json'), 'utf8')).toBe((await run()).out);
  });

  it('exits with 1 for a manifest with errors', async () => {
    const { code, out, err } = await run('broken.yaml');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('broken.yaml:1:10 error');
  });
});
