import { getOrCreate } from '../get-or-create.ts';
import type { Plan } from '../plan/plan.ts';
import { runToEnd } from '../plan/sliced-work.ts';
import type { RouteWitness } from '../problem/finding.ts';
import { foldLiteral, respell } from '../routing/path-folding.ts';
import { intersect, type Pattern } from '../routing/pattern.ts';
import { type PatternRoute, RouteIndex } from '../routing/route-index.ts';
import { isStricter } from '../routing/router.ts';
import { WitnessSearch } from '../routing/witnesses/witness-search.ts';
import { isReadAs, respelledPaths, type SentSegment, textsAsRead, writePath } from './respelled-paths.ts';

/** The most paths that a search tries for one route and one pattern. */
const MAX_PATHS = 5_000;

type Found = RouteWitness | 'unknown' | undefined;

export type RequestSearch = ReturnType<typeof createRequestSearch>;

/** Finds requests that go to a route and that some server reads as a path of a pattern. The router of the plan confirms each of them. */
export function createRequestSearch({ routes: planned, router }: Plan) {
  const routeIndex = runToEnd(RouteIndex.create(planned.map((route) => ({ route, pattern: route.pattern }))));
  const { routes } = routeIndex;
  const witnesses = new WitnessSearch(routeIndex, router);
  const { unknown } = witnesses.samplePaths;
  const maxLengthOfRoutes = planned.reduce((most, { pattern }) => Math.max(most, pattern.length), 0) + 2;
  const folded = () => witnesses.spellings.patternsIn('folded');
  return { routes, find };

  /** Finds a request with one of the methods for the route, which some server reads as a path of `patterns`; `unknown` at the limit. */
  function find(target: PatternRoute, methods: readonly string[], patterns: readonly Pattern[] | undefined): Found {
    if (methods.length === 0) return undefined;
    const distinct = routeIndex.distinctMethods(methods);
    if (patterns === undefined) return findSent(target, distinct, target.pattern);
    let isUnknown = false;
    for (const search of [findSent, findRead])
      for (const pattern of patterns) {
        const found = search(target, distinct, pattern);
        if (typeof found === 'object') return found;
        isUnknown ||= found === 'unknown';
      }
    return isUnknown ? 'unknown' : undefined;
  }

  function findSent(target: PatternRoute, methods: readonly string[], pattern: Pattern): Found {
    // The pattern of the route itself is what the search has cached.
    const within = pattern === target.pattern ? pattern : intersect(target.pattern, pattern);
    if (within === undefined) return undefined;
    const found = witnesses.findRequest(target, methods, within);
    return found ?? (witnesses.undecided.has(target) ? 'unknown' : undefined);
  }

  /** Finds a path that matches the pattern only as some server reads it. */
  function findRead(target: PatternRoute, methods: readonly string[], pattern: Pattern): Found {
    const { route } = target;
    const { keepsEncodedSlash } = route;
    const read = pattern.map(foldLiteral);
    if (haveOtherStart(target.pattern, read)) return undefined;
    if (methods.every((method) => isRefused(read, target, method))) return undefined;
    const maxLength = Math.max(maxLengthOfRoutes, read.length + 2);
    // With unknown texts a route competes with the fewest others, so a length that it loses with them is lost.
    const isWon = (length: number) => methods.some((method) => mayWin(target, method, length));
    const lengths = new Set(Array.from({ length: maxLength + 1 }, (_, length) => length).filter(isWon));
    if (lengths.size === 0) return undefined;
    const accepted = new Map<string, boolean>();
    const isAccepted = (segments: readonly SentSegment[]) =>
      lengths.has(segments.length) &&
      getOrCreate(accepted, textsAsRead(segments).join('/'), () => mayBeRead(segments, target, methods));
    let tried = 0;
    for (const segments of respelledPaths({ sent: target.pattern, read, keepsEncodedSlash, maxLength, isAccepted }))
      for (const path of pathsOf(segments, methods)) {
        tried += 1;
        if (tried > MAX_PATHS) return 'unknown';
        const method = methods.find((one) => router.match(one, path) === route);
        if (method !== undefined && isReadAs(path, [pattern], route)) return { method, path, route: route.id };
      }
    return undefined;
  }

  /** True if every path of a folded pattern belongs to a stricter route: the router refuses each spelling of it. */
  function isRefused(read: Pattern, { route }: PatternRoute, method: string): boolean {
    const patterns = folded();
    const rivals = patterns.overlapping(read, routeIndex.withMethod(method));
    const strict = rivals
      .copy()
      .intersect(routeIndex.select((one) => one.route !== route && isStricter(one.route, route)));
    const others = rivals.subtract(strict);
    const isFirst = (index: number) =>
      others
        .copy()
        .subtract(patterns.following(patterns.patterns[index] ?? [], others))
        .isEmpty();
    return [...patterns.containing(read, strict)].some(isFirst);
  }

  /** False if all paths that servers read like this belong to stricter routes, so that the router refuses every spelling of them. */
  function mayBeRead(segments: readonly SentSegment[], { route }: PatternRoute, methods: readonly string[]): boolean {
    const texts = textsAsRead(segments);
    const isRefused = (method: string, one: readonly (string | undefined)[]) => {
      const twin = router.matchReading(method, {
        path: `/${one.map((text) => text ?? unknown).join('/')}`,
        form: 'folded',
      });
      return twin !== undefined && twin !== route && isStricter(twin, route);
    };
    return methods.some((method) => {
      if (!isRefused(method, texts)) return true;
      for (const index of routeIndex.withMethod(method)) {
        const pattern = folded().patterns[index] ?? [];
        const filled = texts.map((text, at) => {
          const literal = pattern[at];
          return text ?? (literal?.kind === 'literal' ? literal.text : undefined);
        });
        if (!isRefused(method, filled)) return true;
      }
      return false;
    });
  }

  /** True if the router gives the route a path with unknown texts, or refuses it: then it may accept another spelling. */
  function mayWin({ route, pattern }: PatternRoute, method: string, length: number): boolean {
    const fixed = pattern.filter(({ kind }) => kind !== 'rest');
    if (pattern.length === fixed.length ? length !== fixed.length : length < fixed.length) return false;
    const winner = router.match(method, witnesses.samplePaths.pathOf(pattern, length));
    return winner === undefined || winner === route;
  }

  /** Yields the paths of a spelling: first with unknown texts, then with those of other routes, which may accept what a stricter route refuses. */
  function* pathsOf(segments: readonly SentSegment[], methods: readonly string[]): Generator<string> {
    yield writePath(segments, unknown);
    const views = [positionsAsSent(segments), positionsAsRead(segments)];
    if (views.every(({ length }) => length === 0)) return;
    for (const index of routeIndex.withAnyMethod(methods))
      for (const positions of views) {
        const filled = fill(segments, positions, folded().patterns[index] ?? []);
        if (filled !== undefined) yield writePath(filled, unknown);
      }
  }
}

/** True if the literals at the start of two patterns differ: no server reads a path of the first one as one of the second. */
function haveOtherStart(sent: Pattern, read: Pattern): boolean {
  for (const [index, segment] of sent.entries()) {
    const other = read[index];
    if (segment.kind !== 'literal' || other?.kind === 'rest') return false;
    if (other === undefined || (other.kind === 'literal' && other.text !== foldLiteral(segment).text)) return true;
  }
  return false;
}

/** A text that is free, and the position at which a server reads it. */
interface FreeText {
  readonly segment: number;
  readonly text: number;
  readonly position: number;
}

/** Returns the free texts for servers that read an encoded slash as a part of a segment. */
function positionsAsSent(segments: readonly SentSegment[]): FreeText[] {
  return segments.flatMap(({ texts }, segment) =>
    texts.length === 1 && texts[0] === undefined ? [{ segment, text: 0, position: segment }] : [],
  );
}

/** Returns the free texts for servers that read encoded slashes, drop segments, and end the path early. */
function positionsAsRead(segments: readonly SentSegment[]): FreeText[] {
  const free: FreeText[] = [];
  let position = 0;
  for (const [segment, { texts, isDropped, isEnd }] of segments.entries()) {
    if (isDropped === true) continue;
    for (const [text, one] of texts.entries())
      if (one === undefined) free.push({ segment, text, position: position + text });
    position += texts.length;
    if (isEnd === true) break;
  }
  return free;
}

/** Returns the segments with the literals of a folded pattern as free texts; `undefined` if it has none there. */
function fill(segments: readonly SentSegment[], free: readonly FreeText[], pattern: Pattern) {
  const filled = segments.map(({ texts, ...rest }) => ({ ...rest, texts: [...texts] }));
  let isFilled = false;
  for (const { segment, text, position } of free) {
    const literal = pattern[position];
    const target = filled[segment];
    if (literal?.kind !== 'literal' || target === undefined) continue;
    // No route has a literal with an escape of a separator.
    const isPlain = target.texts.length === 1 && target.isEnd !== true;
    target.texts[text] = isPlain ? respell(literal).text : literal.text;
    isFilled = true;
  }
  return isFilled ? filled : undefined;
}
