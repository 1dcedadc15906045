import type { Difference, DiffWitness } from '../../diff/difference.ts';
import { SEVERITY_RANKS, type Severity } from '../../problem/finding.ts';
import { printable } from '../../problem/printable.ts';
import { paint, pluralize, STYLES } from '../format.ts';

/** Two manifests by the names that they were given, and what differs: the gravest first. */
export interface DiffReport {
  readonly old: string;
  readonly next: string;
  readonly differences: readonly Difference[];
}

/** As a person reads it; each difference begins with `file:line:column`. */
export function formatDiffText({ differences }: DiffReport, colour: boolean): string {
  const parts = differences.map(({ file, range, severity, rule, message, witness }) => {
    const place = paint(`${printable(file)}:${range.line}:${range.column}`, 'bold', colour);
    const line = `${place} ${paint(severity, STYLES[severity], colour)} ${printable(message)} ${paint(`[${rule}]`, 'dim', colour)}\n`;
    return witness === undefined ? line : `${line}  ${printable(exampleOf(witness))}\n`;
  });
  return `${parts.join('')}${summaryOf(differences)}\n`;
}

/** docs/diff.md says what each member is. */
export function formatDiffJson({ old, next, differences }: DiffReport): string {
  const told = differences.map(({ range: { line, column }, rule, severity, message, file, witness }) => ({
    rule,
    severity,
    message,
    file,
    line,
    column,
    witness: witness ?? null,
  }));
  return `${JSON.stringify({ version: 1, old, new: next, differences: told }, null, 2)}\n`;
}

/** A comment for a pull request. */
export function formatDiffMarkdown({ old, next, differences }: DiffReport): string {
  const title = `### ${inlineCode(old)} → ${inlineCode(next)}: ${summaryOf(differences)}\n`;
  if (differences.length === 0) return title;
  const rows = differences.map(({ severity, message, rule, file, range, witness }) => {
    const example = witness === undefined ? '' : inlineCode(exampleOf(witness));
    const shown = severity === 'error' ? `**${severity}**` : severity;
    return `| ${shown} | ${cell(message)} (${rule}) | ${inlineCode(`${file}:${range.line}`)} | ${example} |\n`;
  });
  return `${title}\n| severity | what | where | for example |\n|---|---|---|---|\n${rows.join('')}`;
}

function summaryOf(differences: readonly Difference[]): string {
  if (differences.length === 0) return 'nothing differs in what it means';
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

/** A request or a body on one line; what makes a text long is its length, not its characters. */
function exampleOf(witness: DiffWitness): string {
  if ('body' in witness) return `a body: ${JSON.stringify(witness.body, shortenStrings)}`;
  const { method, url, headers = [] } = witness.request;
  const lines = headers.flatMap((text, index) => (index % 2 === 0 ? [`${text}: ${headers[index + 1]}`] : []));
  return [`${method} ${shorten(url)}`, ...lines].join(', ');
}

function shortenStrings(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? shorten(value) : value;
}

function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, 20)}… (${text.length} characters)`;
}

/** Text of a manifest must not become a part of the table, or markup. */
function cell(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>()#+!|~@]/g, '\\$&').replaceAll(/\s+/g, ' ');
}

function inlineCode(text: string): string {
  const ticks = '`'.repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([found]) => found.length)));
  const padding = /^`|`$/.test(text) ? ' ' : '';
  return `${ticks}${padding}${text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')}${padding}${ticks}`;
}
