import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Run, summarize } from '../scripts/check-tests.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const { scripts } = JSON.parse(read('package.json'));

const runOf = (...failures: Run['results']['failures']): Run => ({
  results: { passed: 5, skipped: 1, failures },
  isSuccess: failures.length === 0,
});
const one = { file: 'test/one.test.ts', test: 'one', message: 'expected 1 to be 2' };
const seeded = { file: 'test/random.test.ts', test: 'random', message: 'Property failed after 3 tests\n{ seed: 1 }' };

describe('the check', () => {
  it('has the sums of both runs', () => {
    expect(summarize([runOf(), runOf()], () => true)).toEqual({ flaky: [], passed: 10, failed: 0, skipped: 2 });
  });

  it('excuses a failed file that passes alone, and reports its tests as flaky', () => {
    const both = [one, { ...one, test: 'two' }];
    expect(summarize([runOf(...both)], () => true)).toMatchObject({ flaky: both, passed: 7, failed: 0 });
    expect(summarize([runOf(...both)], () => false)).toMatchObject({ flaky: [], passed: 5, failed: 2 });
  });

  it('never excuses a random test that failed with its seed, an error outside of the tests, or many files', () => {
    const runs: string[] = [];
    const passes = (file: string) => runs.push(file) > 0;
    expect(summarize([runOf(seeded)], passes).failed).toBe(1);
    expect(summarize([runOf(seeded, { ...seeded, message: 'expected 1 to be 2' })], passes).failed).toBe(2);
    expect(summarize([runOf({ ...one, file: '' })], passes).failed).toBe(1);
    const many = Array.from({ length: 11 }, (_, index) => ({ ...one, file: `test/${index}.test.ts` }));
    expect(summarize([runOf(...many)], passes).failed).toBe(11);
    expect(runs).toEqual([]);
  });

  it('fails if a run fails without a failed test', () => {
    expect(summarize([{ ...runOf(), isSuccess: false }, runOf()], () => true).failed).toBe(1);
  });
});

describe('.github/workflows/nightly.yml', () => {
  it('runs existing scripts in a checkout, every night', () => {
    const { on, jobs } = parse(read('.github/workflows/nightly.yml'));
    expect(on.schedule[0].cron).toMatch(/^\d+ \d+ \* \* \*$/);
    const steps: { uses?: string; run?: string }[] = jobs.deep.steps;
    expect(steps[0]?.uses).toBe('actions/checkout@v4');
    const commands = steps.flatMap(({ run = '' }) => [...run.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name));
    expect(commands).toEqual(['test:deep', 'torture']);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commands));
  });

  it('installs the programs that .ci/run installs', () => {
    const [, programs] = /apt-get install (.*?); }/.exec(read('.ci/run')) ?? [];
    expect(programs).toContain('chromium');
    expect(read('.github/workflows/nightly.yml')).toContain(`apt-get install ${programs}\n`);
  });
});
