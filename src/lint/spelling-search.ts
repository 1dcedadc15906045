import { foldLiteral } from '../plan/routing/path-folding.ts';
import type { Pattern } from '../plan/routing/pattern.ts';
import { PatternIndex } from '../plan/routing/pattern-index.ts';
import type { RouteIndex } from '../plan/routing/route-index.ts';
import { isStricter, type Router } from '../plan/routing/router.ts';
import type { LintRoute } from './lint-context.ts';
import { PathSpelling, segmentsOf } from './path-spelling.ts';

/** A route and a pattern of paths that the router refuses, because they fold to paths of stricter routes. */
interface RefusedPaths {
  readonly lintRoute: LintRoute;
  readonly method: string;
  readonly within: Pattern;
  /** The number of segments of the paths. */
  readonly length: number;
}

/** A spelling, and the forms of it for which a route that is not stricter was chosen. */
interface SearchStep {
  readonly spelling: PathSpelling;
  readonly settled: readonly number[];
}

/** The progress of a search. */
interface SearchState {
  readonly seen: Set<string>;
  /** The number of spellings that may still combine several changes. */
  combinations: number;
}

/**
 * Limits the spellings that combine several changes of a path with several folded forms, such as those of `/...` and
 * `/a%3Fb`: their number can grow exponentially. No limit applies to paths with one folded form.
 */
const MAX_COMBINATIONS = 500;

/**
 * Finds other spellings of refused paths. The router refuses a path if one of its folded forms is a path of a stricter
 * route. It may accept a spelling with which that form is a path of a third route, if that route takes precedence over
 * the stricter one and is not stricter itself.
 */
export class SpellingSearch {
  readonly #index: RouteIndex<LintRoute>;
  readonly #router: Router;
  readonly #unknown: string;
  #foldedPatterns: PatternIndex | undefined;
  #positions: ReadonlyMap<unknown, number> | undefined;

  /** @param unknown differs from every literal of a route, in any spelling */
  constructor(index: RouteIndex<LintRoute>, router: Router, unknown: string) {
    this.#index = index;
    this.#router = router;
    this.#unknown = unknown;
  }

  /** Returns a path that the router accepts; `undefined` if there is none; `unknown` if the search reached its limit. */
  find(refused: RefusedPaths): { readonly path: string } | 'unknown' | undefined {
    const { within, length } = refused;
    const forms = PathSpelling.create(within, length, this.#unknown).forms.map((form) => segmentsOf(form).length);
    // A form that is shorter than its path reaches the length of another route's path only if the path is longer.
    const longest = within.at(-1)?.kind === 'rest' ? 2 * length - Math.min(...forms, length) : length;
    // A slash that appears with normalization can stand for any segments, and the search does not try them.
    let isUnknown = forms.some((form) => form > length);
    for (let current = length; current <= longest; current += 1) {
      const spelling = PathSpelling.create(within, current, this.#unknown);
      const state = { seen: new Set<string>(), combinations: MAX_COMBINATIONS };
      const path = this.#search({ spelling, settled: [] }, refused, state, 0);
      if (path !== undefined) return { path };
      isUnknown ||= state.combinations === 0;
    }
    return isUnknown ? 'unknown' : undefined;
  }

  #search(step: SearchStep, refused: RefusedPaths, state: SearchState, changes: number): string | undefined {
    const { path } = step.spelling;
    if (state.seen.has(path)) return undefined;
    state.seen.add(path);
    if (this.#router.match(refused.method, path) === refused.lintRoute.route) return path;
    for (const next of this.#nextSteps(step, refused)) {
      if (changes > 0 && state.combinations === 0) return undefined;
      if (changes > 0) state.combinations -= 1;
      const found = this.#search(next, refused, state, changes + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Yields the changes of a spelling with which the first refused form could be a path of another route. */
  *#nextSteps({ spelling, settled }: SearchStep, { lintRoute, method }: RefusedPaths): Generator<SearchStep> {
    const refusers = spelling.forms.map((form) => this.#refuserOf(lintRoute, method, form));
    const form = refusers.findIndex((refuser) => refuser !== undefined);
    // A route that wins a settled form now also wins it with more literals.
    if (form === -1 || settled.some((position) => refusers[position] !== undefined)) return;
    const count = spelling.forms.length;
    for (const third of this.#thirdsOf(spelling.formPattern(form), refusers[form] ?? -1, method)) {
      if (this.#isStricter(third, lintRoute)) continue;
      const next = spelling.withLiterals(form, this.#index.patterns.patterns[third] ?? []);
      if (next !== undefined)
        yield { spelling: next, settled: next.forms.length === count ? [...settled, form] : [] };
    }
    // The first form has all segments of the path.
    if (form > 0) for (const next of spelling.reshaped(form)) yield { spelling: next, settled: [] };
  }

  /** Returns the index of the stricter route that a form of a path belongs to. */
  #refuserOf({ route }: LintRoute, method: string, form: string): number | undefined {
    const twin = this.#router.matchFolded(method, form);
    if (twin === undefined || twin === route || !isStricter(twin, route)) return undefined;
    this.#positions ??= new Map(this.#index.routes.map((one, index) => [one.route, index]));
    return this.#positions.get(twin);
  }

  /** Returns the routes that win paths of a form's pattern from the refusing route. */
  #thirdsOf(formPattern: Pattern, refuser: number, method: string): Iterable<number> {
    const patterns = this.#getFoldedPatterns();
    const accepting = this.#index.withMethod(method);
    const thirds = patterns.overlapping(formPattern, accepting);
    // A route that matches every path of the pattern has already lost the refused one.
    thirds.subtract(patterns.containing(formPattern, thirds));
    const refusing = patterns.patterns[refuser] ?? [];
    return thirds.intersect(patterns.preceding(refusing, patterns.overlapping(refusing, accepting)));
  }

  #isStricter(index: number, { route }: LintRoute): boolean {
    const other = this.#index.routes[index]?.route;
    return other !== undefined && other !== route && isStricter(other, route);
  }

  #getFoldedPatterns(): PatternIndex {
    const { patterns } = this.#index.patterns;
    this.#foldedPatterns ??= PatternIndex.create(patterns.map((pattern) => pattern.map(foldLiteral)));
    return this.#foldedPatterns;
  }
}
