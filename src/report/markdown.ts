import { printable } from '../engine/problem/problem.ts';

/** Formats a comment for a pull request: a title with its paragraphs and tables. Empty ones are omitted. */
export function formatMarkdown(title: string, ...blocks: readonly string[]): string {
  return [`### ${title}\n`, ...blocks].filter((block) => block !== '').join('\n');
}

/** Formats a table by the names of its columns, numbers on the right, with the texts `more` as last rows; '' without rows. */
export function markdownTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string | number>>,
  more: readonly string[] = [],
): string {
  const names = Object.keys(columns);
  const [first = [], ...others] = rows.map((row) => Object.values(columns).map((cellOf) => cellOf(row)));
  if (first.length === 0) return '';
  const alignments = first.map((cell) => (typeof cell === 'number' ? '--:' : '---'));
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |\n`;
  const rest = more.map((text) => `| | ${text} |${' |'.repeat(names.length - 2)}\n`);
  return [line(names), `|${alignments.join('|')}|\n`, ...[first, ...others].map(line), ...rest].join('');
}

/** Escapes text of a manifest or a request so that it cannot add cells or markup to a table. */
export function tableCell(text: string): string {
  return onOneLine(text).replaceAll(/[\\`*_{}[\]<>()#+!|~@&$]/g, '\\$&');
}

/** Formats text as code in a table, whatever characters it has. */
export function inlineCode(text: string): string {
  const line = onOneLine(text);
  const ticks = '`'.repeat(1 + Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)));
  const padding = /^`|`$/.test(line) ? ' ' : '';
  return `${ticks}${padding}${line.replaceAll('|', '\\|')}${padding}${ticks}`;
}

function onOneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '));
}
