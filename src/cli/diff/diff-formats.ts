import { SEVERITY_RANKS, type Severity } from '../../engine/problem/finding.ts';
import { printable } from '../../engine/problem/printable.ts';
import type { Difference, DiffWitness } from '../../prove/diff/difference.ts';
import { inlineCode, tableCell } from '../../report/markdown.ts';
import { paint, pluralize, STYLES } from '../../report/text.ts';

/** The names of two manifests and their differences, most severe first. */
export interface DiffReport {
  readonly old: string;
  readonly next: string;
  readonly differences: readonly Difference[];
  /** True if each difference is printed with its places in both files. */
  readonly hasBothPlaces?: boolean;
}

/** Formats a report for a person. Each difference begins with `file:line:column`. */
export function formatDiffText({ differences, hasBothPlaces = false }: DiffReport, colour: boolean): string {
  const { listed, omitted } = limited(differences);
  const parts = listed.map(({ file, range, severity, rule, message, witness, counterpart }) => {
    const location = paint(`${printable(file)}:${range.line}:${range.column}`, 'bold', colour);
    const line = `${location} ${paint(severity, STYLES[severity], colour)} ${printable(message)} ${paint(`[${rule}]`, 'dim', colour)}\n`;
    const other = hasBothPlaces ? `  compared with ${printable(placeOf(counterpart))}\n` : '';
    return `${line}${other}${witness === undefined ? '' : `  ${printable(exampleOf(witness))}\n`}`;
  });
  const rest = omitted.map(({ rule, count }) => `and ${count} more ${paint(`[${rule}]`, 'dim', colour)}\n`);
  return `${[...parts, ...rest].join('')}${summaryOf(differences)}\n`;
}

/** Formats a report as JSON. docs/diff.md describes the members. */
export function formatDiffJson({ old, next, differences, hasBothPlaces = false }: DiffReport): string {
  const entries = differences.map(
    ({ range: { line, column }, rule, severity, message, file, witness, counterpart }) => ({
      rule,
      severity,
      message,
      file,
      line,
      column,
      ...(hasBothPlaces && {
        counterpart: { file: counterpart.file, line: counterpart.range.line, column: counterpart.range.column },
      }),
      witness: witness ?? null,
    }),
  );
  return `${JSON.stringify({ version: 1, old, new: next, differences: entries }, null, 2)}\n`;
}

/** Formats a report as a comment for a pull request. */
export function formatDiffMarkdown({ old, next, differences, hasBothPlaces = false }: DiffReport): string {
  const title = `### ${inlineCode(old)} → ${inlineCode(next)}: ${summaryOf(differences)}\n`;
  if (differences.length === 0) return title;
  const { listed, omitted } = limited(differences);
  const rows = listed.map(({ severity, message, rule, file, range, witness, counterpart }) => {
    const example = witness === undefined ? '' : inlineCode(exampleOf(witness));
    const level = severity === 'error' ? `**${severity}**` : severity;
    const other = hasBothPlaces ? `, ${inlineCode(`${counterpart.file}:${counterpart.range.line}`)}` : '';
    return `| ${level} | ${tableCell(message)} (${rule}) | ${inlineCode(`${file}:${range.line}`)}${other} | ${example} |\n`;
  });
  return `${title}\n| severity | difference | location | example |\n|---|---|---|---|\n${rows.join('')}${omitted.map(({ rule, count }) => `| | and ${count} more (${rule}) | | |\n`).join('')}`;
}

function placeOf({ file, range }: Pick<Difference, 'file' | 'range'>): string {
  return `${file}:${range.line}:${range.column}`;
}

/** The differences of one kind that a person reads. The JSON format has all of them. */
const MAX_OF_RULE = 100;

/** Returns the first differences of each kind, and the number of the others. */
function limited(differences: readonly Difference[]) {
  const counts = new Map<string, number>();
  const listed = differences.filter(({ rule }) => {
    const count = (counts.get(rule) ?? 0) + 1;
    counts.set(rule, count);
    return count <= MAX_OF_RULE;
  });
  const omitted = [...counts]
    .filter(([, count]) => count > MAX_OF_RULE)
    .map(([rule, count]) => ({ rule, count: count - MAX_OF_RULE }));
  return { listed, omitted };
}

function summaryOf(differences: readonly Difference[]): string {
  if (differences.length === 0) return 'no differences in behaviour';
  const severities = Object.keys(SEVERITY_RANKS) as Severity[];
  const counts = severities.map(
    (severity) => [severity, differences.filter((one) => one.severity === severity).length] as const,
  );
  return counts
    .filter(([, number]) => number > 0)
    .map(([severity, number]) => (severity === 'info' ? `${number} info` : pluralize(number, severity)))
    .join(', ');
}

const MAX_CHARACTERS = 60;

/** Formats a request or a body on one line: `POST /contacts as user, body: {}`. Shortens long texts and adds their length. */
function exampleOf(witness: DiffWitness): string {
  const body = 'body' in witness ? `body: ${JSON.stringify(witness.body, shortenStrings)}` : undefined;
  if (witness.request === undefined) return body ?? '';
  const { method, url, role, headers = [], body: text, bodyBytes } = witness.request;
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  const caller = role === undefined ? '' : ` as ${role}`;
  const size = bodyBytes === undefined ? undefined : `body of ${bodyBytes} bytes`;
  const content = body ?? size ?? (text === undefined ? undefined : `body: ${shorten(text)}`);
  return [`${method} ${shorten(url)}${caller}`, ...lines, ...(content === undefined ? [] : [content])].join(', ');
}

function shortenStrings(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? shorten(value) : value;
}

function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, 20)}… (${text.length} characters)`;
}
