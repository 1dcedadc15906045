import { formatMethods } from '../../engine/http1/http-methods.ts';
import { printable } from '../../engine/problem/problem.ts';
import { type AccessRow, callersOf } from '../../prove/access-matrix.ts';
import { formatMarkdown, inlineCode, markdownTable, tableCell } from '../../report/markdown.ts';
import { type AccessReport, accessPage } from './access-page.ts';
import { formatColumns } from './columns.ts';

/** The columns of the matrix, with the texts of a row. */
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

/** The formats of `routes --access`. */
export const ACCESS_FORMATS = {
  text: ({ rows }: AccessReport, colour: boolean) => formatColumns(tableOf(rows), colour),
  markdown: ({ file, rows }: AccessReport) =>
    formatMarkdown(
      `Access: ${inlineCode(file)}`,
      markdownTable(
        rows,
        Object.fromEntries(
          Object.entries(COLUMNS).map(([name, textOf]) => [
            name,
            (row: AccessRow) => (name === 'Path' ? inlineCode(textOf(row)) : tableCell(textOf(row))),
          ]),
        ),
      ),
    ),
  csv: ({ rows }: AccessReport) =>
    tableOf(rows)
      .map((row) => `${row.map(csvCell).join(',')}\r\n`)
      .join(''),
  html: (report: AccessReport) => accessPage(report, tableOf(report.rows)),
};

function tableOf(rows: readonly AccessRow[]): string[][] {
  const columns = Object.values(COLUMNS);
  return [Object.keys(COLUMNS), ...rows.map((row) => columns.map((textOf) => printable(textOf(row))))];
}

/** Quotes a cell (RFC 4180). A spreadsheet would compute a text that begins like a formula. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
