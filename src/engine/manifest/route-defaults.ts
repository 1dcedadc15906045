import { BODYLESS_METHODS } from '../http1/http-methods.ts';
import { valueAt } from '../json-pointer.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { isMap } from '../schema/schema-walk.ts';
import type { Document } from './document.ts';
import { isList, type YamlValue } from './yaml-values.ts';

type Values = Readonly<Record<string, YamlValue>>;

interface RouteDefault extends DefaultKey {
  readonly document: Document;
  readonly value: YamlValue;
}

interface DefaultKey {
  readonly path: readonly string[];
  /** Returns false for a route on which the value is an error or has no meaning. */
  readonly fits: (route: Values) => boolean;
  /** True if the value of the manifest holds in included files too, whose own value must be a part of it. */
  readonly isNarrowed?: boolean;
  /** The path of the only item that holds without a value in the manifest. */
  readonly implied?: Path;
}

const ALWAYS = () => true;
/** Routes without an upstream forward nothing. */
const FORWARDS = ({ upstream }: Values) => upstream !== undefined;

const DEFAULT_KEYS: readonly DefaultKey[] = [
  { path: ['timeout'], fits: FORWARDS },
  { path: ['roles'], fits: ({ access, login }) => access !== 'public' || login !== undefined, isNarrowed: true },
  {
    path: ['issuers'],
    fits: ({ access }) => access !== 'public',
    isNarrowed: true,
    implied: ['auth', 'tokens', 0, 'name'],
  },
  { path: ['rateLimits'], fits: ALWAYS },
  { path: ['requestHeaders'], fits: FORWARDS },
  { path: ['responseHeaders'], fits: ALWAYS },
  {
    path: ['body', 'maxBytes'],
    fits: (route) => FORWARDS(route) && !methodsOf(route).every((method) => BODYLESS_METHODS.has(method)),
  },
  { path: ['validation'], fits: ALWAYS },
  {
    path: ['websocket'],
    fits: (route) => FORWARDS(route) && route['login'] === undefined && methodsOf(route).some(mayBeGet),
  },
];

function methodsOf({ method }: Values): string[] {
  return (isList(method) ? method : [method]).map(String);
}

function mayBeGet(method: string): boolean {
  return method === 'GET' || method === 'any' || method.includes('${');
}

/** The values that the routes of one file have unless they state their own. */
export interface RouteDefaults {
  readonly resolve: (route: YamlValue) => YamlValue;
  /** Returns the file and the path of a value that a route does not state itself. */
  readonly originOf: (route: YamlValue, pathInRoute: Path) => { document: Document; path: Path } | undefined;
}

/** Reads the `defaults` of a file; `undefined` if it has none. Reports a value that allows more than that of the manifest. */
export function readRouteDefaults(document: Document, main: Document, findings: Finding[]): RouteDefaults | undefined {
  const defaults = DEFAULT_KEYS.flatMap((key): RouteDefault[] => {
    const own = defaultAt(document, key);
    const limit = key.isNarrowed ? defaultAt(main, key) : undefined;
    if (own !== undefined && document !== main) findings.push(...widerItems(own, limit, { document, main, key }));
    // An empty value replaces the default of the manifest, so that the schema refuses it.
    const value = own === undefined ? limit : own;
    return value === undefined ? [] : [{ ...key, value, document: own === undefined ? main : document }];
  });
  if (defaults.length === 0) return undefined;
  const missingIn = (route: Values) => defaults.filter(({ path, fits }) => isMissing(route, path) && fits(route));
  return {
    resolve: (route) => (isMap(route) ? missingIn(route).reduce(withDefault, route) : route),
    originOf: (route, pathInRoute) => {
      const found = isMap(route) ? missingIn(route).find(({ path }) => isWithin(pathInRoute, path, route)) : undefined;
      return found && { document: found.document, path: ['defaults', ...pathInRoute] };
    },
  };
}

/** Returns the paths in `defaults` that are none of its keys. */
export function unknownDefaults(defaults: Values): string[][] {
  const paths = Object.entries(defaults).flatMap(([key, value]) =>
    key === 'body' && isMap(value) ? Object.keys(value).map((inside) => [key, inside]) : [[key]],
  );
  return paths.filter((path) => !DEFAULT_KEYS.some((known) => known.path.join() === path.join()));
}

function defaultAt({ value }: Document, { path }: DefaultKey): YamlValue | undefined {
  return valueAt(value, ['defaults', ...path]) as YamlValue | undefined;
}

/** True if the route does not state the value. A part of another type than a map is an error, which stays. */
function isMissing(route: Values, [key = '', inside]: readonly string[]): boolean {
  const own = route[key];
  if (inside === undefined || own === undefined) return own === undefined;
  return isMap(own) && own[inside] === undefined;
}

function withDefault(route: Values, { path: [key = '', inside], value }: RouteDefault): Values {
  return { ...route, [key]: inside === undefined ? value : { ...(route[key] as Values), [inside]: value } };
}

/** True for a path of the value, and for one of a map that has nothing but the value. */
function isWithin(path: Path, [key = '', inside]: readonly string[], route: Values): boolean {
  return (
    path[0] === key && (inside === undefined || (path.length === 1 ? route[key] === undefined : path[1] === inside))
  );
}

/** Reports the items of a list that the list of the manifest lacks. */
function widerItems(
  own: YamlValue,
  limit: YamlValue | undefined,
  { document, main, key }: { document: Document; main: Document; key: DefaultKey },
): Finding[] {
  const implied = limit === undefined && key.implied && valueAt(main.value, key.implied);
  const all = implied ? [String(implied)] : limit;
  if (!key.isNarrowed || (isList(own) && !isList(all))) return [];
  const path = ['defaults', ...key.path];
  // `any` allows more than every list.
  return [own].flat().flatMap((item, index) => {
    if ([all].flat().includes(item)) return [];
    const message = `"${path.join('.')}" of the manifest does not have this, and an included file may only have fewer; remove it here, or add it there`;
    const finding = errorAt(isList(own) ? [...path, index] : path, 'include', message);
    const related = { path, file: main.file, message: 'the list of the manifest' };
    return { ...finding, location: { ...finding.location, file: document.file }, related };
  });
}
