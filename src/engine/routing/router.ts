import { addRoute, createRouter as createTree, findRoute } from 'rou3';
import type { Route } from '../plan/route-definition.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import { FOLDABLE, foldLiteral, isAlreadyFolded } from './path-folding.ts';
import { createPathReader, type LiteralForm, type PathReading } from './path-reader.ts';
import type { Pattern } from './pattern.ts';

export interface Router {
  /** Returns the route of a path that the path guard accepted, still encoded; `undefined` if there is none. */
  readonly match: (method: string, path: string) => Route | undefined;
  /** Returns the route that a reading of a path belongs to. The router refuses a path if one of its readings belongs to a stricter route. */
  readonly matchReading: (method: string, reading: PathReading) => Route | undefined;
  /** Returns every reading of a path by some server, the first one with all segments folded; `undefined` if there are too many. */
  readonly readings: (path: string) => readonly PathReading[] | undefined;
  /** The forms of literals that differ. */
  readonly forms: readonly LiteralForm[];
  /** Returns the methods that the routes of a path accept, sorted; empty if no route matches the path. */
  readonly allowedMethods: (path: string) => readonly string[];
  /** True if some route keeps encoded slashes, so the path guard accepts them. No other route matches such a path. */
  readonly keepsEncodedSlash: boolean;
}

/**
 * Creates the router of a plan. From left to right, literals take precedence over parameters, and parameters over
 * `/**`; the order of the routes does not matter. One trailing slash is ignored.
 *
 * Some servers read `/Admin`, `/admin.`, `/admin;x` and `/admin%3fx` as `/admin`, and all that decode read `/%40me` as
 * `/@me`. The router therefore also looks up the folded path: without escapes, letter case, blanks, trailing dots, `;`
 * parameters, escaped queries, invisible characters and compatibility forms of Unicode. Each segment may be folded alone.
 * If a folded path matches a stricter route (one with a token, fewer roles, a login gate or a body schema), the path has
 * no route at all.
 *
 * A path with an encoded slash matches only a route that keeps it. Some servers still read it as a slash, so the path has
 * no route if, read like that and folded, it would bypass a stricter route.
 */
export function* createRouter(routes: readonly Route[]): SlicedWork<Router> {
  const entries: RouterEntry[] = [];
  for (const route of routes) {
    entries.push({ route, isFolded: route.pattern.every(isAlreadyFolded), strictness: strictness(route) });
    yield;
  }
  const aliases = methodAliases(routes);
  const { exact, folded } = yield* createTrees(entries, aliases);
  // Most manifests have no capitals in strict routes, and most requests have nothing to fold. Both trees agree on these.
  const isFolded = entries.every(({ isFolded, strictness }) => strictness === 0 || isFolded);
  const methods = [...aliases.keys()].sort();
  const find = (tree: RouteTree, method: string, path: string) =>
    findRoute(tree, aliases.get(method) ?? method, path, WITHOUT_PARAMS)?.data;
  const trees = { folded, written: exact };
  const forms: readonly LiteralForm[] = exact === folded ? ['folded'] : ['folded', 'written'];
  const matchReading = (method: string, { path, form }: PathReading) => find(trees[form], method, path);
  const readings = createPathReader(routes.map(({ pattern }) => pattern));
  const bypassesStricter = (method: string, path: string, route: Route) => {
    const isBypass = (reading: PathReading) => {
      const twin = matchReading(method, reading);
      return twin !== undefined && twin !== route && isStricter(twin, route);
    };
    return readings(path)?.some(isBypass) ?? true;
  };
  const matchPlain = (method: string, path: string) => {
    const route = find(exact, method, path);
    if (route === undefined || (isFolded && !FOLDABLE.test(path))) return route;
    return bypassesStricter(method, path, route) ? undefined : route;
  };
  const matchWithEncodedSlash = (method: string, path: string) => {
    const route = matchPlain(method, path);
    if (route === undefined || !route.keepsEncodedSlash) return undefined;
    return bypassesStricter(method, path.replaceAll(/%2f/gi, '/'), route) ? undefined : route;
  };
  const keepsEncodedSlash = routes.some((route) => route.keepsEncodedSlash);
  const match = keepsEncodedSlash
    ? (method: string, path: string) => (/%2f/i.test(path) ? matchWithEncodedSlash : matchPlain)(method, path)
    : matchPlain;
  return {
    match,
    matchReading,
    readings,
    forms,
    allowedMethods: (path) => methods.filter((method) => match(method, path) !== undefined),
    keepsEncodedSlash,
  };
}

interface RouterEntry {
  readonly route: Route;
  /** True if folding does not change the pattern. */
  readonly isFolded: boolean;
  /** The rank of its requirements. */
  readonly strictness: number;
}

type RouteTree = ReturnType<typeof createTree<Route>>;

/** Creates the tree of all routes, and the tree of their folded patterns. Both are one tree if folding changes none of them. */
function* createTrees(
  entries: readonly RouterEntry[],
  aliases: ReadonlyMap<string, string>,
): SlicedWork<{ readonly exact: RouteTree; readonly folded: RouteTree }> {
  const exact = createTree<Route>();
  const folded = entries.every(({ isFolded }) => isFolded) ? exact : createTree<Route>();
  // The tree keeps the first of two routes that fold into one path, so the stricter one must come first.
  for (const { route } of entries.toSorted((a, b) => b.strictness - a.strictness)) {
    const path = treePath(route.pattern);
    const foldedPath = folded === exact ? path : treePath(route.pattern.map(foldLiteral));
    for (const method of route.methods) {
      if (aliases.get(method) !== method) continue;
      addRoute(exact, method, path, route);
      if (folded !== exact) addRoute(folded, method, foldedPath, route);
    }
    yield;
  }
  return { exact, folded };
}

/** Returns a text that is equal for routes that receive the same requests, beside the same other routes. */
export function routingKey(route: Route): string {
  const { id, path, methods, access, auth, login, keepsEncodedSlash } = route;
  const roles = auth?.role.permissions ?? [];
  return JSON.stringify([id, path, methods, access, roles, login !== undefined, hasRules(route), keepsEncodedSlash]);
}

/** True if a route requires something that the other one does not. */
export function isStricter(route: Route, other: Route): boolean {
  const needsToken = route.access === 'protected' && other.access === 'public';
  return needsToken || route.login !== undefined || hasRules(route) || hasFewerRoles(route, other);
}

function hasFewerRoles({ auth }: Route, other: Route): boolean {
  const allowed = other.auth?.role.permissions ?? [];
  return auth !== undefined && allowed.some((permission) => !auth.role.permits(permission));
}

function hasRules({ validation, body, parameters }: Route): boolean {
  return validation === 'enforce' && (body !== undefined || parameters !== undefined);
}

/** Ranks what a route requires; 0 if there is nothing to bypass. */
function strictness(route: Route): number {
  const { permissions, isAny } = route.auth?.role ?? {};
  const token = route.access === 'protected' ? 8 + (isAny ? 0 : 1 / (1 + (permissions?.length ?? 0))) : 0;
  return token + (route.login === undefined ? 0 : 4) + (hasRules(route) ? 2 : 0);
}

const WITHOUT_PARAMS = { params: false };

/** Writes a pattern in the syntax of rou3. */
function treePath(pattern: Pattern): string {
  const segments = pattern.map((segment) => {
    if (segment.kind === 'rest') return '**';
    return segment.kind === 'parameter' ? `:${segment.name}` : segment.text.replaceAll(/[:*()+?{}\\]/g, '\\$&');
  });
  return `/${segments.join('/')}`;
}

/** Returns for each method one that stands for it: each route has all or none of a group, such as GET and HEAD. */
export function methodAliases(routes: readonly Route[]): Map<string, string> {
  const lists = [...new Map(routes.map(({ methods }) => [methods.join(), methods])).values()];
  const methodByUse = new Map<string, string>();
  const aliases = new Map<string, string>();
  for (const method of new Set(lists.flat())) {
    const use = lists.map((methods) => Number(methods.includes(method))).join('');
    aliases.set(method, methodByUse.get(use) ?? method);
    if (!methodByUse.has(use)) methodByUse.set(use, method);
  }
  return aliases;
}
