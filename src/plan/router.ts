import { addRoute, createRouter as createTree, findRoute } from 'rou3';
import { type Pattern, parsePattern } from './pattern.ts';
import type { Route, Router } from './plan.ts';

/**
 * Makes the router of a plan. Literal segments win over parameters, parameters over `/**`, from the left;
 * the order of the routes has no part in it. One trailing slash is ignored.
 *
 * Some servers take `/Admin`, `/admin.`, `/admin;x` and `/admin%3fx` for `/admin`. So a path that reaches a public route
 * is looked up once more with letter case, trailing dots, `;` parameters and escaped queries folded away, and has no route at
 * all when that would be a protected one.
 *
 * A path with an encoded slash has a route only where that one keeps it. Some servers take it for a slash all the same:
 * so it has none where it would then, folded like that, pass by the token or the login gate of another route.
 */
export function createRouter(routes: readonly Route[]): Router {
  const exact = createTree<Route>();
  const folded = createTree<Route>();
  // Of two routes that fold into one, the tree keeps the first: it must be the protected one.
  const protectedFirst = routes.toSorted((a, b) => Number(a.access === 'public') - Number(b.access === 'public'));
  for (const route of protectedFirst) {
    const pattern = parsePattern(route.path);
    for (const method of route.methods) {
      addRoute(exact, method, treePath(pattern), route);
      addRoute(folded, method, treePath(pattern.map(foldLiteral)), route);
    }
  }
  // Most manifests have no capitals in protected paths, and most requests nothing to fold: then both trees agree.
  const isFolded = routes.every(({ path, access }) => access === 'public' || foldPath(path) === path);
  const methods = [...new Set(routes.flatMap((route) => route.methods))].sort();
  const matchPlain = (method: string, path: string) => {
    const route = findRoute(exact, method, path, WITHOUT_PARAMS)?.data;
    if (route === undefined || route.access === 'protected') return route;
    if (isFolded && !FOLDS.test(path)) return route;
    const twin = findRoute(folded, method, foldPath(path), WITHOUT_PARAMS)?.data;
    return twin?.access === 'protected' ? undefined : route;
  };
  const matchKept = (method: string, path: string) => {
    const route = matchPlain(method, path);
    if (route === undefined || !route.keepsEncodedSlash) return undefined;
    const twin = findRoute(folded, method, foldPath(path.replaceAll(/%2f/gi, '/')), WITHOUT_PARAMS)?.data;
    return twin !== undefined && twin !== route && isGate(twin, route) ? undefined : route;
  };
  const keepsEncodedSlash = routes.some((route) => route.keepsEncodedSlash);
  const match = keepsEncodedSlash
    ? (method: string, path: string) => (/%2f/i.test(path) ? matchKept : matchPlain)(method, path)
    : matchPlain;
  return { match, allowed: (path) => methods.filter((method) => match(method, path) !== undefined), keepsEncodedSlash };
}

/** Whether a route asks for something that another one lets by. */
function isGate(route: Route, other: Route): boolean {
  return (route.access === 'protected' && other.access === 'public') || route.login !== undefined;
}

/** What folding changes: a path without any of it is its own fold. */
const FOLDS = /[A-Z;%]|\.(?:\/|$)/;

const WITHOUT_PARAMS = { params: false };

/** A pattern in the tree's own language. */
function treePath(pattern: Pattern): string {
  const segments = pattern.map((segment) => {
    if (segment.kind === 'rest') return '**';
    return segment.kind === 'parameter' ? `:${segment.name}` : segment.text.replaceAll(/[:*()+?{}\\]/g, '\\$&');
  });
  return `/${segments.join('/')}`;
}

/** A segment of a pattern as a server that folds letter case, trailing dots and `;` parameters takes it. */
export function foldLiteral<S extends Pattern[number]>(segment: S): S {
  return segment.kind === 'literal' ? { ...segment, text: foldSegment(segment.text) } : segment;
}

function foldPath(path: string): string {
  return path.split('/').map(foldSegment).join('/');
}

function foldSegment(segment: string): string {
  const lower = segment.toLowerCase();
  const parameters = lower.search(/;|%3b|%3f|%23/);
  let end = parameters === -1 ? lower.length : parameters;
  for (;;) {
    if (lower[end - 1] === '.') end -= 1;
    else if (lower.endsWith('%20', end)) end -= 3;
    else return lower.slice(0, end);
  }
}
