import { foldLiteral, respell } from '../plan/routing/path-folding.ts';
import { literalPattern, type Pattern } from '../plan/routing/pattern.ts';
import { PatternIndex } from '../plan/routing/pattern-index.ts';
import { intersect } from '../plan/routing/pattern-overlap.ts';
import type { RouteIndex } from '../plan/routing/route-index.ts';
import { isStricter } from '../plan/routing/router.ts';
import type { SamplePaths } from '../plan/routing/sample-paths.ts';
import type { LintRoute } from './lint-context.ts';

/** A sample path of a route that the router refuses, because it folds to a path of a stricter route. */
interface RefusedPath {
  readonly lintRoute: LintRoute;
  readonly method: string;
  readonly path: string;
  /** The pattern of the sample path. */
  readonly within: Pattern;
}

/**
 * Finds other spellings of a refused path. The router may accept one that folds to a path of a third route, if that
 * route takes precedence over the stricter one and is not stricter itself.
 */
export class SpellingSearch {
  readonly #index: RouteIndex<LintRoute>;
  readonly #samplePaths: SamplePaths;
  #foldedPatterns: PatternIndex | undefined;

  constructor(index: RouteIndex<LintRoute>, samplePaths: SamplePaths) {
    this.#index = index;
    this.#samplePaths = samplePaths;
  }

  /** Yields sample paths of the same pattern that fold to a path of a third route. */
  *pathsInstead({ lintRoute, method, path, within }: RefusedPath): Generator<string> {
    const patterns = this.#getFoldedPatterns();
    const folded = within.map(foldLiteral);
    const accepting = this.#index.withMethod(method);
    const thirds = patterns.overlapping(folded, accepting);
    // A route that matches every path of the pattern has already lost the refused one.
    thirds.subtract(patterns.containing(folded, thirds));
    const foldedPath = literalPattern(path).map(foldLiteral);
    const winners = [...patterns.foremost(patterns.overlapping(foldedPath, accepting))];
    const refuser = patterns.patterns[winners.find((winner) => this.#isStricter(winner, lintRoute)) ?? -1];
    if (refuser !== undefined) thirds.intersect(patterns.preceding(refuser, patterns.overlapping(refuser, accepting)));
    for (const third of thirds)
      if (!this.#isStricter(third, lintRoute))
        yield* this.#samplePaths.of(respelledOverlap(within, this.#index.patterns.patterns[third] ?? []));
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

/** Returns a pattern whose paths match `within`, and fold to paths of the other pattern where they are free. */
function respelledOverlap(within: Pattern, other: Pattern): Pattern {
  const overlap = intersect(within.map(foldLiteral), other.map(foldLiteral)) ?? [];
  return overlap.map((segment, position) => {
    const [own, literal] = [within[position], other[position]];
    if (own?.kind === 'literal') return own;
    return literal?.kind === 'literal' ? respell(literal) : segment;
  });
}
