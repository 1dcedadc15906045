import { escapeXml, xmlAttributes } from '../xml.ts';
import { formatMismatch, formatMismatchLocation, type TestReport } from './test-text.ts';

/** Formats JUnit XML with one test case for each request. */
export function formatJunit(report: TestReport): string {
  const { path, results } = report;
  const failures = results.filter(({ mismatches }) => mismatches.length > 0).length;
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const totals = { name: path, tests: results.length, failures, errors: 0, skipped: 0, time: seconds.toFixed(3) };
  const cases = results.map((result) => {
    const { line } = report.testFile.document.locate({ path: ['cases', result.index], at: 'value' });
    const attributes = {
      name: result.name,
      classname: path,
      file: path,
      line,
      time: (result.durationMs / 1000).toFixed(3),
    };
    if (result.mismatches.length === 0) return `    <testcase${xmlAttributes(attributes)}/>\n`;
    const text = result.mismatches.map((mismatch) =>
      [
        `${formatMismatchLocation(result, mismatch, report)} ${mismatch.path.join('.')}`,
        ...formatMismatch(mismatch, false),
      ].join('\n'),
    );
    const message = result.mismatches.map(({ path }) => path.join('.')).join(', ');
    const failure = `<failure${xmlAttributes({ type: 'mismatch', message })}>${escapeXml(text.join('\n'))}</failure>`;
    return `    <testcase${xmlAttributes(attributes)}>${failure}</testcase>\n`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites${xmlAttributes({ name: 'signing-gateway test', tests: results.length, failures, errors: 0 })}>\n`,
    `  <testsuite${xmlAttributes(totals)}>\n`,
    ...cases,
    '  </testsuite>\n</testsuites>\n',
  ].join('');
}
