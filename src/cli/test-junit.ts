import { formatDifference, placeOf, type TestReport } from './test-text.ts';

/** JUnit's XML: a case for each request. */
export function formatJunit(report: TestReport): string {
  const { path, results } = report;
  const failures = results.filter(({ mismatches }) => mismatches.length > 0).length;
  const seconds = results.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  const totals = { name: path, tests: results.length, failures, errors: 0, skipped: 0, time: seconds.toFixed(3) };
  const cases = results.map((result) => {
    const { line } = report.file.document.locate({ path: ['cases', result.index], at: 'value' });
    const attributes = { name: result.name, classname: path, file: path, line, time: (result.ms / 1000).toFixed(3) };
    if (result.mismatches.length === 0) return `    <testcase${write(attributes)}/>\n`;
    const text = result.mismatches.map((mismatch) =>
      [`${placeOf(result, mismatch, report)} ${mismatch.at.join('.')}`, ...formatDifference(mismatch, false)].join(
        '\n',
      ),
    );
    const message = result.mismatches.map(({ at }) => at.join('.')).join(', ');
    const failure = `<failure${write({ type: 'mismatch', message })}>${escaped(text.join('\n'))}</failure>`;
    return `    <testcase${write(attributes)}>${failure}</testcase>\n`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites${write({ name: 'signing-gateway test', tests: results.length, failures, errors: 0 })}>\n`,
    `  <testsuite${write(totals)}>\n`,
    ...cases,
    '  </testsuite>\n</testsuites>\n',
  ].join('');
}

function write(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(
      ([name, value]) => ` ${name}="${escaped(String(value)).replaceAll(/[\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`)}"`,
    )
    .join('');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** What XML 1.0 cannot hold (section 2.2) is left out. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\u007E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"]/g, (found) => ESCAPES[found] ?? found);
}
