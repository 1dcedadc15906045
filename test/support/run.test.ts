import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestProject } from 'vitest/node';
import setUp from './run.ts';
import { runs } from './runs.ts';

const { TMPDIR, XDG_CACHE_HOME } = process.env;
const printed: string[] = [];

beforeEach(() => void vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(line)));
afterEach(() => {
  vi.restoreAllMocks();
  printed.length = 0;
  for (const [name, value] of Object.entries({ TMPDIR, XDG_CACHE_HOME }))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

const start = (mode: string) => setUp({ config: { mode } } as TestProject);

describe('a run of the tests', () => {
  it('has a temporary folder of its own and removes it', () => {
    const outer = tmpdir();
    const end = start('test');
    const folder = tmpdir();
    expect([folder === outer, existsSync(folder)]).toEqual([false, true]);
    mkdirSync(join(folder, 'node-compile-cache'));
    end();
    expect(existsSync(folder)).toBe(false);
  });

  it('fails if a test left a file in the folder, and removes it', () => {
    const end = start('test');
    const folder = tmpdir();
    writeFileSync(join(folder, 'rest.txt'), '');
    expect(end).toThrow('tests left temporary files: rest.txt');
    expect(existsSync(folder)).toBe(false);
  });

  it('prints the seed, the files that it leaves out, and how to run them', () => {
    start('test')();
    expect(printed[0]).toMatch(/^Random tests use seed \d+\. /);
    const files = globSync('test/**/*.deep.test.ts');
    expect(printed[1]).toContain(`and ${files.length} files of deep tests:\n`);
    const names = printed[1]?.matchAll(/^ {2}(test\S*): (.*)$/gm) ?? [];
    const named = [...names].flatMap(([, folder, list = '']) =>
      list.split(', ').map((name) => `${folder}/${name}.deep.test.ts`),
    );
    expect(named.sort()).toEqual(files.sort());
    expect(printed[1]).toContain('"npm run test:deep" runs everything');
  });

  it('leaves nothing out in the mode deep', () => {
    start('deep')();
    expect(printed).toHaveLength(1);
  });

  it('has all cases of a small random test, and at least ten of a large one', () => {
    for (const count of [3, 10, 100, 5_000]) expect(runs(count)).toBeGreaterThanOrEqual(Math.min(count, 10));
  });
});
