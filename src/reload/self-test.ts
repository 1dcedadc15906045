import type { Planned } from '../load.ts';
import { shownBeside } from '../manifest/include.ts';
import type { Source, World } from '../manifest/source.ts';
import { errorAt } from '../problem/finding.ts';
import { type Problem, toProblems } from '../problem/problem.ts';
import { findStrangers } from '../suite/references.ts';
import { type Result, runSuite } from '../suite/run.ts';
import { readSuite, type SuiteFile } from '../suite/suite-file.ts';

const RULE = 'self-test';

/** How long all of a self test may take. */
const MAX_MS = 30_000;

/**
 * Asks a plan what the test file asks that its manifest names, without a network: the problems of those cases that did not
 * become what they are expected to. The plan is asked as it is to serve: which manifest and which environment
 * the test file names has no part in it.
 *
 * @param maxMs how long all of it may take
 */
export async function selfTest(
  planned: Planned,
  { readFile }: Pick<World, 'readFile'>,
  maxMs = MAX_MS,
): Promise<{ readonly problems: readonly Problem[]; readonly sources: readonly Source[] }> {
  const { selfTest: path } = planned.plan.reload;
  if (path === undefined) return { problems: [], sources: [] };
  const source = { path: shownBeside(planned.document.file, path), text: readFile(path) };
  const { file, problems } = readSuite(source);
  const found = file === undefined ? problems : await failures(file, planned, maxMs);
  return { problems: found, sources: [source] };
}

async function failures(file: SuiteFile, planned: Planned, maxMs: number): Promise<readonly Problem[]> {
  const { suite, document } = file;
  const strangers = findStrangers(suite, planned);
  if (strangers.length > 0) return toProblems(strangers, document);
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), maxMs);
  const results = await Promise.race([runSuite(suite, planned), late]);
  clearTimeout(timer);
  const message = `these cases take longer than ${maxMs} ms in all; a manifest waits for them no longer`;
  const findings = results?.flatMap(findingsOf) ?? [errorAt(['cases'], RULE, message)];
  return toProblems(findings, document);
}

function findingsOf({ name, index, mismatches }: Result) {
  return mismatches.map(({ at, expected, got }) => ({
    rule: RULE,
    severity: 'error' as const,
    where: { path: ['cases', index, 'expect', ...at], at: 'value' as const },
    message: `"${name}" fails: ${at.join('.')} ${HARMLESS.has(at[0]) ? `is ${shown(got)}, not ${shown(expected)}` : 'is not what is expected'}`,
  }));
}

/** What holds nothing that the environment gave: all else may, and is not shown. */
const HARMLESS: ReadonlySet<string | undefined> = new Set(['refusal', 'reason', 'reported', 'status', 'route']);

function shown(value: unknown): string {
  return value === undefined || value === null ? 'none' : JSON.stringify(value);
}
