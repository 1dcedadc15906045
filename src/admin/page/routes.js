/** @import { Responses } from './api.js' */
import { badge, byId, element, setText } from './element.js';
import { decimal, duration, integer, NONE, quantity } from './format.js';

const PAGE_ROWS = 100;

/**
 * @typedef {Responses['routes']['routes'][number]} Route
 * @typedef {Responses['traffic']['routes'][number] & { seconds: number }} RecentTraffic
 * @typedef {{ route: Route, text: string, at: number, checks: string, traffic: RecentTraffic | undefined }} Row
 * @typedef {{ name: string, title: string, isNumber?: boolean, key: (row: Row) => string | number, cell: (row: Row) => Node | string }} Column
 */

/** @type {Column[]} */
const COLUMNS = [
  { name: 'id', title: 'Route', key: ({ route }) => route.id, cell: ({ route }) => route.id },
  { name: 'method', title: 'Method', key: ({ route }) => methodsOf(route), cell: ({ route }) => methodsOf(route) },
  { name: 'path', title: 'Path', key: ({ route }) => route.path, cell: ({ route }) => pathElement(route.path) },
  { name: 'access', title: 'Access', key: ({ route }) => accessOf(route), cell: accessElement },
  { name: 'upstream', title: 'Upstream', key: ({ route }) => route.upstream, cell: ({ route }) => route.upstream },
  { name: 'schema', title: 'Schema', key: ({ checks }) => checks, cell: ({ checks }) => checks || NONE },
  { ...measured('rate', 'Rate', ({ requests, seconds }) => requests / seconds), cell: rateOf },
  { ...measured('p50', 'p50', ({ p50_ms }) => p50_ms), cell: ({ traffic }) => duration(traffic?.p50_ms) },
  { ...measured('p95', 'p95', ({ p95_ms }) => p95_ms), cell: ({ traffic }) => duration(traffic?.p95_ms) },
  { ...measured('p99', 'p99', ({ p99_ms }) => p99_ms), cell: ({ traffic }) => duration(traffic?.p99_ms) },
  {
    ...measured('4xx', '4xx', ({ client_errors }) => client_errors),
    cell: ({ traffic }) => countOf(traffic?.client_errors),
  },
  {
    ...measured('5xx', '5xx', ({ server_errors }) => server_errors),
    cell: ({ traffic }) => countOf(traffic?.server_errors),
  },
];

/** The table of routes. Sorting and filtering apply to all routes; the table shows one page of them. */
export class Routes {
  /** @type {Row[]} */
  #rows = [];
  /** @type {Map<string | null, RecentTraffic>} */
  #traffic = new Map();
  #sortedBy = '';
  #isDescending = false;
  #page = 0;
  /** @type {ReturnType<typeof rowOf>[]} the table rows, which are reused */
  #tableRows = [];
  #open;

  /** @param {(view: 'decisions' | 'explain', route: Route) => void} open */
  constructor(open) {
    this.#open = open;
    byId('routes-table').tHead.rows[0].append(...COLUMNS.map((column) => this.#headerOf(column)), actionsHeader());
    byId('routes-tools').addEventListener('input', () => this.#restart());
    byId('routes-tools').addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
    for (const button of byId('routes-pages').querySelectorAll('button'))
      button.addEventListener('click', () => this.#turn(button.dataset.step));
  }

  /** @param {readonly Route[]} routes */
  showRoutes(routes) {
    this.#rows = routes.map((route, at) => {
      const checks = checksOf(route);
      const words = [route.id, route.methods.join(' '), methodsOf(route), route.path, route.access, route.upstream];
      const text = [...words, checks, ...route.roles].join(' ').toLowerCase();
      return { route, text, at, checks, traffic: undefined };
    });
    this.#join();
  }

  /** @param {Responses['traffic']} traffic */
  showTraffic({ seconds, routes }) {
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

  /** Draws the table, unless another view is visible. */
  show() {
    if (byId('routes').hidden) return;
    const filtered = this.#filteredRows();
    const pages = Math.max(1, Math.ceil(filtered.length / PAGE_ROWS));
    this.#page = Math.min(this.#page, pages - 1);
    const rows = filtered.slice(this.#page * PAGE_ROWS, (this.#page + 1) * PAGE_ROWS);
    while (this.#tableRows.length < rows.length) this.#tableRows.push(rowOf(this.#open));
    for (const [index, row] of rows.entries()) this.#tableRows[index]?.fill(row);
    const body = byId('routes-table').tBodies[0];
    if (body.rows.length !== rows.length)
      body.replaceChildren(...this.#tableRows.slice(0, rows.length).map(({ line }) => line));
    const all = quantity(this.#rows.length, 'route');
    setText(
      byId('routes-status'),
      filtered.length === this.#rows.length ? all : `${integer(filtered.length)} of ${all}`,
    );
    this.#showPages(pages);
  }

  #filteredRows() {
    const words = byId('routes-filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    const show = byId('routes-show').value;
    const filtered = this.#rows.filter(({ text, traffic }) => {
      if (show === 'busy' && traffic === undefined) return false;
      if (show === 'failing' && (traffic === undefined || traffic.client_errors + traffic.server_errors === 0))
        return false;
      return words.every((/** @type {string} */ word) => text.includes(word));
    });
    const column = COLUMNS.find(({ name }) => name === this.#sortedBy);
    if (column === undefined) return filtered;
    const sign = this.#isDescending ? -1 : 1;
    // Equal rows keep the order of the manifest.
    return filtered.sort((one, other) => sign * compare(column.key(one), column.key(other)) || one.at - other.at);
  }

  /** @param {number} pages */
  #showPages(pages) {
    byId('routes-pages').hidden = pages === 1;
    setText(byId('routes-page'), `Page ${integer(this.#page + 1)} of ${integer(pages)}`);
    for (const button of byId('routes-pages').querySelectorAll('button')) {
      const isBack = button.dataset.step === 'first' || button.dataset.step === 'previous';
      // The attribute `disabled` would remove the focus from the button.
      button.setAttribute('aria-disabled', String(isBack ? this.#page === 0 : this.#page === pages - 1));
    }
  }

  /** @param {string | undefined} step */
  #turn(step) {
    const to =
      { first: 0, previous: this.#page - 1, next: this.#page + 1, last: Number.MAX_SAFE_INTEGER }[step ?? ''] ?? 0;
    this.#page = Math.max(0, to);
    this.show();
  }

  /** @param {Column} column */
  #headerOf({ name, title, isNumber = false }) {
    const button = element('button', { type: 'button' }, title);
    const head = element('th', { scope: 'col', class: isNumber ? 'number' : undefined, 'aria-sort': 'none' }, button);
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

/** @param {(view: 'decisions' | 'explain', route: Route) => void} open */
function rowOf(open) {
  /** @type {Row | undefined} */
  let row;
  const cells = COLUMNS.map(({ isNumber }, index) =>
    index === 0 ? element('th', { scope: 'row' }) : element('td', { class: isNumber ? 'number' : undefined }),
  );
  const buttons = /** @type {const} */ (['decisions', 'explain']).map((view) => {
    const button = element('button', { type: 'button', class: 'plain' }, view === 'decisions' ? 'Watch' : 'Explain');
    button.addEventListener('click', () => row && open(view, row.route));
    return button;
  });
  const line = element('tr', {}, ...cells, element('td', { class: 'actions' }, ...buttons));
  const fill = (/** @type {Row} */ next) => {
    const isOtherRoute = row?.route !== next.route;
    row = next;
    for (const [index, { isNumber, cell }] of COLUMNS.entries()) {
      if (isNumber) setText(/** @type {HTMLElement} */ (cells[index]), String(cell(next)));
      else if (isOtherRoute) cells[index]?.replaceChildren(cell(next));
    }
    for (const button of buttons) button.setAttribute('aria-label', `${button.textContent} ${next.route.id}`);
  };
  return { line, fill };
}

function actionsHeader() {
  return element('th', { scope: 'col' }, element('span', { class: 'hidden' }, 'Actions'));
}

/**
 * @param {string} name
 * @param {string} title
 * @param {(traffic: RecentTraffic) => number | null} read
 */
function measured(name, title, read) {
  const key = (/** @type {Row} */ { traffic }) => (traffic === undefined ? -1 : (read(traffic) ?? -1));
  return { name, title, isNumber: true, key };
}

/** @param {Row} row */
function rateOf({ traffic }) {
  return traffic === undefined || traffic.seconds === 0 ? NONE : `${decimal(traffic.requests / traffic.seconds)}/s`;
}

/** @param {number | undefined} count */
function countOf(count) {
  return count === undefined ? NONE : integer(count);
}

/** The number of methods that `any` stands for. */
const ANY = 7;

/** @param {Route} route */
function methodsOf({ methods }) {
  return methods.length === ANY ? 'any' : methods.join(', ');
}

/** @param {Route} route */
function accessOf({ access, roles }) {
  return `${access} ${roles.join(', ')}`;
}

/** @param {Row} row */
function accessElement({ route }) {
  const roles = element('span', { class: 'hint' }, ` ${route.roles.join(', ')}`);
  return element('span', {}, badge(route.access, route.access === 'public' ? 'warn' : 'calm'), roles);
}

/** @param {Route} route */
function checksOf({ body, parameters, login, websocket, validation }) {
  const parts = [...(body?.schema ? ['body'] : []), ...(parameters ? ['parameters'] : [])];
  const checks = parts.length > 0 && validation === 'report' ? [`${parts.join(', ')} (report only)`] : parts;
  return [...checks, ...(login ? ['login'] : []), ...(websocket ? ['websocket'] : [])].join(', ');
}

/**
 * Returns the element of a path. A long path may break between its segments.
 *
 * @param {string} path
 */
function pathElement(path) {
  const segments = path.split(/(?=\/)/).flatMap((segment) => {
    const parts = segment.split(/(\{[^}]*\}|\*\*$)/);
    return [element('wbr'), ...parts.map((part, index) => (index % 2 === 1 ? element('var', {}, part) : part))];
  });
  return element('code', {}, ...segments);
}

/**
 * @param {string | number} one
 * @param {string | number} other
 */
function compare(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}
