import { runToEnd } from '../../plan/sliced-work.ts';
import { foldedVariants, foldLiteral, readPath } from '../path-folding.ts';
import type { Pattern } from '../pattern.ts';
import { PatternIndex } from '../pattern-index.ts';
import type { PatternRoute, RouteIndex } from '../route-index.ts';
import { isStricter, type Router } from '../router.ts';
import { alignments, type FreeTexts } from './form-alignment.ts';
import { type FormSegment, type FreeText, PathSpelling, segmentsOf } from './path-spelling.ts';

/** A route and a pattern of paths that the router refuses, because they fold to paths of stricter routes. */
interface RefusedPaths {
  readonly patternRoute: PatternRoute;
  readonly method: string;
  readonly within: Pattern;
  /** The number of segments of the paths. */
  readonly length: number;
}

/** A spelling, and the names of the forms that an earlier step has changed. */
interface SearchStep {
  readonly spelling: PathSpelling;
  readonly settled: readonly string[];
}

/** A form of a spelling that a stricter route refuses. */
interface RefusedForm {
  readonly form: number;
  /** The index of the stricter route. */
  readonly refuser: number;
}

/** Limits the spellings of one search, and the searches and spellings of all together. Few searches need more than ten. */
const MAX_SPELLINGS = 2_000;
const MAX_STEPS_IN_ALL = 20_000;

/**
 * Finds other spellings of refused paths. The router refuses a path if one of its folded forms is a path of a stricter
 * route. It may accept a spelling with which that form is a path of no route, or of a third route, if that route takes
 * precedence over the stricter one and is not stricter itself.
 */
export class SpellingSearch<R extends PatternRoute = PatternRoute> {
  readonly #index: RouteIndex<R>;
  readonly #router: Router;
  readonly #unknown: string;
  #steps = 0;
  #foldedPatterns: PatternIndex | undefined;
  /** The number of segments of the longest pattern. */
  #longest: number | undefined;
  #positions: ReadonlyMap<unknown, number> | undefined;

  /** @param unknown differs from every literal of a route, in any spelling */
  constructor(index: RouteIndex<R>, router: Router, unknown: string) {
    this.#index = index;
    this.#router = router;
    this.#unknown = unknown;
  }

  /** Returns a path that the router accepts; `undefined` if there is none; `unknown` if the search reached its limit. */
  find(refused: RefusedPaths): { readonly path: string } | 'unknown' | undefined {
    const { within, length } = refused;
    if (!this.#takeStep()) return 'unknown';
    if (within.every(({ kind }) => kind === 'literal')) return undefined;
    const forms = PathSpelling.create(within, length, this.#unknown).forms.map((form) => segmentsOf(form).length);
    // A form that is shorter than its path reaches the length of another route's path only if the path is longer.
    const longest = within.at(-1)?.kind === 'rest' ? 2 * length - Math.min(...forms, length) : length;
    let isUnknown = false;
    for (let current = length; current <= longest; current += 1) {
      const path = this.#search(PathSpelling.create(within, current, this.#unknown), refused);
      if (path === 'unknown') isUnknown = true;
      else if (path !== undefined) return { path };
    }
    return isUnknown ? 'unknown' : undefined;
  }

  /**
   * True if a stricter route receives all paths of a route as servers fold them, so the router accepts only a spelling
   * that has more segments, or fewer.
   */
  needsFreeSegment(patternRoute: R, method: string, path: string): boolean {
    const [form = ''] = readPath(path).written;
    const refuser = this.#refuserOf(patternRoute, method, form);
    if (refuser === undefined) return false;
    const folded = patternRoute.pattern.map(foldLiteral);
    const isContained = this.#getFoldedPatterns().containing(folded).has(refuser);
    return isContained && this.#thirdsOf(folded, refuser, patternRoute, method).next().done === true;
  }

  /** Returns the stricter route because of which the router refuses a path of a route. */
  findRefusing(patternRoute: R, method: string, path: string): R | undefined {
    const refusers = foldedVariants(path).map((form) => this.#refuserOf(patternRoute, method, form));
    return this.#index.routes[refusers.find((refuser) => refuser !== undefined) ?? -1];
  }

  /** True if no further spellings are tried. */
  isExhausted(): boolean {
    return this.#steps === MAX_STEPS_IN_ALL;
  }

  /** Returns the number of searches and spellings so far. */
  stepCount(): number {
    return this.#steps;
  }

  #takeStep(): boolean {
    if (this.isExhausted()) return false;
    this.#steps += 1;
    return true;
  }

  /**
   * Tries the spellings with the fewest changes first. Only the forms as written need combinations of changes: a server that
   * normalizes Unicode can read something else, whatever the others read.
   */
  #search(start: PathSpelling, refused: RefusedPaths): string | undefined {
    const steps: SearchStep[] = [{ spelling: start, settled: [] }];
    const seen = new Set([start.path]);
    let isNormalizedTried = false;
    for (const step of steps) {
      const refusals = this.#refusedForms(step.spelling, refused);
      if (this.#isAccepted(step.spelling, refusals, refused)) return step.spelling.path;
      if (!isNormalizedTried && refusals.every(({ form }) => form >= step.spelling.writtenCount)) {
        isNormalizedTried = true;
        const path = this.#searchReading(step.spelling, refused);
        if (path !== undefined) return path;
      }
      for (const refusal of refusals)
        for (const spelling of this.#otherSpellings(step.spelling, refusal, refused)) {
          if (seen.has(spelling.path)) continue;
          if (seen.size === MAX_SPELLINGS || !this.#takeStep()) return 'unknown';
          seen.add(spelling.path);
          const settled = [...step.settled, step.spelling.formName(refusal.form)];
          const names = this.#refusedForms(spelling, refused).map(({ form }) => spelling.formName(form));
          if (!names.some((name) => settled.includes(name))) steps.push({ spelling, settled });
        }
    }
    return undefined;
  }

  /** Tries what servers that normalize Unicode can read: first for the forms that end at a query, then for all. */
  #searchReading(start: PathSpelling, refused: RefusedPaths): string | undefined {
    let spelling = start;
    let refusals = this.#refusedForms(start, refused);
    for (const texts of [...this.#readings(refused), ...this.#readings(refused)])
      for (const next of spelling.withReading(texts)) {
        if (!this.#takeStep()) return 'unknown';
        const remaining = this.#refusedForms(next, refused);
        if (this.#isAccepted(next, remaining, refused)) return next.path;
        if (remaining.length >= refusals.length) continue;
        spelling = next;
        refusals = remaining;
        break;
      }
    return undefined;
  }

  #isAccepted(
    { path }: PathSpelling,
    refusals: readonly RefusedForm[],
    { patternRoute, method }: RefusedPaths,
  ): boolean {
    return refusals.length === 0 && this.#router.match(method, path) === patternRoute.route;
  }

  /** Returns the forms of a spelling because of which the router refuses it. */
  #refusedForms({ forms }: PathSpelling, { patternRoute, method }: RefusedPaths): RefusedForm[] {
    const seen = new Set<string>();
    return forms.flatMap((text, form) => {
      if (seen.has(text)) return [];
      seen.add(text);
      const refuser = this.#refuserOf(patternRoute, method, text);
      return refuser === undefined ? [] : [{ form, refuser }];
    });
  }

  *#otherSpellings(
    spelling: PathSpelling,
    { form, refuser }: RefusedForm,
    { patternRoute, method }: RefusedPaths,
  ): Generator<PathSpelling> {
    if (form >= spelling.writtenCount) return;
    const segments = spelling.segmentsOf(form);
    const first = segments.findIndex(({ freePosition }) => freePosition !== undefined);
    if (first === -1) return;
    for (const pattern of this.#thirdsOf(segments.map(patternSegment), refuser, patternRoute, method)) {
      const texts = literalTexts(segments, pattern);
      if (texts.size > 0) yield spelling.withTexts(texts);
    }
    const canEnd = form > 0 && spelling.hasEnd();
    for (const texts of this.#unmatchedTexts(segments, form > 0, canEnd)) yield spelling.withTexts(texts);
    const fixed = segments.slice(0, first);
    const before: Pattern = [...fixed.map(patternSegment), { kind: 'rest' }];
    // A route whose rest begins early refuses most spellings, and may not be the one that refuses this spelling.
    const early = [...fixed.map(({ text }) => text), this.#unknown, '', this.#unknown];
    const earlyRefuser = this.#refuserOf(patternRoute, method, `/${early.join('/')}`) ?? refuser;
    const alignment = { segments, unknown: this.#unknown, canShorten: form > 0, canEnd };
    for (const one of new Set([refuser, earlyRefuser]))
      for (const pattern of this.#thirdsOf(before, one, patternRoute, method))
        for (const texts of alignments({ ...alignment, pattern })) yield spelling.withTexts(texts);
  }

  /** Yields texts with which few routes match the form: only those whose rest begins early. */
  *#unmatchedTexts(segments: readonly FormSegment[], canShorten: boolean, canEnd: boolean): Generator<FreeTexts> {
    const positions = segments.flatMap(({ freePosition }) => (freePosition === undefined ? [] : [freePosition]));
    const [first = 0] = positions;
    for (const parts of this.#unmatchedParts()) yield new Map([[first, { parts }]]);
    if (canShorten) yield new Map(positions.map((position) => [position, { parts: [] }]));
    if (canEnd) yield new Map([[first, { parts: [], isEnd: true }]]);
  }

  /** Yields segments that no route matches unless its rest begins before the empty one, or before the last one. */
  *#unmatchedParts(): Generator<readonly string[]> {
    yield [this.#unknown, this.#unknown];
    yield [this.#unknown, '', this.#unknown];
    this.#longest ??= this.#index.patterns.patterns.reduce((most, { length }) => Math.max(most, length), 0);
    yield Array.from({ length: this.#longest + 1 }, () => this.#unknown);
  }

  /** Yields the segments with which the path of a route that is not stricter can begin, or a path of no route. */
  *#readings({ patternRoute: { route }, method }: RefusedPaths): Generator<readonly string[]> {
    yield [this.#unknown, '', this.#unknown];
    for (const index of this.#index.withMethod(method)) {
      if (this.#isStricter(index, route)) continue;
      const pattern = this.#getFoldedPatterns().patterns[index] ?? [];
      const hasRest = pattern.at(-1)?.kind === 'rest';
      const fixed = hasRest ? pattern.slice(0, -1) : pattern;
      const texts = fixed.map((segment) => (segment.kind === 'literal' ? segment.text : this.#unknown));
      if (hasRest) yield [...texts, '', this.#unknown];
      // The segments behind the text can match the end of the pattern.
      for (let length = texts.length; length >= 0; length -= 1) yield texts.slice(0, length);
    }
  }

  /** Returns the index of the stricter route that a form of a path belongs to. */
  #refuserOf({ route }: PatternRoute, method: string, form: string): number | undefined {
    const twin = this.#router.matchFolded(method, form);
    if (twin === undefined || twin === route || !isStricter(twin, route)) return undefined;
    this.#positions ??= new Map(this.#index.routes.map((one, index) => [one.route, index]));
    return this.#positions.get(twin);
  }

  /** Yields the folded patterns of the routes that win paths of a pattern from the refusing route, and are not stricter. */
  *#thirdsOf(within: Pattern, refuser: number, { route }: PatternRoute, method: string): Generator<Pattern> {
    const patterns = this.#getFoldedPatterns();
    const refusing = patterns.patterns[refuser] ?? [];
    const preceding = patterns.preceding(refusing, patterns.overlapping(refusing, this.#index.withMethod(method)));
    for (const third of patterns.overlapping(within, preceding))
      if (!this.#isStricter(third, route)) yield patterns.patterns[third] ?? [];
  }

  #isStricter(index: number, route: R['route']): boolean {
    const other = this.#index.routes[index]?.route;
    return other !== undefined && other !== route && isStricter(other, route);
  }

  #getFoldedPatterns(): PatternIndex {
    const { patterns } = this.#index.patterns;
    this.#foldedPatterns ??= runToEnd(PatternIndex.create(patterns.map((pattern) => pattern.map(foldLiteral))));
    return this.#foldedPatterns;
  }
}

function patternSegment({ text, freePosition }: FormSegment): Pattern[number] {
  return freePosition === undefined ? { kind: 'literal', text } : { kind: 'parameter', name: 'any' };
}

/** Returns the literals of a pattern at the free segments of a form. */
function literalTexts(segments: readonly FormSegment[], pattern: Pattern): FreeTexts {
  const texts = new Map<number, FreeText>();
  for (const [index, { freePosition }] of segments.entries()) {
    const literal = pattern[index];
    if (freePosition !== undefined && literal?.kind === 'literal') texts.set(freePosition, { parts: [literal.text] });
  }
  return texts;
}
