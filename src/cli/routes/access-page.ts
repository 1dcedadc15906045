import { formatMethods } from '../../engine/http1/http-methods.ts';
import { type AccessRow, callersOf } from '../../prove/access-matrix.ts';
import { version } from '../version.ts';

export interface AccessReport {
  /** The manifest, as named on the command line. */
  readonly file: string;
  readonly hash: string;
  readonly rows: readonly AccessRow[];
}

/** Returns one HTML page without any other file: the tree of the paths, and the table, which sorts by each column. */
export function accessPage({ file, hash, rows }: AccessReport, [names = [], ...table]: readonly string[][]): string {
  const headings = names.map(
    (name) => `<th scope="col" aria-sort="none"><button type="button">${escapeHtml(name)}</button></th>`,
  );
  const lines = table.map((cells, index) => {
    const kind = kindOf(rows[index] as AccessRow);
    return `<tr class="${kind}">${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Access: ${escapeHtml(file)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Access: ${escapeHtml(file)}</h1>
<p>${rows.length} rows. Manifest <code>${hash.slice(0, 12)}</code>, signing-gateway ${escapeHtml(version)}.</p>
<h2>Paths</h2>
<ul class="tree">${treeOf(rows)}</ul>
<h2>Table</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Table">
<table>
<thead><tr>${headings.join('')}</tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table>
</div>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

type Kind = 'public' | 'login' | 'protected';

function kindOf({ access, isLogin }: AccessRow): Kind {
  return isLogin && access === 'public' ? 'login' : access;
}

interface PathNode {
  readonly rows: AccessRow[];
  readonly children: Map<string, PathNode>;
}

/** Returns the list items of all paths, folded by their segments. */
function treeOf(rows: readonly AccessRow[]): string {
  const root: PathNode = { rows: [], children: new Map() };
  for (const row of rows) {
    let node = root;
    for (const segment of row.path.split('/').slice(1)) {
      const child = node.children.get(segment) ?? { rows: [], children: new Map() };
      node.children.set(segment, child);
      node = child;
    }
    node.rows.push(row);
  }
  return itemsOf(root);
}

function itemsOf({ children }: PathNode): string {
  return [...children]
    .map(([segment, node]) => {
      const routes = node.rows.map((row) => {
        const text = `${formatMethods(row.methods)} · ${callersOf(row)} · ${row.route}`;
        return `<li class="${kindOf(row)}">${escapeHtml(text)}</li>`;
      });
      const kinds = [...kindsBelow(node)].sort();
      const label = `<code>/${escapeHtml(segment)}</code> <span>${kinds.join(', ')}</span>`;
      const inner = `<ul>${routes.join('')}${itemsOf(node)}</ul>`;
      return `<li class="${kinds.length === 1 ? kinds[0] : 'mixed'}"><details open><summary>${label}</summary>${inner}</details></li>`;
    })
    .join('');
}

function kindsBelow({ rows, children }: PathNode): Set<Kind> {
  return new Set([...rows.map(kindOf), ...[...children.values()].flatMap((child) => [...kindsBelow(child)])]);
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
:root { --public: #b3261e; --login: #8a5a00; --protected: #1b6b3a; --mixed: #5f6368; --line: #c8c8c8; }
@media (prefers-color-scheme: dark) { :root { --public: #ff8a80; --login: #f5c451; --protected: #7fd6a0; --mixed: #a9adb3; --line: #444; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; max-width: 90rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
.tree, .tree ul { list-style: none; padding-left: 1rem; margin: 0; }
.tree li { border-left: 4px solid; padding-left: .5rem; }
.tree span { color: var(--mixed); }
li.public, tr.public > :first-child { border-left: 4px solid var(--public); }
li.login, tr.login > :first-child { border-left: 4px solid var(--login); }
li.protected, tr.protected > :first-child { border-left: 4px solid var(--protected); }
li.mixed { border-left: 4px solid var(--mixed); }
@media print { body { margin: 0; max-width: none; font-size: 10px; } .scroll { overflow: visible; } tr { break-inside: avoid; } }
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
