import type { PlannedManifest } from '../load.ts';
import { displayPathBeside } from '../manifest/include.ts';
import type { Environment, Source } from '../manifest/source.ts';
import { errorAt } from '../problem/finding.ts';
import { type Problem, toProblems } from '../problem/problem.ts';
import { type CheckedTestFile, readTestFile } from '../testing/read-test-file.ts';
import { runTestFile, type TestResult } from '../testing/run-test-file.ts';
import { findUnknownReferences } from '../testing/unknown-references.ts';

const RULE = 'self-test';

/** How long all of a self test may take. */
const TIMEOUT_MS = 30_000;

/**
 * Asks a plan what the test file asks that its manifest names, without a network: the problems of those cases that did not
 * become what they are expected to. The plan is asked as it is to serve: which manifest and which environment
 * the test file names has no part in it.
 *
 * @param maxMs how long all of it may take
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
  const found = testFile === undefined ? problems : await failedCases(testFile, planned, maxMs);
  return { problems: found, sources: [source] };
}

async function failedCases(
  file: CheckedTestFile,
  planned: PlannedManifest,
  maxMs: number,
): Promise<readonly Problem[]> {
  const { testFile, document } = file;
  const strangers = findUnknownReferences(testFile, planned);
  if (strangers.length > 0) return toProblems(strangers, document);
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), maxMs);
  const results = await Promise.race([runTestFile(testFile, planned), late]);
  clearTimeout(timer);
  const message = `these cases take longer than ${maxMs} ms in all; a manifest waits for them no longer`;
  const findings = results?.flatMap(findingsOf) ?? [errorAt(['cases'], RULE, message)];
  return toProblems(findings, document);
}

function findingsOf({ name, index, mismatches }: TestResult) {
  return mismatches.map(({ path, expected, actual }) => ({
    rule: RULE,
    severity: 'error' as const,
    location: { path: ['cases', index, 'expect', ...path], at: 'value' as const },
    message: `"${name}" fails: ${path.join('.')} ${PRINTABLE_FIELDS.has(path[0]) ? `is ${printable(actual)}, not ${printable(expected)}` : 'is not what is expected'}`,
  }));
}

/** What holds nothing that the environment gave: all else may, and is not shown. */
const PRINTABLE_FIELDS: ReadonlySet<string | undefined> = new Set(['refusal', 'reason', 'reported', 'status', 'route']);

function printable(value: unknown): string {
  return value === undefined || value === null ? 'none' : JSON.stringify(value);
}
