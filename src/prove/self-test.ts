import type { PlannedManifest } from '../engine/load.ts';
import type { Environment, Source } from '../engine/manifest/source.ts';
import { errorAt } from '../engine/problem/finding.ts';
import { displayPathBeside, type Problem, toProblems } from '../engine/problem/problem.ts';
import { type CheckedTestFile, findUnknownReferences, readTestFile } from './testing/read-test-file.ts';
import { runTestFile, type TestResult } from './testing/run-test-file.ts';

const RULE = 'self-test';

/** The time limit of a self-test. */
const TIMEOUT_MS = 30_000;

/**
 * Runs the test file of `reload.selfTest` against a plan, offline, as it would serve: without the manifest and the environment that the
 * file names. Returns the problems of the failed cases, and the text of the test file.
 */
export async function runSelfTest(
  planned: PlannedManifest,
  { readFile }: Pick<Environment, 'readFile'>,
  maxMs = TIMEOUT_MS,
): Promise<{ readonly problems: readonly Problem[]; readonly sources: readonly Source[] }> {
  const { selfTest: path } = planned.plan.reload;
  if (path === undefined) return { problems: [], sources: [] };
  const source = { path: displayPathBeside(planned.document.file, path), text: readFile(path) };
  const { testFile, problems } = readTestFile(source);
  if (testFile === undefined) return { problems, sources: [source] };
  return { problems: await runCases(testFile, planned, maxMs), sources: [source] };
}

async function runCases(
  { testFile, document }: CheckedTestFile,
  planned: PlannedManifest,
  maxMs: number,
): Promise<readonly Problem[]> {
  const unknown = findUnknownReferences(testFile, planned);
  if (unknown.length > 0) return toProblems(unknown, document);
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), maxMs);
  const results = await Promise.race([runTestFile(testFile, planned), timeout]);
  clearTimeout(timer);
  const message = `the self-test takes longer than ${maxMs} ms; remove cases from the test file`;
  const findings = results?.flatMap(findingsOf) ?? [errorAt(['cases'], RULE, message)];
  return toProblems(findings, document);
}

function findingsOf({ name, index, mismatches }: TestResult) {
  return mismatches.map(({ path, expected, actual }) => ({
    rule: RULE,
    severity: 'error' as const,
    location: { path: ['cases', index, 'expect', ...path], at: 'value' as const },
    message: `"${name}" fails: ${path.join('.')} ${PRINTABLE_FIELDS.has(path[0]) ? `is ${printable(actual)}, not ${printable(expected)}` : 'differs from the expected value'}`,
  }));
}

/** Fields that cannot contain a value from the environment, and may therefore be printed. */
const PRINTABLE_FIELDS: ReadonlySet<string | undefined> = new Set(['refusal', 'reason', 'reported', 'status', 'route']);

function printable(value: unknown): string {
  return value === undefined || value === null ? 'none' : JSON.stringify(value);
}
