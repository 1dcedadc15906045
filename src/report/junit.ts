import type { ReportRow } from './report.ts';

/** A test suite of JUnit, such as the problems of one file. */
interface JunitSuite {
  readonly name: string;
  readonly cases: readonly JunitCase[];
  readonly seconds?: number;
}

interface JunitCase {
  readonly name: string;
  readonly file: string;
  readonly line?: number;
  readonly seconds?: number;
  /** Absent if the case passes. */
  readonly failure?: { readonly type?: string; readonly message: string } | undefined;
  /** The details of the failure, or the output of a case that passes. */
  readonly text?: string;
}

/** Returns the case of a row. Without `failureType` the row does not fail the run: its case passes, with output. */
export function junitCaseOf(
  { rule, message, file, range }: Omit<ReportRow, 'severity'>,
  text: string,
  failureType: string | undefined,
): JunitCase {
  const failure = failureType === undefined ? undefined : { type: failureType, message };
  return { name: `${rule}: ${message}`, file, line: range.line, failure, text };
}

export function formatJunit(name: string, suites: readonly JunitSuite[]): string {
  const totals = totalsOf(suites.flatMap(({ cases }) => cases));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<testsuites${attributes({ name, ...totals })}>\n`,
    ...suites.map(formatSuite),
    '</testsuites>\n',
  ].join('');
}

function totalsOf(cases: readonly JunitCase[]) {
  return { tests: cases.length, failures: cases.filter(({ failure }) => failure !== undefined).length, errors: 0 };
}

function formatSuite({ name, cases, seconds }: JunitSuite): string {
  const names = uniqueNames(cases.map((one) => one.name));
  const lines = cases.map((one, index) => formatCase(one, names[index] ?? ''));
  const opening = attributes({ name, ...totalsOf(cases), skipped: 0, time: seconds?.toFixed(3) });
  return `  <testsuite${opening}>\n${lines.join('')}  </testsuite>\n`;
}

function formatCase({ file, line, seconds, failure, text = '' }: JunitCase, name: string): string {
  const opening = `    <testcase${attributes({ name, classname: file, file, line, time: seconds?.toFixed(3) })}`;
  if (failure !== undefined)
    return `${opening}><failure${attributes({ ...failure })}>${escapeXml(text)}</failure></testcase>\n`;
  return text === '' ? `${opening}/>\n` : `${opening}><system-out>${escapeXml(text)}</system-out></testcase>\n`;
}

/**
 * Returns the names of the cases of a suite: a repeated name gets a number. Readers follow a case from run to run by its name, so that
 * a name has no line number, and they take two cases with one name for two runs of one case.
 */
function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  const counts = new Map<string, number>();
  return names.map((name) => {
    let count = counts.get(name) ?? 0;
    let unique: string;
    do unique = ++count === 1 ? name : `${name} (${count})`;
    while (used.has(unique));
    counts.set(name, count);
    used.add(unique);
    return unique;
  });
}

/** Formats the attributes that are defined, each with a leading space. */
function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escapeXml(String(value))}"`))
    .join('');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for elements and attributes, without the control characters that XML 1.0 forbids (section 2.2), and its white space. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\u007E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character)
    .replaceAll(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
