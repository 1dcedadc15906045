import type { Problem } from '../../../problem/problem.ts';
import { escapeXml, xmlAttributes } from '../../xml.ts';
import { formatLocation, fullMessage, isFailing, type LintReport, type Reporter } from './lint-report.ts';

/**
 * JUnit XML: a suite for each manifest, a case for each problem. One that does not fail the run is a case that passes
 * and says so; a manifest without problems is one case that passes.
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
  const cases = problems.map((problem) => caseOf(problem, isFailing(problem, report)));
  if (cases.length === 0)
    cases.push(`    <testcase${xmlAttributes({ name: 'no problems', classname: path, file: path })}/>\n`);
  const open = `  <testsuite${xmlAttributes({ name: path, tests: cases.length, failures, errors: 0, skipped: 0 })}>\n`;
  return { open, cases };
}

function caseOf(problem: Problem, fails: boolean): string {
  const { rule, severity, file, range, message } = problem;
  // Two cases of one name would be taken for one that ran twice.
  const name = `${rule} at ${range.line}:${range.column}: ${message}`;
  const text = escapeXml(`${formatLocation(problem)} ${severity} ${fullMessage(problem)} [${rule}]`);
  const said = fails
    ? `<failure${xmlAttributes({ type: severity, message })}>${text}</failure>`
    : `<system-out>${text}</system-out>`;
  return `    <testcase${xmlAttributes({ name, classname: file, file, line: range.line })}>${said}</testcase>\n`;
}
