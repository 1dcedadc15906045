import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestProject } from 'vitest/node';
import setUp from './run.ts';
import { cases } from './runs.ts';

const { TMPDIR, NODE_COMPILE_CACHE } = process.env;
const printed: string[] = [];

beforeEach(() => void vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(line)));
afterEach(() => {
  vi.restoreAllMocks();
  printed.length = 0;
  for (const [name, value] of Object.entries({ TMPDIR, NODE_COMPILE_CACHE }))
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

  it('prints the seed, and which command runs all tests', () => {
    const ends = [start('test'), start('deep')];
    for (const end of ends.reverse()) end();
    expect(printed[0]).toMatch(/^Random tests use seed \d+\. .* "npm run test:deep" runs all tests/);
    expect(printed[1]).not.toContain('test:deep');
  });

  it('has all cases of a small random test, and at least ten of a large one', () => {
    for (const count of [3, 10, 100, 5_000]) expect(cases(count)).toBeGreaterThanOrEqual(Math.min(count, 10));
  });
});
