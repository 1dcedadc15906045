import type { Mismatch } from '../../prove/testing/compare.ts';
import type { CoverageSummary } from '../../prove/testing/coverage.ts';
import type { CheckedTestFile } from '../../prove/testing/read-test-file.ts';
import type { TestResult } from '../../prove/testing/run-test-file.ts';
import { formatJunit, junitCaseOf } from '../../report/junit.ts';
import { placeOf, toJson } from '../../report/report.ts';
import { headline, paint } from '../../report/text.ts';
import { formatCoverage, formatMutation, type MutantRow, type MutationReport } from './scores.ts';

export interface TestReport {
  readonly path: string;
  readonly testFile: CheckedTestFile;
  readonly results: readonly TestResult[];
  readonly coverage: CoverageSummary;
  /** The largest number of lines, for a person, with what no case covers. */
  readonly maxUncovered: number;
  /** Present with `--mutate`. */
  readonly mutation: MutationReport | undefined;
  /** True if the coverage and the mutation score reach `--fail-under`. */
  readonly isEnough: boolean;
}

export const TEST_FORMATS = { text: formatTestText, junit: formatTestJunit, json: formatTestJson } as const;

const hasFailed = ({ mismatches }: TestResult) => mismatches.length > 0;

/** Formats the failed cases with expected and actual values, then the summary and the coverage. */
function formatTestText(report: TestReport, colour: boolean): string {
  const { path, results, mutation, coverage, maxUncovered } = report;
  const failed = results.filter(hasFailed);
  const passed = paint(`${results.length - failed.length} passed`, 'green', colour);
  const summary = failed.length === 0 ? passed : `${passed}, ${paint(`${failed.length} failed`, 'red', colour)}`;
  const parts = failed.map((result) => {
    const name = `${paint('✗', 'red', colour)} ${paint(result.name, 'bold', colour)}`;
    const lines = mismatchesOf(result, report, colour).flatMap(([head, ...values]) => [
      `  ${head}`,
      ...values.map((value) => `    ${value}`),
    ]);
    return `${[name, ...lines].join('\n')}\n\n`;
  });
  const mutationText = mutation === undefined ? '' : formatMutation(mutation, colour);
  return [...parts, `${path}: ${summary}\n`, formatCoverage(coverage, maxUncovered), mutationText].join('');
}

/** Formats the cases, the coverage and, with `--mutate`, the changes of the manifest. */
function formatTestJson({ path, testFile, results, coverage, mutation }: TestReport): string {
  const failed = results.filter(hasFailed).length;
  return toJson({
    file: path,
    passed: results.length - failed,
    failed,
    cases: results.map(({ name, index, mismatches }) => ({
      name,
      line: lineOf(index, testFile),
      mismatches: mismatches.map(({ path, expected = null, actual = null }) => ({
        path: path.join('.'),
        expected,
        actual,
      })),
    })),
    coverage,
    mutation: mutation && {
      score: mutation.score,
      noticed: mutation.noticed,
      untested: mutation.untested,
      unnoticed: mutation.unnoticed.map(({ caseText, ...row }) => ({ ...mutantOf(row), case: caseText })),
      invisible: mutation.invisible.map(({ reason, ...row }) => ({ ...mutantOf(row), reason })),
    },
  });
}

function mutantOf({ rule, message, file, range }: MutantRow) {
  return { mutator: rule, message, file, line: range.line, column: range.column };
}

/** Formats a case for each request, and one for each change that no case notices. These fail only if the command fails. */
function formatTestJunit(report: TestReport): string {
  const { path, testFile, results, mutation, isEnough } = report;
  const cases = results.map((result) => {
    const { name, index, mismatches, durationMs } = result;
    const message = mismatches.map((mismatch) => mismatch.path.join('.')).join(', ');
    const failure = hasFailed(result) ? { type: 'mismatch', message } : undefined;
    const text = mismatchesOf(result, report, false).flat().join('\n');
    return { name, file: path, line: lineOf(index, testFile), seconds: durationMs / 1000, failure, text };
  });
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const changes = mutation?.unnoticed.map((row) =>
    junitCaseOf(row, `${headline(row, false)}\n${row.caseText}`, isEnough ? undefined : 'unnoticed'),
  );
  return formatJunit('signing-gateway test', [
    { name: path, cases, seconds },
    ...(changes === undefined ? [] : [{ name: `${path} --mutate`, cases: changes }]),
  ]);
}

function lineOf(index: number, { document }: CheckedTestFile): number {
  return document.locate({ path: ['cases', index], at: 'value' }).line;
}

/** Returns the lines about each mismatch: the place of the expected value, or of the nearest key above it, and both values. */
function mismatchesOf({ index, mismatches }: TestResult, { path, testFile }: TestReport, colour: boolean): string[][] {
  return mismatches.map((mismatch) => {
    const range = testFile.document.locate({ path: ['cases', index, 'expect', ...mismatch.path], at: 'value' });
    return [`${placeOf({ file: path, range })} ${mismatch.path.join('.')}`, ...valuesOf(mismatch, colour)];
  });
}

const MAX_LINES = 20;

/** Formats the expected value after `-` and the actual one after `+`. Omits the lines that both begin or end with. */
function valuesOf({ expected, actual }: Mismatch, colour: boolean): string[] {
  const [old, next] = [linesOf(expected), linesOf(actual)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  const maxEnd = Math.min(old.length, next.length) - start;
  while (end < maxEnd && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  return [
    ...truncateLines(old.slice(start, old.length - end)).map((line) => paint(`- ${line}`, 'red', colour)),
    ...truncateLines(next.slice(start, next.length - end)).map((line) => paint(`+ ${line}`, 'green', colour)),
  ];
}

function truncateLines(lines: readonly string[]): readonly string[] {
  return lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), '…'] : lines;
}

function linesOf(value: unknown): string[] {
  if (value === undefined || value === null) return ['none'];
  return (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n');
}
