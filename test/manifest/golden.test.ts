import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatProblems } from '../../src/cli/format.ts';
import { load } from '../../src/load.ts';

const CASES = new URL('cases/', import.meta.url);
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

const world = { env: {}, readFile: (path: string) => readFileSync(new URL(path, CASES), 'utf8') };
const names = readdirSync(CASES)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length));

function loadCase(name: string) {
  const text = readFileSync(new URL(`${name}.yaml`, CASES), 'utf8');
  return load({ path: `${name}.yaml`, text }, world);
}

describe('a manifest with one mistake', () => {
  test.each(names)('%s', (name) => {
    const { sources, plan, problems } = loadCase(name);
    const printed = formatProblems(problems, sources, false);
    const golden = new URL(`${name}.out`, CASES);
    if (UPDATE) writeFileSync(golden, printed);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
    expect(problems).toHaveLength(1);
    expect(plan).toBeUndefined();
  });

  test('has a golden file each, and no golden file is left over', () => {
    const goldens = readdirSync(CASES).filter((name) => name.endsWith('.out'));
    expect(goldens).toEqual(names.map((name) => `${name}.out`));
  });
});
