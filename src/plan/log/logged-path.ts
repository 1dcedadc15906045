import type { Route } from '../route-definition.ts';
import { readSegment } from '../routing/path-folding.ts';
import { parsePattern } from '../routing/pattern.ts';
import type { Router } from '../routing/router.ts';
import { looksLikeIdentifier } from './identifier.ts';
import type { KeyedRoute } from './keyed-route.ts';
import type { Surrogates } from './surrogates.ts';

/**
 * Returns the path of a request as the log has it.
 *
 * @param path accepted by the path guard, still encoded
 * @param route `undefined` if the path has no route for the method
 */
export type LoggedPath = (method: string, path: string, route: Route | undefined) => string;

export interface LoggedPathOptions {
  /** The routes whose paths have surrogates in place of identifiers. */
  readonly keyedRoutes: readonly KeyedRoute[];
  readonly routes: readonly Route[];
  readonly router: Router;
  readonly surrogates: Surrogates;
}

/** In place of a value, if no surrogate keeps the path on its route. */
const HIDDEN = '*';

/**
 * Creates the function that replaces the identifiers in the paths of some routes. The result matches the same route, because no surrogate is
 * a literal of any route. A path without a route may be a misspelled path of such a route, so it has surrogates too.
 */
export function createLoggedPath({ keyedRoutes, routes, router, surrogates }: LoggedPathOptions): LoggedPath {
  const keyedRouteFor = new Map(keyedRoutes.map((keyed) => [keyed.route, keyed]));
  const literals = literalsOf(routes);
  const isLiteral = (segment: string) => literals.has(readSegment(segment));

  /** @param isSame returns true if the result has the route of the path */
  const replace = (
    path: string,
    keyed: Pick<KeyedRoute, 'isReplaced' | 'fits'>,
    isSame: (logged: string) => boolean,
  ) => {
    const logged = mapSegments(path, (value, index) => {
      if (!keyed.isReplaced(value, index)) return value;
      return surrogates.of(value, (surrogate) => !isLiteral(surrogate) && keyed.fits(surrogate, value, index));
    });
    if (logged === path || isSame(logged)) return logged;
    return mapSegments(path, (value, index) => (keyed.isReplaced(value, index) ? HIDDEN : value));
  };

  const replaceUnrouted = (path: string) => {
    const methods = router.allowedMethods(path);
    const matched = new Set(methods.map((method) => router.match(method, path)).filter((route) => route !== undefined));
    const keyed = [...matched].map((route) => keyedRouteFor.get(route)).filter((each) => each !== undefined);
    const isReplaced =
      matched.size === 0
        ? (segment: string) => !isLiteral(segment) && looksLikeIdentifier(segment)
        : (segment: string, index: number) => keyed.some((each) => each.isReplaced(segment, index));
    const isSame = (logged: string) => router.allowedMethods(logged).join() === methods.join();
    return replace(path, { isReplaced, fits: () => true }, isSame);
  };

  return (method, path, route) => {
    if (route === undefined) return replaceUnrouted(path);
    const keyed = keyedRouteFor.get(route);
    return keyed === undefined ? path : replace(path, keyed, (logged) => router.match(method, logged) === route);
  };
}

/** Returns the literal segments of all paths, as the router reads the segments of a request. */
function literalsOf(routes: readonly Route[]): ReadonlySet<string> {
  const segments = routes.flatMap(({ path }) => parsePattern(path));
  return new Set(segments.flatMap((segment) => (segment.kind === 'literal' ? [readSegment(segment.text)] : [])));
}

function mapSegments(path: string, map: (segment: string, index: number) => string): string {
  return `/${path.slice(1).split('/').map(map).join('/')}`;
}
