import type { Problem } from '../../engine/problem/problem.ts';
import { uniqueNames } from '../../report/junit-names.ts';
import { escapeXml, xmlAttributes } from '../../report/xml.ts';
import { formatChange } from './mutation-report.ts';
import { formatMismatch, formatMismatchLocation, type TestReport } from './test-text.ts';

/** Formats JUnit XML with one test case for each request. */
export function formatJunit(report: TestReport): string {
  const { path, results, mutation } = report;
  const failures = results.filter(({ mismatches }) => mismatches.length > 0).length;
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const totals = { name: path, tests: results.length, failures, errors: 0, skipped: 0, time: seconds.toFixed(3) };
  const names = uniqueNames(results.map(({ name }) => name));
  const cases = results.map((result, index) => formatCase(result, names[index] ?? '', report));
  const changes = formatChangeCases(report);
  const failedChanges = report.isEnough ? 0 : changes.length;
  const all = { tests: results.length + changes.length, failures: failures + failedChanges, errors: 0 };
  const changeTotals = {
    name: `${path} --mutate`,
    tests: changes.length,
    failures: failedChanges,
    errors: 0,
    skipped: 0,
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites${xmlAttributes({ name: 'signing-gateway test', ...all })}>\n`,
    `  <testsuite${xmlAttributes(totals)}>\n`,
    ...cases,
    '  </testsuite>\n',
    ...(mutation === undefined
      ? []
      : [`  <testsuite${xmlAttributes(changeTotals)}>\n`, ...changes, '  </testsuite>\n']),
    '</testsuites>\n',
  ].join('');
}

function formatCase(result: TestReport['results'][number], name: string, report: TestReport): string {
  const { path, testFile } = report;
  const { line } = testFile.document.locate({ path: ['cases', result.index], at: 'value' });
  const time = (result.durationMs / 1000).toFixed(3);
  const attributes = xmlAttributes({ name, classname: path, file: path, line, time });
  if (result.mismatches.length === 0) return `    <testcase${attributes}/>\n`;
  const text = result.mismatches.map((mismatch) =>
    [
      `${formatMismatchLocation(result, mismatch, report)} ${mismatch.path.join('.')}`,
      ...formatMismatch(mismatch, false),
    ].join('\n'),
  );
  const message = result.mismatches.map(({ path }) => path.join('.')).join(', ');
  const failure = `<failure${xmlAttributes({ type: 'mismatch', message })}>${escapeXml(text.join('\n'))}</failure>`;
  return `    <testcase${attributes}>${failure}</testcase>\n`;
}

function formatChangeCases({ mutation, isEnough }: TestReport): string[] {
  const changes = mutation?.unnoticed ?? [];
  const names = uniqueNames(changes.map(({ problem: { rule, message } }) => `${rule}: ${message}`));
  return changes.map(({ problem, caseText }, index) =>
    formatChangeCase(problem, names[index] ?? '', caseText, isEnough),
  );
}

/** Formats a change that no case notices. It is a failure only if the command fails. */
function formatChangeCase(problem: Problem, name: string, caseText: string, isEnough: boolean): string {
  const { message, file, range } = problem;
  const text = escapeXml(`${formatChange(problem, false)}\n${caseText}`);
  const outcome = isEnough
    ? `<system-out>${text}</system-out>`
    : `<failure${xmlAttributes({ type: 'unnoticed', message })}>${text}</failure>`;
  return `    <testcase${xmlAttributes({ name, classname: file, file, line: range.line })}>${outcome}</testcase>\n`;
}
