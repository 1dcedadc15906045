import { formatMethods } from '../../engine/http1/http-methods.ts';
import { printable } from '../../engine/problem/problem.ts';
import { type AccessRow, callersOf } from '../../prove/access-matrix.ts';
import { formatMarkdown, inlineCode, markdownTable, tableCell } from '../../report/markdown.ts';
import { paint, pluralize } from '../../report/text.ts';
import { type AccessReport, accessPage } from './access-page.ts';

const COLUMNS: Readonly<Record<string, (row: AccessRow) => string>> = {
  Methods: ({ methods }) => formatMethods(methods),
  Path: ({ path }) => path,
  Callers: callersOf,
  'Rate limits': ({ rateLimits }) => rateLimits.join(', '),
  Invariants: ({ invariants }) =>
    invariants.map(({ id, isExcepted }) => (isExcepted ? `${id} (exception)` : id)).join(', '),
  Upstream: ({ upstream }) => upstream,
  Route: ({ route }) => route,
};

export const ACCESS_FORMATS = {
  text: (report: AccessReport, colour: boolean) => formatColumns(tableOf(report), colour),
  markdown: (report: AccessReport) => {
    const [names = [], ...rows] = tableOf(report);
    const cellOf = (name: string, text = '') => (name === 'Path' ? inlineCode(text) : tableCell(text));
    const columns = names.map((name, index) => [name, (row: string[]) => cellOf(name, row[index])] as const);
    const changes = rows.length === 0 ? 'no changes in ' : `${pluralize(rows.length, 'changed line')} in `;
    return formatMarkdown(
      `Access: ${report.old === undefined ? '' : changes}${inlineCode(report.file)}`,
      markdownTable(rows, Object.fromEntries(columns)),
    );
  },
  csv: (report: AccessReport) =>
    tableOf(report)
      .map((row) => `${row.map(csvCell).join(',')}\r\n`)
      .join(''),
  html: (report: AccessReport) => accessPage(report, tableOf(report)),
};

/** Returns the names of the columns, and the rows or, of two manifests, those that only one of them has. */
function tableOf({ rows, old }: AccessReport): string[][] {
  const names = Object.keys(COLUMNS);
  const next = rows.map(cellsOf);
  if (old === undefined) return [names, ...next];
  const before = old.map(cellsOf);
  const changed = [...missingIn(next, before, 'old'), ...missingIn(before, next, 'new')];
  return [
    ['Manifest', ...names],
    ...changed.sort((one, other) => (one.at(-1) ?? '').localeCompare(other.at(-1) ?? '')),
  ];
}

function cellsOf(row: AccessRow): string[] {
  return Object.values(COLUMNS).map((textOf) => printable(textOf(row)));
}

/** Returns the rows of `table` that `other` does not have, marked with the name of the manifest. */
function missingIn(other: readonly string[][], table: readonly string[][], manifest: string): string[][] {
  const texts = new Set(other.map((cells) => cells.join('\n')));
  return table.filter((cells) => !texts.has(cells.join('\n'))).map((cells) => [manifest, ...cells]);
}

/** Quotes a cell (RFC 4180). A spreadsheet would compute a text that begins like a formula. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Formats a table whose first row has the names of the columns. */
export function formatColumns(table: readonly (readonly string[])[], colour: boolean): string {
  const widths = table.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(cell.length, widest[index] ?? 0)),
    [],
  );
  const lines = table.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${[paint(lines[0] ?? '', 'bold', colour), ...lines.slice(1)].join('\n')}\n`;
}
