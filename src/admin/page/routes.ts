import type { Responses } from './api.ts';
import { byId, decisionsHash, element, setText } from './element.ts';
import { exampleHash } from './explain.ts';
import { integer, quantity } from './format.ts';
import { showPaths } from './paths.ts';
import {
  COLUMNS,
  checksOf,
  type ListedRoute,
  methodsOf,
  type RecentTraffic,
  type RouteColumn,
  type RouteRow,
} from './route-columns.ts';

const PAGE_ROWS = 100;
/** The routes of a page of the tree. */
const TREE_ROWS = 1_000;

/** The table of routes. Sorting and filtering apply to all routes; the table shows one page of them. */
export class Routes {
  #rows: RouteRow[] = [];
  #traffic: Map<string | null, RecentTraffic> = new Map();
  #sortedBy = '';
  #isDescending = false;
  #page = 0;
  /** the table rows, which are reused */
  #tableRows: ReturnType<typeof rowOf>[] = [];

  constructor() {
    byId('routes-table').tHead.rows[0].append(...COLUMNS.map((column) => this.#headerOf(column)), actionsHeader());
    byId('routes-tools').addEventListener('input', () => this.#restart());
    byId('routes-tools').addEventListener('submit', (event: Event) => event.preventDefault());
    for (const button of byId('routes-pages').querySelectorAll('button'))
      button.addEventListener('click', () => this.#turn(button.dataset.step));
  }

  showRoutes(routes: readonly ListedRoute[]) {
    this.#rows = routes.map((route, at) => {
      const checks = checksOf(route);
      const words = [route.id, route.methods.join(' '), methodsOf(route), route.path, route.access, route.upstream];
      const text = [...words, checks, route.callers].join(' ').toLowerCase();
      return { route, text, at, checks, traffic: undefined };
    });
    this.#join();
  }

  showTraffic({ seconds, routes }: Responses['traffic']) {
    this.#traffic = new Map(routes.map((route) => [route.id, { ...route, seconds }]));
    this.#join();
  }

  #join() {
    for (const row of this.#rows) row.traffic = this.#traffic.get(row.route.id);
    this.show();
  }

  #restart() {
    this.#page = 0;
    this.show();
  }

  /** Draws the table or the tree, unless another view is visible. */
  show() {
    if (byId('routes').hidden) return;
    const isTree = byId('routes-layout').value === 'paths';
    byId('routes-card').hidden = isTree;
    byId('paths-card').hidden = !isTree;
    const filtered = this.#filteredRows(isTree);
    const size = isTree ? TREE_ROWS : PAGE_ROWS;
    const pages = Math.max(1, Math.ceil(filtered.length / size));
    this.#page = Math.min(this.#page, pages - 1);
    const rows = filtered.slice(this.#page * size, (this.#page + 1) * size);
    if (isTree) showPaths(rows);
    else this.#showTable(rows);
    const all = quantity(this.#rows.length, 'route');
    setText(
      byId('routes-status'),
      filtered.length === this.#rows.length ? all : `${integer(filtered.length)} of ${all}`,
    );
    this.#showPages(pages);
  }

  #showTable(rows: readonly RouteRow[]) {
    while (this.#tableRows.length < rows.length) this.#tableRows.push(rowOf());
    for (const [index, row] of rows.entries()) this.#tableRows[index]?.fill(row);
    const body = byId('routes-table').tBodies[0];
    if (body.rows.length !== rows.length)
      body.replaceChildren(...this.#tableRows.slice(0, rows.length).map(({ line }) => line));
  }

  /** Returns the routes that the form selects, in the order of the table or in that of the manifest. */
  #filteredRows(isTree: boolean) {
    const words = byId('routes-filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    const show = byId('routes-show').value;
    const filtered = this.#rows.filter(({ text, traffic }) => {
      if (show === 'busy' && traffic === undefined) return false;
      if (show === 'failing' && (traffic === undefined || traffic.client_errors + traffic.server_errors === 0))
        return false;
      return words.every((word: string) => text.includes(word));
    });
    const column = COLUMNS.find(({ name }) => name === this.#sortedBy);
    if (column === undefined || isTree) return filtered;
    const sign = this.#isDescending ? -1 : 1;
    // Equal rows keep the order of the manifest.
    return filtered.sort((one, other) => sign * compare(column.key(one), column.key(other)) || one.at - other.at);
  }

  #showPages(pages: number) {
    byId('routes-pages').hidden = pages === 1;
    setText(byId('routes-page'), `Page ${integer(this.#page + 1)} of ${integer(pages)}`);
    for (const button of byId('routes-pages').querySelectorAll('button')) {
      const isBack = button.dataset.step === 'first' || button.dataset.step === 'previous';
      // The attribute `disabled` would remove the focus from the button.
      button.setAttribute('aria-disabled', String(isBack ? this.#page === 0 : this.#page === pages - 1));
    }
  }

  #turn(step: string | undefined) {
    const to =
      { first: 0, previous: this.#page - 1, next: this.#page + 1, last: Number.MAX_SAFE_INTEGER }[step ?? ''] ?? 0;
    this.#page = Math.max(0, to);
    this.show();
  }

  #headerOf({ name, title, isNumber = false, isWideOnly = false }: RouteColumn) {
    const button = element('button', { type: 'button' }, title);
    const head = element('th', { scope: 'col', class: classOf(isNumber, isWideOnly), 'aria-sort': 'none' }, button);
    button.addEventListener('click', () => {
      // Sort numbers from high to low first.
      this.#isDescending = this.#sortedBy === name ? !this.#isDescending : isNumber;
      this.#sortedBy = name;
      for (const other of byId('routes-table').querySelectorAll('th[aria-sort]'))
        other.setAttribute('aria-sort', 'none');
      head.setAttribute('aria-sort', this.#isDescending ? 'descending' : 'ascending');
      this.#restart();
    });
    return head;
  }
}

function rowOf() {
  let row: RouteRow | undefined;
  const cells = COLUMNS.map(({ isNumber = false, isWideOnly = false }, index) =>
    index === 0 ? element('th', { scope: 'row' }) : element('td', { class: classOf(isNumber, isWideOnly) }),
  );
  const watch = element('a', {}, 'Watch');
  const explain = element('a', {}, 'Explain');
  const line = element('tr', {}, ...cells, element('td', { class: 'actions wide-only' }, watch, ' ', explain));
  const fill = (next: RouteRow) => {
    const isOtherRoute = row?.route !== next.route;
    row = next;
    for (const [index, { isNumber, cell }] of COLUMNS.entries()) {
      if (isNumber) setText(cells[index] as HTMLElement, String(cell(next)));
      else if (isOtherRoute) cells[index]?.replaceChildren(cell(next));
    }
    if (!isOtherRoute) return;
    const { id } = next.route;
    watch.setAttribute('href', decisionsHash(`route:${id}`));
    explain.setAttribute('href', exampleHash(next.route));
    for (const link of [watch, explain]) link.setAttribute('aria-label', `${link.textContent} ${id}`);
  };
  return { line, fill };
}

function actionsHeader() {
  return element('th', { scope: 'col', class: 'wide-only' }, element('span', { class: 'hidden' }, 'Actions'));
}

function classOf(isNumber: boolean, isWideOnly: boolean) {
  return `${isNumber ? 'number' : ''}${isWideOnly ? ' wide-only' : ''}`.trim() || undefined;
}

function compare(one: string | number, other: string | number) {
  return one < other ? -1 : one > other ? 1 : 0;
}
