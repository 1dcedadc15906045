import type { Problem } from '../../../engine/problem/problem.ts';
import { uniqueNames } from '../../../report/junit-names.ts';
import { escapeXml, xmlAttributes } from '../../../report/xml.ts';
import { formatLocation, fullMessage, isFailing, type LintReport, type Reporter } from './lint-report.ts';

/**
 * Formats JUnit XML: a test suite for each manifest, a test case for each problem. A problem that does not fail the run is a
 * passing case with output. A manifest without problems is one passing case.
 */
export const junit: Reporter = (report) => {
  const failures = report.problems.filter((problem) => isFailing(problem, report)).length;
  const suites = report.sources.map(({ path }) => suiteOf(path, report));
  const tests = suites.reduce((sum, { cases }) => sum + cases.length, 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites${xmlAttributes({ name: 'signing-gateway lint', tests, failures, errors: 0 })}>\n`,
    ...suites.flatMap(({ open, cases }) => [open, ...cases, '  </testsuite>\n']),
    '</testsuites>\n',
  ].join('');
};

function suiteOf(path: string, report: LintReport): { open: string; cases: string[] } {
  const problems = report.problems.filter(({ file }) => file === path);
  const failures = problems.filter((problem) => isFailing(problem, report)).length;
  const names = uniqueNames(problems.map(({ rule, message }) => `${rule}: ${message}`));
  const cases = problems.map((problem, index) => caseOf(problem, names[index] ?? '', isFailing(problem, report)));
  if (cases.length === 0)
    cases.push(`    <testcase${xmlAttributes({ name: 'no problems', classname: path, file: path })}/>\n`);
  const open = `  <testsuite${xmlAttributes({ name: path, tests: cases.length, failures, errors: 0, skipped: 0 })}>\n`;
  return { open, cases };
}

function caseOf(problem: Problem, name: string, isFailure: boolean): string {
  const { rule, severity, file, range, message } = problem;
  const text = escapeXml(`${formatLocation(problem)} ${severity} ${fullMessage(problem)} [${rule}]`);
  const outcome = isFailure
    ? `<failure${xmlAttributes({ type: severity, message })}>${text}</failure>`
    : `<system-out>${text}</system-out>`;
  return `    <testcase${xmlAttributes({ name, classname: file, file, line: range.line })}>${outcome}</testcase>\n`;
}
