import { addRoute, createRouter as createTree, findRoute } from 'rou3';
import type { Route } from '../route-definition.ts';
import { runToEnd, type SlicedWork } from '../sliced-work.ts';
import { FOLDABLE, foldedVariants, foldLiteral, isAlreadyFolded } from './path-folding.ts';
import { type Pattern, parsePattern } from './pattern.ts';

export interface Router {
  /** The route of a path that the path guard has passed, still encoded; `undefined` when there is none. */
  readonly match: (method: string, path: string) => Route | undefined;
  /** The methods that some route has for a path, sorted; empty when no route knows the path. */
  readonly allowedMethods: (path: string) => readonly string[];
  /** Whether the path guard may pass an encoded slash at all: some route keeps it. No other route matches such a path. */
  readonly keepsEncodedSlash: boolean;
}

/**
 * Makes the router of a plan. Literal segments win over parameters, parameters over `/**`, from the left;
 * the order of the routes has no part in it. One trailing slash is ignored.
 *
 * Some servers take `/Admin`, `/admin.`, `/admin;x` and `/admin%3fx` for `/admin`, and all that decode take `/%40me` for
 * `/@me`. So a path is looked up once more with escapes, letter case, blanks, trailing dots, `;` parameters, escaped queries,
 * invisible characters and compatibility forms of Unicode folded away. It has no route at all when it then matches a stricter
 * route: one with a token, fewer roles, a login gate or a body schema.
 *
 * A path with an encoded slash has a route only where that one keeps it. Some servers take it for a slash all the same:
 * so it has none where it would then, folded like that, pass such a route by.
 */
export function createRouter(routes: readonly Route[]): Router {
  return runToEnd(createRouterSliced(routes));
}

/** The same, step by step. */
export function* createRouterSliced(routes: readonly Route[]): SlicedWork<Router> {
  const written: RouterEntry[] = [];
  for (const route of routes) {
    const pattern = parsePattern(route.path);
    written.push({ route, pattern, isFolded: pattern.every(isAlreadyFolded), strictness: strictness(route) });
    yield;
  }
  const exact = createTree<Route>();
  // One tree is both where folding changes none of the patterns.
  const folded = written.every(({ isFolded }) => isFolded) ? exact : createTree<Route>();
  const standIns = methodAliases(routes);
  // Of two routes that fold into one, the tree keeps the first: it must be the stricter one.
  for (const { route, pattern } of written.toSorted((a, b) => b.strictness - a.strictness)) {
    const path = treePath(pattern);
    const foldedPath = folded === exact ? path : treePath(pattern.map(foldLiteral));
    for (const method of route.methods) {
      if (standIns.get(method) !== method) continue;
      addRoute(exact, method, path, route);
      if (folded !== exact) addRoute(folded, method, foldedPath, route);
    }
    yield;
  }
  // Most manifests have no capitals in the paths that matter, and most requests nothing to fold: then both trees agree.
  const isFolded = written.every(({ isFolded, strictness }) => strictness === 0 || isFolded);
  const methods = [...standIns.keys()].sort();
  const find = (tree: typeof exact, method: string, path: string) =>
    findRoute(tree, standIns.get(method) ?? method, path, WITHOUT_PARAMS)?.data;
  const isPassedBy = (method: string, path: string, route: Route) =>
    foldedVariants(path).some((reading) => {
      const twin = find(folded, method, reading);
      return twin !== undefined && twin !== route && isStricter(twin, route);
    });
  const matchPlain = (method: string, path: string) => {
    const route = find(exact, method, path);
    if (route === undefined || (isFolded && !FOLDABLE.test(path))) return route;
    return isPassedBy(method, path, route) ? undefined : route;
  };
  const matchKept = (method: string, path: string) => {
    const route = matchPlain(method, path);
    if (route === undefined || !route.keepsEncodedSlash) return undefined;
    return isPassedBy(method, path.replaceAll(/%2f/gi, '/'), route) ? undefined : route;
  };
  const keepsEncodedSlash = routes.some((route) => route.keepsEncodedSlash);
  const match = keepsEncodedSlash
    ? (method: string, path: string) => (/%2f/i.test(path) ? matchKept : matchPlain)(method, path)
    : matchPlain;
  return {
    match,
    allowedMethods: (path) => methods.filter((method) => match(method, path) !== undefined),
    keepsEncodedSlash,
  };
}

interface RouterEntry {
  readonly route: Route;
  readonly pattern: Pattern;
  /** Whether folding changes nothing of it. */
  readonly isFolded: boolean;
  /** How much it asks for. */
  readonly strictness: number;
}

/**
 * Methods of which each route has all or none, such as GET and HEAD, stand in the trees as one.
 *
 * @returns for each method that some route has, the one that stands there for it
 */
function methodAliases(routes: readonly Route[]): Map<string, string> {
  const lists = [...new Map(routes.map(({ methods }) => [methods.join(), methods])).values()];
  const byUse = new Map<string, string>();
  const standIns = new Map<string, string>();
  for (const method of new Set(lists.flat())) {
    const use = lists.map((methods) => Number(methods.includes(method))).join('');
    standIns.set(method, byUse.get(use) ?? method);
    if (!byUse.has(use)) byUse.set(use, method);
  }
  return standIns;
}

/** Returns true if a route asks for something that another one lets by. */
export function isStricter(route: Route, other: Route): boolean {
  const isToken = route.access === 'protected' && other.access === 'public';
  return isToken || route.login !== undefined || hasRules(route) || hasFewerRoles(route, other);
}

function hasFewerRoles({ auth }: Route, other: Route): boolean {
  const allowed = other.auth?.role.required ?? [];
  return auth !== undefined && allowed.some((role) => !auth.role.required.includes(role));
}

function hasRules({ validation, body, parameters }: Route): boolean {
  return validation === 'enforce' && (body !== undefined || parameters !== undefined);
}

/** How much a route asks for; 0 is nothing that could be passed by. */
function strictness(route: Route): number {
  const roles = route.auth?.role.required.length ?? 0;
  const token = route.access === 'protected' ? 8 + 1 / (1 + roles) : 0;
  return token + (route.login === undefined ? 0 : 4) + (hasRules(route) ? 2 : 0);
}

const WITHOUT_PARAMS = { params: false };

/** A pattern in the tree's own language. */
function treePath(pattern: Pattern): string {
  const segments = pattern.map((segment) => {
    if (segment.kind === 'rest') return '**';
    return segment.kind === 'parameter' ? `:${segment.name}` : segment.text.replaceAll(/[:*()+?{}\\]/g, '\\$&');
  });
  return `/${segments.join('/')}`;
}
