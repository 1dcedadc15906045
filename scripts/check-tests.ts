/**
 * Runs the tests of `.ci/run`: `npm test`, and then the deep tests. A file that fails runs once more, alone. If it passes then,
 * its tests are printed as flaky and do not fail the check. The last line has the numbers of both runs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Failure, Results } from '../test/support/reporter.ts';

/** More failed files than this are no accident, and running each of them again would take too long. */
const MAX_RERUNS = 10;

export interface Run {
  readonly results: Results;
  /** True if the command exited with 0. */
  readonly isSuccess: boolean;
}

export interface Summary {
  readonly flaky: readonly Failure[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** True if a random test failed with its seed: the next run would find the same, or another seed is needed to see it again. */
const isRandom = ({ message }: Failure) => /\bseed\b/i.test(message);

/** @param passesAlone runs a test file alone, and returns true if it passes */
export function summarize(runs: readonly Run[], passesAlone: (file: string) => boolean): Summary {
  const failures = runs.flatMap(({ results }) => results.failures);
  const files = new Set(failures.map(({ file }) => file));
  const random = new Set(failures.filter(isRandom).map(({ file }) => file));
  const canRerun = (file: string) => file !== '' && !random.has(file) && files.size <= MAX_RERUNS;
  const excused = new Set([...files].filter((file) => canRerun(file) && passesAlone(file)));
  const flaky = failures.filter(({ file }) => excused.has(file));
  // Such a run left files, or ended without its results.
  const broken = runs.filter(({ results, isSuccess }) => !isSuccess && results.failures.length === 0);
  const sum = (name: 'passed' | 'skipped') => runs.reduce((total, { results }) => total + results[name], 0);
  return {
    flaky,
    passed: sum('passed') + flaky.length,
    failed: failures.length - flaky.length + broken.length,
    skipped: sum('skipped'),
  };
}

function run(command: string, ...args: string[]): Run {
  const folder = mkdtempSync(join(tmpdir(), 'check-'));
  const file = join(folder, 'results.json');
  const { status } = spawnSync(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TEST_RESULTS: file },
  });
  const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, skipped: 0, failures: [] };
  rmSync(folder, { recursive: true });
  return { results, isSuccess: status === 0 };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const runs = [run('npm', 'test'), run('npx', 'vitest', 'run', '--project=alone', '--project=deep')];
  const summary = summarize(runs, (file) => run('npx', 'vitest', 'run', file).isSuccess);
  for (const { file, test } of summary.flaky) console.log(`flaky: ${file}: ${test}`);
  const { passed, failed, skipped } = summary;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 ? 1 : 0;
}
