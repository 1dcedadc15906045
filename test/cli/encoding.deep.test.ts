import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams:
  up: { url: http://127.0.0.1:1 }
routes:
  - { id: one, method: POST, path: /one, upstream: up, access: public }
`;
const MESSAGE = 'the byte 0xE9 is not UTF-8 here; save the file as UTF-8';

/** Creates a folder with these files. The character é is one byte, which is not UTF-8. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('encoding');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), Buffer.from(text, 'latin1'));
  return folder;
}

describe('a byte that is not UTF-8', () => {
  it.each([
    ['lint', ['lint', 'gateway.yaml']],
    ['fmt', ['fmt', 'gateway.yaml']],
    ['routes', ['routes', 'gateway.yaml']],
    ['explain', ['explain', 'GET', '/one']],
    ['run', ['run']],
  ])('in the manifest is an error of %s', async (_name, args) => {
    const { code, out, err } = await runCli(args, folderOf({ 'gateway.yaml': `${MANIFEST}# caf\xE9\n` }));
    expect([code, `${out}${err}`]).toEqual([
      1,
      expect.stringContaining(`gateway.yaml:6:6 error ${MESSAGE} [syntax]\n`),
    ]);
  });

  it('is an error of diff, also at a revision of git', async () => {
    const folder = folderOf({ 'gateway.yaml': `${MANIFEST}# caf\xE9\n`, 'valid.yaml': MANIFEST });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'one');
    for (const name of ['gateway.yaml', 'HEAD:gateway.yaml']) {
      const { code, err } = await runCli(['diff', name, 'valid.yaml'], folder);
      expect([code, err]).toEqual([2, expect.stringContaining(`${name}:6:6 error ${MESSAGE} [syntax]\n`)]);
    }
  });

  it('is an error in an included file, a schema file and a test file', async () => {
    const folder = folderOf({
      'include.yaml': `include: more.yml\n${MANIFEST}`,
      'more.yml': 'routes:\n  - \xE9\n',
      'schema.yaml': MANIFEST.replace('access: public', 'access: public, body: { schema: { $ref: s.json } }'),
      's.json': '{\n"title": "\xE9" }',
      'gateway.test.yaml': 'manifest: schema.yaml\ncases:\n  - \xE9\n',
    });
    const included = await runCli(['lint', 'include.yaml'], folder);
    expect(included.out).toContain(`more.yml:2:5 error ${MESSAGE}`);
    const schema = await runCli(['lint', 'schema.yaml'], folder);
    expect(schema.out).toContain(`s.json:2:11 error ${MESSAGE}`);
    const tests = await runCli(['test'], folder);
    expect([tests.code, tests.err]).toEqual([1, expect.stringContaining(`gateway.test.yaml:3:5 error ${MESSAGE}`)]);
  });
});

describe('a manifest that is not a file', () => {
  it('is an error with its remedy', async () => {
    const { code, err } = await runCli(['lint', '.'], folderOf({}));
    expect([code, err]).toEqual([2, expect.stringContaining('gateway.yaml: no such file; create it with ')]);
  });
});
