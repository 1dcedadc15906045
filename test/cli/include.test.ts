import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Every verb reads a manifest with included files as one manifest, and reports each problem in its own file. */
const FILES = {
  'gateway.yaml': `version: 1
include: [routes/*.yaml, part-*.yaml]
`,
  'part-upstreams.yaml': `upstreams:
  up: { url: http://127.0.0.1:9 }
`,
  'routes/a.yaml': `routes:
  - { id: a, method: GET, path: /a, upstream: up, access: public }
`,
  'routes/b.yaml': `routes:
  - { id: b, method: GET, path: '/b/{id}', upstream: up, access: public }
`,
  'gateway.test.yaml': `version: 1
cases:
  - name: a
    request: { method: GET, url: /a }
    expect: { route: a, status: 200 }
`,
};

const folderWith = (files: Readonly<Record<string, string>> = {}) => temporaryFolder('include', { ...FILES, ...files });

const INVALID = { 'routes/b.yaml': FILES['routes/b.yaml'].replace('GET', 'get') };

it('lint reports and fixes a problem in the included file', async () => {
  const folder = folderWith(INVALID);
  const { code, out } = await runCli(['lint', '-f', 'json'], folder);
  const { files, problems } = JSON.parse(out);
  expect([code, files]).toEqual([1, ['gateway.yaml', 'routes/a.yaml', 'routes/b.yaml', 'part-upstreams.yaml']]);
  expect(problems).toMatchObject([{ file: 'routes/b.yaml', line: 2, column: 22 }]);
  expect((await runCli(['lint', '-f', 'github'], folder)).out).toContain('::error file=routes/b.yaml,line=2,');
  expect((await runCli(['lint', '--fix', '--dry-run'], folder)).out).toMatch(/^--- a\/routes\/b\.yaml\n/);
  const fixed = await runCli(['lint', '--fix'], folder);
  expect([fixed.code, fixed.err]).toEqual([0, expect.stringContaining('1 problem fixed in routes/b.yaml\n')]);
  expect(readFileSync(join(folder, 'routes/b.yaml'), 'utf8')).toBe(FILES['routes/b.yaml']);
});

it('routes, explain and test read the included files', async () => {
  const folder = folderWith();
  expect((await runCli(['routes'], folder)).out.match(/^GET,HEAD .*$/gm)).toHaveLength(2);
  const { out } = await runCli(['explain', 'GET', '/b/1', '--json'], folder);
  expect(JSON.parse(out)).toMatchObject({ route: { id: 'b', file: 'routes/b.yaml', line: 2 } });
  expect((await runCli(['explain', 'GET', '/b/1'], folder)).out).toContain('b: GET,HEAD /b/{id}  routes/b.yaml:2\n');
  expect((await runCli(['test'], folder)).out).toContain('gateway.test.yaml: 1 passed\n');
});

it('routes reports a problem in the included file, with a code frame', async () => {
  const { code, err } = await runCli(['routes'], folderWith(INVALID));
  expect(code).toBe(1);
  expect(err).toMatch(/^routes\/b\.yaml:2:22 error .*\n {2}1 │ routes:\n {2}2 │ .*get/);
});

it('diff compares the included files with those of a git revision', async () => {
  const folder = folderWith();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: folder,
      stdio: 'ignore',
    });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  writeFileSync(join(folder, 'routes/c.yaml'), FILES['routes/a.yaml'].replaceAll('a,', 'c,').replace('/a', '/c'));
  const { out } = await runCli(['diff', 'main:gateway.yaml', 'gateway.yaml', '-f', 'json'], folder);
  expect(JSON.parse(out).differences).toMatchObject([{ file: 'routes/c.yaml', line: 2 }]);
  writeFileSync(join(folder, 'routes/c.yaml'), 'routes: [');
  git('add', '.');
  git('commit', '-q', '-m', 'broken');
  const { err } = await runCli(['diff', 'main:gateway.yaml', 'gateway.yaml'], folder);
  expect(err).toContain('main:routes/c.yaml:1:9 error');
});

it('fmt formats an included file', async () => {
  const folder = folderWith({ 'routes/b.yaml': FILES['routes/b.yaml'].replace('id: b', 'id:   b') });
  expect((await runCli(['fmt', 'routes/b.yaml'], folder)).code).toBe(0);
  expect(readFileSync(join(folder, 'routes/b.yaml'), 'utf8')).toBe(FILES['routes/b.yaml']);
});

it('lint follows the directives of an included file and does not print its secrets', async () => {
  const extra = `upstreams:
  # gateway-disable-next-line upstream-unused -- comes with the next release
  next: { url: http://127.0.0.1:8 }
`;
  const token = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`;
  const folder = folderWith({ 'routes/c.yaml': `${extra}  # ${token}\n  other: { url: http://127.0.0.1:7 }\n` });
  const { out } = await runCli(['lint'], folder);
  expect(out).toContain('routes/c.yaml:4:5 warning this looks like a JSON Web Token');
  expect(out).toContain('routes/c.yaml:5:3 warning no route uses the upstream "other"');
  expect(out).not.toContain('"next"');
  expect(out).not.toContain('bbbb');
});
