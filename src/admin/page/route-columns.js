/** @import { Responses } from './api.js' */
import { badge, element } from './element.js';
import { decimal, duration, integer, NONE } from './format.js';

/**
 * @typedef {Responses['routes']['routes'][number]} Route
 * @typedef {Responses['traffic']['routes'][number] & { seconds: number }} RecentTraffic
 * @typedef {{ route: Route, text: string, at: number, checks: string, traffic: RecentTraffic | undefined }} Row
 * @typedef {{ name: string, title: string, isNumber?: boolean, isWideOnly?: boolean, key: (row: Row) => string | number, cell: (row: Row) => Node | string }} Column
 */

/**
 * The columns of the table of routes. A narrow window shows only those that are not `isWideOnly`.
 *
 * @type {Column[]}
 */
export const COLUMNS = [
  { name: 'id', title: 'Route', key: ({ route }) => route.id, cell: linkOf },
  { ...textColumn('method', 'Method', ({ route }) => methodsOf(route)) },
  { ...textColumn('path', 'Path', ({ route }) => route.path), cell: ({ route }) => pathElement(route.path) },
  { ...textColumn('access', 'Access', ({ route }) => accessOf(route)), cell: accessElement },
  { ...textColumn('upstream', 'Upstream', ({ route }) => route.upstream ?? String(route.status)) },
  { ...textColumn('schema', 'Schema', ({ checks }) => checks), cell: ({ checks }) => checks || NONE },
  { ...trafficColumn('Rate', ({ requests, seconds }) => requests / seconds, decimal), cell: rateOf },
  { ...trafficColumn('p50', ({ p50_ms }) => p50_ms, duration), isWideOnly: true },
  trafficColumn('p95', ({ p95_ms }) => p95_ms, duration),
  { ...trafficColumn('p99', ({ p99_ms }) => p99_ms, duration), isWideOnly: true },
  trafficColumn('4xx', ({ client_errors }) => client_errors, integer),
  trafficColumn('5xx', ({ server_errors }) => server_errors, integer),
];

/**
 * @param {string} name
 * @param {string} title
 * @param {(row: Row) => string} read
 * @returns {Column}
 */
function textColumn(name, title, read) {
  return { name, title, isWideOnly: true, key: read, cell: read };
}

/** @param {Row} row */
function linkOf({ route }) {
  return element(
    'span',
    {},
    element('a', { href: routeHash(route.id) }, route.id),
    element('span', { class: 'narrow-only hint' }, `${methodsOf(route)} `, pathElement(route.path)),
  );
}

/**
 * Returns the URL fragment of the view of a route.
 *
 * @param {string} id
 */
export function routeHash(id) {
  return `#/routes/${encodeURIComponent(id)}`;
}

/**
 * @param {string} title
 * @param {(traffic: RecentTraffic) => number | null} read
 * @param {(value: number) => string} format
 * @returns {Column}
 */
function trafficColumn(title, read, format) {
  const readRow = (/** @type {Row} */ { traffic }) => (traffic === undefined ? null : read(traffic));
  const cell = (/** @type {Row} */ row) => {
    const value = readRow(row);
    return value === null ? NONE : format(value);
  };
  return { name: title, title, isNumber: true, key: (row) => readRow(row) ?? -1, cell };
}

/** @param {Row} row */
function rateOf({ traffic }) {
  return traffic === undefined || traffic.seconds === 0 ? NONE : `${decimal(traffic.requests / traffic.seconds)}/s`;
}

/** The number of methods that `any` stands for. */
const METHOD_COUNT = 7;

/** @param {Route} route */
export function methodsOf({ methods }) {
  return methods.length === METHOD_COUNT ? 'any' : methods.join(', ');
}

/** @param {Route} route */
function accessOf({ access, roles }) {
  return `${access} ${roles.join(', ')}`;
}

/** @param {{ route: Route }} row */
export function accessElement({ route }) {
  const roles = element('span', { class: 'hint' }, ` ${route.roles.join(', ')}`);
  return element('span', {}, badge(route.access, route.access === 'public' ? 'warn' : 'calm'), roles);
}

/** @param {Route} route */
export function checksOf({ body, parameters, login, websocket, validation }) {
  const parts = [...(body?.schema ? ['body'] : []), ...(parameters ? ['parameters'] : [])];
  const checks = parts.length > 0 && validation === 'report' ? [`${parts.join(', ')} (report only)`] : parts;
  return [...checks, ...(login ? ['login'] : []), ...(websocket ? ['websocket'] : [])].join(', ');
}

/**
 * Returns the element of a path. A long path may break between its segments.
 *
 * @param {string} path
 */
export function pathElement(path) {
  const segments = path.split(/(?=\/)/).flatMap((segment) => {
    const parts = segment.split(/(\{[^}]*\}|\*\*$)/);
    return [element('wbr'), ...parts.map((part, index) => (index % 2 === 1 ? element('var', {}, part) : part))];
  });
  return element('code', {}, ...segments);
}
