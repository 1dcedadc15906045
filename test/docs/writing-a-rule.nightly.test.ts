import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/writing-a-rule.md'), 'utf8');
const blocks = [...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

const copy = mkdtempSync(join(tmpdir(), 'rule-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

it('docs/writing-a-rule.md adds a rule to a copy of the project', () => {
  for (const name of [
    'src',
    'schema',
    'scripts',
    'docs',
    'test',
    'package.json',
    'vitest.config.ts',
    'tsconfig.json',
    'gateway.yaml',
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const [rule = '', bad = '', good = '', command = ''] = blocks;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  };
  const table = 'src/check/lint/rules/routes.ts';
  write(
    table,
    readFileSync(join(copy, table), 'utf8').replace(/^\}\);$/m, (end) => rule + end),
  );
  write('test/lint/cases/route-id-long/bad.yaml', bad);
  write('test/lint/cases/route-id-long/good.yaml', good);

  const [, files = ''] = /^\$ UPDATE_GOLDEN=1 npx vitest run (.*)$/m.exec(command) ?? [];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  // The slow property tests of test/lint do not depend on the new rule.
  const wanted = files.replace(/^test\/lint(?= )/, 'test/lint/rule-table.test.ts test/lint/cases.test.ts').split(' ');
  for (const UPDATE_GOLDEN of ['1', '0']) {
    const { status, stdout } = spawnSync(process.execPath, [vitest, 'run', ...wanted], {
      cwd: copy,
      env: { ...process.env, UPDATE_GOLDEN, NO_COLOR: '1' },
      encoding: 'utf8',
    });
    expect(status, stdout).toBe(0);
  }
  expect(readFileSync(join(copy, 'docs/rules/routes.md'), 'utf8')).toContain('## route-id-long\n');
  expect(readFileSync(join(copy, 'schema/gateway.schema.json'), 'utf8')).toContain('"route-id-long"');
  const call = ['src/cli/main.ts', 'lint', '--preset', 'strict', 'test/lint/cases/route-id-long/bad.yaml'];
  const { stdout } = spawnSync(process.execPath, call, { cwd: copy, encoding: 'utf8' });
  expect(stdout).toMatch(/bad\.yaml:6:11 info this id is longer than 40 characters; shorten it \[route-id-long\]/);
});
