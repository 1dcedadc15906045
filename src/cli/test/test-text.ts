import type { Mismatch } from '../../prove/testing/compare.ts';
import type { CoverageSummary } from '../../prove/testing/coverage.ts';
import type { CheckedTestFile } from '../../prove/testing/read-test-file.ts';
import type { TestResult } from '../../prove/testing/run-test-file.ts';
import { paint } from '../../report/text.ts';
import { formatCoverage } from './coverage-text.ts';
import { formatMutation, type MutationReport } from './mutation-report.ts';

/** The results of a test run, for every format. */
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

/** Formats the failed cases with expected and actual values, then the summary and the coverage. */
export function formatTestText(report: TestReport, colour: boolean): string {
  const failed = report.results.filter(({ mismatches }) => mismatches.length > 0);
  const passed = paint(`${report.results.length - failed.length} passed`, 'green', colour);
  const summary = failed.length === 0 ? passed : `${passed}, ${paint(`${failed.length} failed`, 'red', colour)}`;
  const parts = failed.map((result) => `${formatFailure(result, report, colour)}\n`);
  const { mutation, coverage, maxUncovered } = report;
  const mutationText = mutation === undefined ? '' : formatMutation(mutation, colour);
  return [...parts, `${report.path}: ${summary}\n`, formatCoverage(coverage, maxUncovered), mutationText].join('');
}

function formatFailure(result: TestResult, report: TestReport, colour: boolean): string {
  const lines = [`${paint('✗', 'red', colour)} ${paint(result.name, 'bold', colour)}`];
  for (const mismatch of result.mismatches) {
    lines.push(`  ${formatMismatchLocation(result, mismatch, report)} ${mismatch.path.join('.')}`);
    lines.push(...formatMismatch(mismatch, colour).map((line) => `    ${line}`));
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the location of the expected value in the test file, or of the nearest key above it. */
export function formatMismatchLocation(
  { index }: TestResult,
  { path: at }: Mismatch,
  { path, testFile }: TestReport,
): string {
  const range = testFile.document.locate({ path: ['cases', index, 'expect', ...at], at: 'value' });
  return `${path}:${range.line}:${range.column}`;
}

const MAX_LINES = 20;

/** Formats the expected value after `-` and the actual one after `+`. Omits the lines that both begin or end with. */
export function formatMismatch({ expected, actual }: Mismatch, colour: boolean): string[] {
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
