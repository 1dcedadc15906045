import { formatDifference, placeOf, type TestReport } from './test-text.ts';
import { attributes, xml } from './xml.ts';

/** JUnit's XML: a case for each request. */
export function formatJunit(report: TestReport): string {
  const { path, results } = report;
  const failures = results.filter(({ mismatches }) => mismatches.length > 0).length;
  const seconds = results.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  const totals = { name: path, tests: results.length, failures, errors: 0, skipped: 0, time: seconds.toFixed(3) };
  const cases = results.map((result) => {
    const { line } = report.file.document.locate({ path: ['cases', result.index], at: 'value' });
    const about = { name: result.name, classname: path, file: path, line, time: (result.ms / 1000).toFixed(3) };
    if (result.mismatches.length === 0) return `    <testcase${attributes(about)}/>\n`;
    const text = result.mismatches.map((mismatch) =>
      [`${placeOf(result, mismatch, report)} ${mismatch.at.join('.')}`, ...formatDifference(mismatch, false)].join(
        '\n',
      ),
    );
    const message = result.mismatches.map(({ at }) => at.join('.')).join(', ');
    const failure = `<failure${attributes({ type: 'mismatch', message })}>${xml(text.join('\n'))}</failure>`;
    return `    <testcase${attributes(about)}>${failure}</testcase>\n`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites${attributes({ name: 'signing-gateway test', tests: results.length, failures, errors: 0 })}>\n`,
    `  <testsuite${attributes(totals)}>\n`,
    ...cases,
    '  </testsuite>\n</testsuites>\n',
  ].join('');
}
