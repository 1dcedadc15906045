import { HTTP_METHODS } from '../../../src/engine/http1/http-methods.ts';
import type { Manifest, RouteEntry } from '../../../src/engine/manifest/manifest.generated.ts';
import { foldVisible, visibleText } from '../../../src/engine/text-folding.ts';
import { permissionsOf } from './check-caller.ts';
import { decode, refuse } from './model-request.ts';

// ## Paths with two readings
//
// The gateway matches and forwards a path as it was sent. It refuses a path that two servers could read differently.

export function readTarget(target: string, host: string, keepsSlashes: boolean) {
  // A target is a path, with or without a query, or a URL: visible ASCII characters without `#`. Any other one gets 400 `message_malformed`.
  if (!/^[!-"$-~]+$/.test(target)) refuse('message_malformed');
  // A URL stands for its path and query. Its host and port must be those of `Host`: otherwise 400 `message_malformed`.
  const [start = '', scheme = '', authority = ''] = /^(https?):\/\/([^/?]*)/i.exec(target) ?? [];
  const bare = (text: string) => text.toLowerCase().replace(/https/i.test(scheme) ? /:443$/ : /:80$/, '');
  const origin = start === '' ? target : target.slice(start.length).replace(/^(?!\/)/, '/');
  if (!origin.startsWith('/') || (start !== '' && bare(authority) !== bare(host))) refuse('message_malformed');
  const [path = ''] = origin.split('?', 1);
  // An escaped slash gets 400 `path_ambiguous`, unless some route has `encodedSlash: keep`. The parts around it then follow the rules of segments.
  const parts = segmentsOf(path).flatMap((segment) => (keepsSlashes ? segment.split(/%2f/i) : [segment]));
  if (parts.some(isAmbiguous)) refuse('path_ambiguous');
  // The query may be anything. It is forwarded as it was sent.
  return { path, query: origin.slice(path.length) };
}

function isAmbiguous(segment: string): boolean {
  // A path gets 400 `path_ambiguous` for an empty segment, for a character that RFC 3986 section 3.3 does not allow, and for escapes that are not UTF-8. One slash at its end makes no difference.
  const text = decode(segment);
  if (!/^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/.test(segment) || text === undefined) return true;
  // It gets 400 for escapes of letters, digits, `-`, `.`, `_`, `~`, slashes, backslashes and control characters, and for escapes of escapes.
  const escaped = decode(segment.match(/%[0-7][0-9A-Fa-f]/g)?.join('') ?? '') ?? '';
  if (/[A-Za-z0-9._~/\\-]/.test(escaped) || /[\0-\x1f\x7f-\x9f]|%[0-9A-Fa-f]{2}/.test(text)) return true;
  // It gets 400 for a segment that is `.`, `..` or empty to a server that removes blanks and the text after `;`, `?` or `#`.
  return /^\s*\.\.?\s*(?:[;?#]|$)|^\s*(?:;|$)/.test(text);
}

/** Returns the segments of a path without a slash at its end. */
const segmentsOf = (path: string) => path.replace(/\/$/, '').split('/').slice(1);

// ## The route of a request
//
// Method and path choose the route. Neither the host nor the order of the routes in the manifest makes a difference.

export function findRoute(manifest: Manifest, method: string, path: string): RouteEntry {
  const route = matchedRoute(manifest, method, path);
  if (route !== undefined) return route;
  // A path with an escaped slash and without a route gets 400 `path_ambiguous`.
  if (/%2f/i.test(path)) refuse('path_ambiguous');
  // A path with routes for other methods gets 405 `method_not_allowed`, with these methods in `Allow`. Any other path gets 404 `route_unknown`.
  return refuse(allowedMethods(manifest, path).length > 0 ? 'method_not_allowed' : 'route_unknown');
}

export function allowedMethods(manifest: Manifest, path: string): string[] {
  return HTTP_METHODS.filter((method) => matchedRoute(manifest, method, path) !== undefined);
}

function matchedRoute(manifest: Manifest, method: string, path: string): RouteEntry | undefined {
  const routes = manifest.routes.filter((route) => methodsOf(route, manifest).includes(method));
  const [route] = mostSpecific(routes, segmentsOf(path), asWritten);
  // On a route with `encodedSlash: keep`, an escaped slash is a part of its segment. No other route matches such a path.
  if (route === undefined || (/%2f/i.test(path) && route.encodedSlash !== 'keep')) return undefined;
  // A path has no route if some server could read it as the path of a stricter route. See [Other spellings of a path](#other-spellings-of-a-path). Of several routes for one reading, the strictest one counts.
  const rank = (one: RouteEntry) => strictness(one, manifest);
  const isSafe = (literal: (text: string) => string) => (reading: readonly string[]) => {
    const [other] = mostSpecific(routes, reading, literal).toSorted((one, two) => rank(two) - rank(one));
    return other === undefined || other === route || !isStricter(other, route, manifest);
  };
  return [fold, asWritten].every((form) => readings(manifest, path, form)?.every(isSafe(form))) ? route : undefined;
}

function methodsOf({ method, path }: RouteEntry, { routes }: Manifest): readonly string[] {
  // `method: any` stands for GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS. No route accepts another method.
  const listed = (one: RouteEntry['method']) => (one === 'any' ? HTTP_METHODS : [one].flat());
  // A route with GET accepts HEAD too, unless a route with the same path names HEAD.
  const shape = (text: string) => text.replaceAll(/\{\w+\}/g, '{}');
  const hasHead = routes.some((other) => shape(other.path) === shape(path) && listed(other.method).includes('HEAD'));
  return !hasHead && listed(method).includes('GET') ? [...listed(method), 'HEAD'] : listed(method);
}

function mostSpecific(routes: readonly RouteEntry[], path: readonly string[], read: (text: string) => string) {
  // Text in the path of a route matches only itself: letter case and escapes matter. `{name}` matches one segment, and `/**` any number of them or none.
  const matching = routes.filter((route) => {
    const pattern = segmentsOf(route.path.replace(/\/\*\*$/, ''));
    const hasLength = route.path.endsWith('/**') ? path.length >= pattern.length : path.length === pattern.length;
    return hasLength && pattern.every((part, at) => (part[0] === '{' ? path[at] !== '' : read(part) === path[at]));
  });
  // The most specific path wins, from left to right: text before `{name}` before `/**`. Routes without the method do not compete.
  const rankOf = (part: string) => (part === '**' ? 3 : +(part[0] === '{'));
  const rank = (route: RouteEntry) => [...segmentsOf(route.path).map(rankOf), 2].join('');
  const best = matching.map(rank).sort()[0];
  return matching.filter((route) => rank(route) === best);
}

// ## Other spellings of a path
//
// Servers fold paths in different ways, so the gateway does not let a spelling of a stricter route through another one. It forwards no folded path.

function readings(manifest: Manifest, path: string, literal: (text: string) => string): string[][] | undefined {
  const patterns = manifest.routes.map((route) => segmentsOf(route.path));
  const texts = patterns.flat();
  const waysOf = (segment: string, at: number) => {
    // Servers that ignore letter case compare folded segments with folded text of routes. Other servers compare segments that keep their letter case with the text of routes as it is written. A segment keeps its letter case only if it has an escaped slash, or if text of a route folds to the same and is not folded: otherwise, all these servers agree.
    const isLike = (one: string) => (fold(one) !== one && fold(one) === fold(segment)) || /%2f/i.test(segment);
    const keepsCase = literal === asWritten && texts.some(isLike);
    // A segment of dots, blanks and invisible characters can be read as nothing. Every other segment can be read as it was sent, or as its folded text, each of them for itself. A segment that some route has in this spelling at this place is only read as servers read that route.
    const isWritten = patterns.some((pattern) => pattern[at] === segment);
    const text = isWritten ? literal(segment) : fold(segment, keepsCase ? visibleText : foldVisible);
    if (segment !== '' && visible(segment).replace(END, '') === '') return [text, ''];
    return text !== segment && !isWritten && texts.some((one) => literal(one) === text) ? [text, segment] : [text];
  };
  // An escaped slash can be a slash, and an escaped `?` or `#` can end the path.
  const slashed = [path, path.replaceAll(/%2f/gi, '/')];
  const starts = slashed.map((one) => [...one.matchAll(FIRST_END)].map(({ index }) => one.slice(0, index)));
  const all = [...slashed, ...starts.flat()].map((one) => one.split('/').slice(1).map(waysOf));
  // A path with more than five segments that have two readings, or more than five escaped `?` and `#`, has no route.
  if ([...starts, ...all.map((ways) => ways.filter((way) => way.length > 1))].some((list) => list.length > 5))
    return undefined;
  const append = (before: readonly string[], way: readonly string[]) =>
    before.flatMap((start) => way.map((text) => `${start}/${text}`));
  const read = all.flatMap((ways) => ways.reduce<readonly string[]>(append, ['']));
  // Servers keep empty segments, or skip them. Some of these decode escaped slashes after everything else.
  const skipped = (one: string) => segmentsOf(one).filter((text) => text !== '');
  return read.flatMap((one) => [segmentsOf(one), skipped(one), skipped(one.replaceAll(/%252f/gi, '/'))]);
}

const asWritten = (text: string) => text;
/** The dots and blanks at the end of a segment; the first escaped `?` and the first escaped `#` of each segment. */
const END = /[.\s]+$/;
const FIRST_END = /(?<=\/(?:(?!%3f)[^/])*)%3f|(?<=\/(?:(?!%23)[^/])*)%23/gi;

function visible(segment: string, read = foldVisible): string {
  const text = read(decode(segment.replaceAll(/%2f/gi, '%252f')) ?? '');
  return text.replace(/;.*/s, '').trim();
}

function fold(segment: string, read = foldVisible): string {
  // A segment folds to its text without escapes, letter case, invisible characters, compatibility forms of Unicode, blanks and dots at its end, and everything after `;`. Segments in the paths of routes fold too.
  const text = visible(segment, read);
  return text === '' ? segment : encodeURI(text.replace(END, '') || text);
}

function strictness(route: RouteEntry, manifest: Manifest): number {
  // The strictest of several routes is one with a token, of these the one with the fewest roles, then one with `login`, then one with rules for the content.
  const roles = permissionsOf(route, manifest).map(([, role]) => role);
  const token = route.access === 'public' ? 0 : roles.includes('any') ? 8 : 8 + 1 / (1 + roles.length);
  return token + (route.login ? 4 : 0) + (hasRules(route) ? 2 : 0);
}

function hasRules({ validation, params, query, headers, body }: RouteEntry): boolean {
  return validation === 'enforce' && (params ?? query ?? headers ?? body) !== undefined;
}

function isStricter(one: RouteEntry, other: RouteEntry, manifest: Manifest): boolean {
  // A route is stricter than another one if it has `login` or rules for the content, if only it needs a token, or if it refuses a role of the other one.
  if (one.login || hasRules(one) || (one.access === 'protected' && other.access === 'public')) return true;
  const own = permissionsOf(one, manifest);
  const permits = ([method, role]: readonly string[]) =>
    own.some(([name, each]) => name === method && [role, 'any'].includes(each));
  return own.length > 0 && !permissionsOf(other, manifest).every(permits);
}
