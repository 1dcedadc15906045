import type { Responses } from './api.ts';
import { badge, element } from './element.ts';
import { decimal, duration, integer, NONE } from './format.ts';

export interface RouteColumn {
  name: string;
  title: string;
  isNumber?: boolean;
  isWideOnly?: boolean;
  key: (row: RouteRow) => string | number;
  cell: (row: RouteRow) => Node | string;
}

export interface RouteRow {
  route: ListedRoute;
  text: string;
  at: number;
  checks: string;
  traffic: RecentTraffic | undefined;
}

export type RecentTraffic = Responses['traffic']['routes'][number] & { seconds: number };
export type ListedRoute = Responses['routes']['routes'][number];

/** The columns of the table of routes. A narrow window shows only those that are not `isWideOnly`. */
export const COLUMNS: RouteColumn[] = [
  { name: 'id', title: 'Route', key: ({ route }) => route.id, cell: linkOf },
  { ...textColumn('method', 'Method', ({ route }) => methodsOf(route)) },
  { ...textColumn('path', 'Path', ({ route }) => route.path), cell: ({ route }) => pathElement(route.path) },
  { ...textColumn('access', 'Access', ({ route }) => `${route.access} ${route.callers}`), cell: accessElement },
  { ...textColumn('upstream', 'Upstream', ({ route }) => route.upstream ?? String(route.status)) },
  { ...textColumn('checks', 'Checks', ({ checks }) => checks), cell: ({ checks }) => checks || NONE },
  { ...trafficColumn('Rate', ({ requests, seconds }) => requests / seconds, decimal), cell: rateOf },
  { ...trafficColumn('p50', ({ p50_ms }) => p50_ms, duration), isWideOnly: true },
  trafficColumn('p95', ({ p95_ms }) => p95_ms, duration),
  { ...trafficColumn('p99', ({ p99_ms }) => p99_ms, duration), isWideOnly: true },
  trafficColumn('4xx', ({ client_errors }) => client_errors, integer),
  trafficColumn('5xx', ({ server_errors }) => server_errors, integer),
];

function textColumn(name: string, title: string, read: (row: RouteRow) => string): RouteColumn {
  return { name, title, isWideOnly: true, key: read, cell: read };
}

function linkOf({ route }: RouteRow) {
  return element(
    'span',
    {},
    element('a', { href: routeHash(route.id) }, route.id),
    element('span', { class: 'narrow-only hint' }, `${methodsOf(route)} `, pathElement(route.path)),
  );
}

/** Returns the URL fragment of the view of a route. */
export function routeHash(id: string) {
  return `#/routes/${encodeURIComponent(id)}`;
}

function trafficColumn(
  title: string,
  read: (traffic: RecentTraffic) => number | null,
  format: (value: number) => string,
): RouteColumn {
  const readRow = ({ traffic }: RouteRow) => (traffic === undefined ? null : read(traffic));
  const cell = (row: RouteRow) => {
    const value = readRow(row);
    return value === null ? NONE : format(value);
  };
  return { name: title, title, isNumber: true, key: (row) => readRow(row) ?? -1, cell };
}

function rateOf({ traffic }: RouteRow) {
  return traffic === undefined || traffic.seconds === 0 ? NONE : `${decimal(traffic.requests / traffic.seconds)}/s`;
}

/** The number of methods that `any` stands for. */
const METHOD_COUNT = 7;

export function methodsOf({ methods }: Pick<ListedRoute, 'methods'>) {
  return methods.length === METHOD_COUNT ? 'any' : methods.join(', ');
}

/** Returns the access with its callers: "public, then admin or user" of a login, "protected admin" of a route for admins. */
export function accessElement({ route: { access, callers } }: { route: ListedRoute }) {
  const rest = access === 'public' ? callers.slice(access.length) : ` ${callers}`;
  return element(
    'span',
    {},
    badge(access, access === 'public' ? 'warn' : 'calm'),
    element('span', { class: 'hint' }, rest),
  );
}

export function checksOf({ body, parameters, login, websocket, validation }: ListedRoute) {
  const parts = [...(body?.schema ? ['body'] : []), ...(parameters ? ['parameters'] : [])];
  const checks = parts.length > 0 && validation === 'report' ? [`${parts.join(', ')} (report only)`] : parts;
  return [...checks, ...(login ? ['login'] : []), ...(websocket ? ['websocket'] : [])].join(', ');
}

/** Returns the element of a path. A long path may break between its segments. */
export function pathElement(path: string) {
  const segments = path.split(/(?=\/)/).flatMap((segment) => {
    const parts = segment.split(/(\{[^}]*\}|\*\*$)/);
    return [element('wbr'), ...parts.map((part, index) => (index % 2 === 1 ? element('var', {}, part) : part))];
  });
  return element('code', {}, ...segments);
}
