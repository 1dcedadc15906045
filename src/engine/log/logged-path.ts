import { getOrCreate } from '../get-or-create.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import type { Router } from '../routing/router.ts';
import { type KeyedPathSettings, type KeyedRoute, readLiteral } from './log-settings.ts';
import { isShortWord, looksLikeIdentifier } from './plain-names.ts';
import { Surrogates } from './surrogates.ts';

type LoggedPath = (method: string, path: string, route: Route | undefined) => string;

/** The function of each plan, which has only its settings. */
const loggedPaths = new WeakMap<KeyedPathSettings, LoggedPath>();

/** Returns the path of a request, accepted and still encoded, as the log has it. `route` is that of the path for the method. */
export function loggedPath(
  { log: { keyedPaths }, router }: Pick<Plan, 'log' | 'router'>,
  method: string,
  path: string,
  route: Route | undefined,
): string {
  if (keyedPaths === undefined) return path;
  return getOrCreate(loggedPaths, keyedPaths, () => createLoggedPath(keyedPaths, router))(method, path, route);
}

/** Some servers end a path or a segment at these characters, so a literal may stand before them. */
const SEPARATOR = /(;|%3B|%2F|%3F|%23)/i;
/** In place of a value, if no surrogate keeps the path on its route. */
const HIDDEN = '*';

/**
 * Creates the function that replaces the identifiers in the paths of some routes. The result matches the same route, because texts that are
 * literals of a route stay, and no surrogate is one. A path without a route may be a misspelled path of such a route, so it has surrogates too.
 */
function createLoggedPath({ routes, literals, secret }: KeyedPathSettings, router: Router): LoggedPath {
  const replaceSegment = createSegmentReplacer(literals, new Surrogates(secret));

  /** @param isSame returns true if the result has the route of the path */
  const replace = (path: string, { isReplaced, fits }: Replacement, isSame: (logged: string) => boolean) => {
    const mapValues = (map: (value: string, index: number) => string) =>
      mapSegments(path, (segment, index) => (isReplaced(segment, index) ? map(segment, index) : segment));
    const logged = mapValues((value, index) =>
      replaceSegment(value, (surrogate) => fits === undefined || fits(surrogate, value, index)),
    );
    return logged === path || isSame(logged) ? logged : mapValues(() => HIDDEN);
  };

  const replaceUnrouted = (path: string) => {
    const methods = router.allowedMethods(path);
    const isSame = (logged: string) => router.allowedMethods(logged).join() === methods.join();
    if (methods.length === 0) return replace(path, { isReplaced: looksLikeIdentifier }, isSame);
    const matched = methods.map((method) => router.match(method, path)).filter((route) => route !== undefined);
    const keyed = matched.map((route) => routes.get(route)).filter((each) => each !== undefined);
    const isReplaced = (segment: string, index: number) => keyed.some((each) => each.isReplaced(segment, index));
    return replace(path, { isReplaced }, isSame);
  };

  return (method, path, route) => {
    if (route === undefined) return replaceUnrouted(path);
    const keyed = routes.get(route);
    return keyed === undefined ? path : replace(path, keyed, (logged) => router.match(method, logged) === route);
  };
}

/** No identifier has one of these, escaped or not. */
const SEPARATORS = /([/;"<>\\^`{|}]|%(?:2f|5c|3b|3f|23|25|[01].|7f|(?![\da-f]{2})))/i;

/** Returns a path that has no route without what may be an identifier: it keeps dots, short words and the literals of routes. */
export function withoutIdentifiers(keyedPaths: KeyedPathSettings | undefined, path: string): string {
  if (keyedPaths === undefined) return path;
  const isKept = (text: string) =>
    /^(?:\.|%2e)*$/i.test(text) || isShortWord(text) || keyedPaths.literals.has(text.toLowerCase());
  // The odd parts are separators.
  const parts = path.split(SEPARATORS);
  return parts.map((part, index) => (index % 2 === 1 || isKept(part) ? part : HIDDEN)).join('');
}

type Replacement = Pick<KeyedRoute, 'isReplaced'> & Partial<Pick<KeyedRoute, 'fits'>>;

/** Creates the function that replaces a segment, except for literals in it. */
function createSegmentReplacer(literals: ReadonlySet<string>, surrogates: Surrogates) {
  const longest = literals.values().reduce((length, literal) => Math.max(length, literal.length), 0);
  // Most values are longer than all literals. Only escapes and dots at the end can become shorter when the router reads them.
  const isLiteral = (text: string) =>
    (text.length <= longest || text.includes('%') || text.endsWith('.')) && literals.has(readLiteral(text));
  return (segment: string, fits: (surrogate: string) => boolean): string => {
    const parts = /[;%]/.test(segment) ? segment.split(SEPARATOR) : [segment];
    // The odd parts are separators.
    const replaced = parts.map((part, index) => {
      if (index % 2 === 1 || part === '' || isLiteral(part)) return part;
      return surrogates.of(part, (surrogate) => !isLiteral(surrogate) && (parts.length > 1 || fits(surrogate)));
    });
    return replaced.join('');
  };
}

function mapSegments(path: string, map: (segment: string, index: number) => string): string {
  return `/${path.slice(1).split('/').map(map).join('/')}`;
}
