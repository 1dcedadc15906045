import { getOrCreate } from '../../get-or-create.ts';
import { sortMethods } from '../../http1/http-methods.ts';
import { runToEnd } from '../../plan/sliced-work.ts';
import type { RouteWitness } from '../../problem/finding.ts';
import type { BitSet } from '../bit-set.ts';
import type { Pattern } from '../pattern.ts';
import { type PatternRoute, type RouteIndex, SamplePaths } from '../route-index.ts';
import type { Router } from '../router.ts';
import { createSpellingSearch, type SpellingSearch } from './spelling-search.ts';

/** A path that goes to a route, `unknown` if the search reached its limit, or `undefined` if there is none. */
type FoundPath = { readonly path: string; readonly rank: number } | 'unknown' | undefined;

/** Finds requests that go to a route, by sample paths and the router of the plan. */
export class WitnessSearch<R extends PatternRoute = PatternRoute> {
  protected readonly index: RouteIndex<R>;
  protected readonly router: Router;
  readonly samplePaths: SamplePaths;
  readonly spellings: SpellingSearch<R>;
  readonly #paths = new Map<R, Map<BitSet, FoundPath>>();
  /** The routes for which a search reached its limit, so findings may be missing. */
  readonly undecided = new Set<R>();

  constructor(index: RouteIndex<R>, router: Router) {
    this.index = index;
    this.router = router;
    this.samplePaths = runToEnd(SamplePaths.create(index.patterns.patterns));
    this.spellings = createSpellingSearch(index, router, this.samplePaths.unknown);
  }

  /** Finds a request with one of these methods, and a path of the pattern `within`, that goes to the route. */
  findRequest(patternRoute: R, methods: readonly string[], within = patternRoute.pattern): RouteWitness | undefined {
    let best: RouteWitness | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const method of sortMethods(methods)) {
      const found = this.findPath(patternRoute, method, within);
      if (found === undefined || found === 'unknown' || found.rank >= bestRank) continue;
      best = { method, path: found.path, route: patternRoute.route.id };
      bestRank = found.rank;
      if (bestRank === 0) break;
    }
    return best;
  }

  /** Finds a path once for all methods that the same routes accept. */
  protected findPath(patternRoute: R, method: string, within: Pattern = patternRoute.pattern): FoundPath {
    if (within !== patternRoute.pattern) return this.#searchPath(patternRoute, method, within);
    const paths = getOrCreate(this.#paths, patternRoute, () => new Map<BitSet, FoundPath>());
    return getOrCreate(paths, this.index.withMethod(method), () => this.#searchPath(patternRoute, method, within));
  }

  #searchPath(patternRoute: R, method: string, within: Pattern): FoundPath {
    const lengths = this.samplePaths.lengthsOf(within);
    const refused: number[] = [];
    for (const [rank, length] of lengths.entries()) {
      const path = this.samplePaths.pathOf(within, length);
      const winner = this.router.match(method, path);
      if (winner === patternRoute.route) return { path, rank };
      if (winner === undefined) refused.push(rank);
    }
    let isUnknown = false;
    for (const rank of refused) {
      const found = this.spellings.find({ patternRoute, method, within, length: lengths[rank] ?? 0 });
      if (found === 'unknown') isUnknown = true;
      else if (found !== undefined) return { path: found.path, rank: lengths.length + rank };
    }
    if (isUnknown) this.undecided.add(patternRoute);
    return isUnknown ? 'unknown' : undefined;
  }
}
