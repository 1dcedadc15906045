import { drawPathTree, KIND_CLASSES, kindOf, sumsOf, type TreeRenderer } from '../../admin/page/path-tree.ts';
import { readPageText } from '../../admin/page.ts';
import { formatMethods } from '../../engine/http1/http-methods.ts';
import { printable } from '../../engine/problem/problem.ts';
import { type AccessRow, callersOf } from '../../prove/access-matrix.ts';
import { formatMarkdown, inlineCode, markdownTable, tableCell } from '../../report/markdown.ts';
import { paint, pluralize } from '../../report/text.ts';
import { version } from '../version.ts';

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

interface AccessReport {
  /** The manifest, as named on the command line. */
  readonly file: string;
  readonly hash: string;
  readonly rows: readonly AccessRow[];
  /** The rows of the manifest to compare with. */
  readonly old: readonly AccessRow[] | undefined;
}

/** Escaped text of HTML. */
type Markup = { readonly html: string };

const draw: TreeRenderer<Markup>['draw'] = (name, attributes, ...children) => {
  const values = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
  const content = children.map((child) => (typeof child === 'string' ? escapeHtml(child) : child.html));
  return { html: `<${name}${values.join('')}>${content.join('')}</${name}>` };
};

/** Returns one HTML page without any other file: the tree of the paths, and the table, which sorts by each column. */
function accessPage({ file, hash, rows }: AccessReport, [names = [], ...table]: readonly string[][]): string {
  const headings = names.map((name) =>
    draw('th', { scope: 'col', 'aria-sort': 'none' }, draw('button', { type: 'button' }, name)),
  );
  const lines = table.map((cells, index) => {
    const { route, access, isLogin } = rows[index] as AccessRow;
    const id = rows.findIndex((row) => row.route === route) === index ? { id: route } : {};
    const colourOf = (cell: number) =>
      names[cell] === 'Callers' ? { class: KIND_CLASSES[kindOf(access, isLogin)] } : {};
    return draw('tr', id, ...cells.map((text, cell) => draw('td', colourOf(cell), text)));
  });
  const title = `Access: ${file}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${readPageText('page.css')}${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${rows.length} rows. Manifest <code>${hash.slice(0, 12)}</code>, signing-gateway ${escapeHtml(version)}.</p>
<section class="card">
<h2>Paths</h2>
<p class="hint">Bars: the number of routes. The table has the same routes, with their rate limits and invariants.</p>
${drawTree(rows).html}
</section>
<section class="card">
<h2>Table</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Table">
<table>
<thead><tr>${headings.map(({ html }) => html).join('')}</tr></thead>
<tbody>
${lines.map(({ html }) => html).join('\n')}
</tbody>
</table>
</div>
</section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** Draws each route once, also one whose methods have several rows. */
function drawTree(rows: readonly AccessRow[]): Markup {
  const routes = [...Map.groupBy(rows, ({ route }) => route).values()].map((ofRoute) => {
    const { route: id, path, upstream, ...row } = ofRoute[0] as AccessRow;
    const methods = formatMethods(ofRoute.flatMap((one) => one.methods)).replaceAll(',', ', ');
    return { id, path, upstream, methods, callers: callersOf(row), kind: kindOf(row.access, row.isLogin) };
  });
  return drawPathTree(
    routes,
    sumsOf(routes, () => 1),
    { draw, hrefOf: (id) => `#${id}`, format: String },
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
html { --top: 0px; }
.card { margin-top: 1rem; }
td { white-space: normal; overflow-wrap: break-word; }
:target > td { background: var(--raised); }
@media print { main { max-width: none; padding: 0; font-size: 10px; } .scroll { overflow: visible; } tr, li { break-inside: avoid; } }
`;

const SCRIPT = `
for (const button of document.querySelectorAll('th button')) button.addEventListener('click', () => {
  const heading = button.parentElement;
  const isAscending = heading.getAttribute('aria-sort') === 'ascending';
  for (const other of heading.parentElement.children) other.setAttribute('aria-sort', 'none');
  heading.setAttribute('aria-sort', isAscending ? 'descending' : 'ascending');
  const body = document.querySelector('tbody');
  const textOf = (row) => row.children[heading.cellIndex].textContent;
  const rows = [...body.rows].sort((one, other) => textOf(one).localeCompare(textOf(other)));
  body.append(...(isAscending ? rows.reverse() : rows));
});
`;
