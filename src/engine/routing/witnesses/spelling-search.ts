import { runToEnd } from '../../plan/sliced-work.ts';
import { foldLiteral } from '../path-folding.ts';
import type { LiteralForm, PathReading } from '../path-reader.ts';
import type { Pattern } from '../pattern.ts';
import { PatternIndex } from '../pattern-index.ts';
import type { PatternRoute, RouteIndex } from '../route-index.ts';
import { isStricter, type Router } from '../router.ts';

/** A route and a pattern of paths that the router refuses, because they fold to paths of stricter routes. */
interface RefusedPaths {
  readonly patternRoute: PatternRoute;
  readonly method: string;
  readonly within: Pattern;
  /** The number of segments of the paths. */
  readonly length: number;
}

/** The texts of a path. A text that is `undefined` can be anything. */
type Texts = readonly (string | undefined)[];

/** A reading of a path that belongs to a stricter route. */
interface RefusedReading {
  /** For a text that can be anything, its position in the path. */
  readonly segments: readonly (string | number)[];
  readonly form: LiteralForm;
  /** The index of the stricter route. */
  readonly refuser: number;
}

type FoundSpelling = { readonly path: string } | 'unknown' | undefined;

/** Limits the paths of one search, and the searches and paths of all together. Few searches need more than ten. */
const MAX_PATHS = 100;
const MAX_STEPS_IN_ALL = 20_000;

export type SpellingSearch<R extends PatternRoute> = ReturnType<typeof createSpellingSearch<R>>;

/**
 * Finds other texts for refused paths. The router refuses a path if a reading of it is a path of a stricter route. It may accept
 * a path with which that reading belongs to a third route, if that route takes precedence over the stricter one and is not stricter
 * itself. No other spelling helps: servers that do not fold it read the refused path.
 */
export function createSpellingSearch<R extends PatternRoute>(index: RouteIndex<R>, router: Router, unknown: string) {
  /** The number of searches and paths so far. */
  let steps = 0;
  let foldedPatterns: PatternIndex | undefined;
  let routePositions: ReadonlyMap<unknown, number> | undefined;
  return { find, isAlwaysRefused, isExhausted, patternsIn, stepCount: () => steps };

  /** Returns a path that the router accepts; `undefined` if there is none; `unknown` if the search reached its limit. */
  function find({ patternRoute, method, within, length }: RefusedPaths): FoundSpelling {
    if (!takeStep()) return 'unknown';
    const start = Array.from({ length }, (_, position) => {
      const segment = within[position];
      return segment?.kind === 'literal' ? segment.text : undefined;
    });
    const tried: Texts[] = [start];
    const seen = new Set([start.join('/')]);
    for (const texts of tried) {
      const path = `/${texts.map((text) => text ?? unknown).join('/')}`;
      if (router.match(method, path) === patternRoute.route) return { path };
      for (const { segments, form, refuser } of refusedReadings(texts, patternRoute, method))
        for (const third of thirdsOf(segments.map(patternSegment), { form, refuser }, patternRoute, method)) {
          const next = withLiterals(texts, segments, third);
          if (seen.has(next.join('/'))) continue;
          if (seen.size === MAX_PATHS || !takeStep()) return 'unknown';
          seen.add(next.join('/'));
          tried.push(next);
        }
    }
    return undefined;
  }

  /** True if a stricter route receives all paths of a route as servers fold them, so the router refuses each of them. */
  function isAlwaysRefused(patternRoute: R, method: string, path: string): boolean {
    const [reading] = router.readings(path) ?? [];
    const refuser = reading && refuserOf(patternRoute, method, reading);
    if (refuser === undefined) return false;
    const folded = patternRoute.pattern.map(foldLiteral);
    const isContained = patternsIn('folded').containing(folded).has(refuser);
    return isContained && thirdsOf(folded, { form: 'folded', refuser }, patternRoute, method).next().done === true;
  }

  /** True if no further paths are tried: a route whose samples the router refuses has no witness then. */
  function isExhausted(): boolean {
    return steps === MAX_STEPS_IN_ALL;
  }

  function takeStep(): boolean {
    if (isExhausted()) return false;
    steps += 1;
    return true;
  }

  /** Returns the readings of a path because of which the router refuses it. */
  function refusedReadings(texts: Texts, patternRoute: PatternRoute, method: string): RefusedReading[] {
    const names = texts.map((_, position) => `${unknown}-${position}-${unknown}`);
    const positions = new Map(names.map((name, position) => [name, position]));
    const path = `/${texts.map((text, position) => text ?? names[position]).join('/')}`;
    const readings = new Map(router.readings(path)?.map((one) => [`${one.form} ${one.path}`, one]));
    return [...readings.values()].flatMap((reading) => {
      const refuser = refuserOf(patternRoute, method, reading);
      const { path: read, form } = reading;
      const segments = read.replace(/\/$/, '').split('/').slice(1);
      return refuser === undefined
        ? []
        : [{ segments: segments.map((text) => positions.get(text) ?? text), form, refuser }];
    });
  }

  /** Returns the index of the stricter route that a reading of a path belongs to. */
  function refuserOf({ route }: PatternRoute, method: string, reading: PathReading): number | undefined {
    const twin = router.matchReading(method, reading);
    if (twin === undefined || twin === route || !isStricter(twin, route)) return undefined;
    routePositions ??= new Map(index.routes.map((one, index) => [one.route, index]));
    return routePositions.get(twin);
  }

  /** Yields the patterns, as servers read them, of the routes that win paths of a pattern from the refusing route, and are not stricter. */
  function* thirdsOf(
    within: Pattern,
    { form, refuser }: Pick<RefusedReading, 'form' | 'refuser'>,
    { route }: PatternRoute,
    method: string,
  ): Generator<Pattern> {
    const patterns = patternsIn(form);
    const refusing = patterns.patterns[refuser] ?? [];
    const preceding = patterns.preceding(refusing, patterns.overlapping(refusing, index.withMethod(method)));
    for (const third of patterns.overlapping(within, preceding)) {
      const other = index.routes[third]?.route;
      if (other === undefined || other === route || !isStricter(other, route)) yield patterns.patterns[third] ?? [];
    }
  }

  /** Returns the patterns of all routes as servers compare them. */
  function patternsIn(form: LiteralForm): PatternIndex {
    if (form === 'written') return index.patterns;
    const { patterns } = index.patterns;
    foldedPatterns ??= runToEnd(PatternIndex.create(patterns.map((pattern) => pattern.map(foldLiteral))));
    return foldedPatterns;
  }
}

function patternSegment(segment: string | number): Pattern[number] {
  return typeof segment === 'string' ? { kind: 'literal', text: segment } : { kind: 'parameter', name: 'any' };
}

/** Returns the texts with the literals of a pattern where a reading can have any text. */
function withLiterals(texts: Texts, segments: RefusedReading['segments'], pattern: Pattern): Texts {
  const next = [...texts];
  for (const [index, segment] of segments.entries()) {
    const literal = pattern[index];
    if (typeof segment === 'number' && literal?.kind === 'literal') next[segment] = literal.text;
  }
  return next;
}
