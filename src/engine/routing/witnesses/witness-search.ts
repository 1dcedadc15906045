import { getOrCreate } from '../../get-or-create.ts';
import { sortMethods } from '../../http1/http-methods.ts';
import { runToEnd } from '../../plan/sliced-work.ts';
import type { RouteWitness } from '../../problem/finding.ts';
import type { BitSet } from '../bit-set.ts';
import { intersect, literalPattern, type Pattern } from '../pattern.ts';
import { type PatternRoute, type RouteIndex, SamplePaths } from '../route-index.ts';
import type { Router } from '../router.ts';
import { createSpellingSearch, type SpellingSearch } from './spelling-search.ts';

/** A route with a request that matches its path, but goes to another route. */
export interface LostRequest<R extends PatternRoute = PatternRoute> {
  readonly loser: R;
  /** The index of the loser. */
  readonly index: number;
  readonly witness: RouteWitness;
}

/** A path that goes to a route, `unknown` if the search reached its limit, or `undefined` if there is none. */
type FoundPath = { readonly path: string; readonly rank: number } | 'unknown' | undefined;

/** Finds requests that demonstrate a finding, by sample paths and the router of the plan. A search that reached its limit is reported. */
export class WitnessSearch<R extends PatternRoute = PatternRoute> {
  readonly #index: RouteIndex<R>;
  readonly #router: Router;
  readonly samplePaths: SamplePaths;
  readonly spellings: SpellingSearch<R>;
  readonly #paths = new Map<R, Map<BitSet, FoundPath>>();
  readonly #undecided = new Set<R>();

  constructor(index: RouteIndex<R>, router: Router) {
    this.#index = index;
    this.#router = router;
    this.samplePaths = runToEnd(SamplePaths.create(index.patterns.patterns));
    this.spellings = createSpellingSearch(index, router, this.samplePaths.unknown);
  }

  /** Returns the candidates without those whose common paths with the route are all refused. */
  #respellable(patternRoute: R, method: string, candidates: BitSet): BitSet {
    const { pattern } = patternRoute;
    const open = candidates.copy();
    const [length = 0] = this.samplePaths.lengthsOf(pattern);
    const path = this.samplePaths.pathOf(pattern, length);
    if (this.#router.match(method, path) !== undefined) return open;
    if (!this.spellings.isAlwaysRefused(patternRoute, method, path)) return open;
    return open.subtract(this.#index.patterns.completing(pattern, candidates));
  }

  /** Returns a request with the route that the plan matches for it. */
  match(method: string, path: string): RouteWitness {
    return { method, path, route: this.#router.match(method, path)?.id };
  }

  /** Finds a request with one of these methods, and a path of the pattern `within`, that goes to the route. */
  findRequest(patternRoute: R, methods: readonly string[], within = patternRoute.pattern): RouteWitness | undefined {
    let best: RouteWitness | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const method of sortMethods(methods)) {
      const found = this.#findPath(patternRoute, method, within);
      if (found === undefined || found === 'unknown' || found.rank >= bestRank) continue;
      best = { method, path: found.path, route: patternRoute.route.id };
      bestRank = found.rank;
      if (bestRank === 0) break;
    }
    return best;
  }

  /** True if no request with one of these methods goes to the route. */
  isUnreachable(patternRoute: R, methods: readonly string[]): boolean {
    return methods.every((method) => this.#findPath(patternRoute, method, patternRoute.pattern) === undefined);
  }

  /** True if the router refuses requests with these methods, or sends them to other routes, unless their paths have literals of third routes. */
  needsOtherSpelling(patternRoute: R, methods: readonly string[]): boolean {
    const sampleCount = this.samplePaths.lengthsOf(patternRoute.pattern).length;
    return methods.every((method) => {
      const found = this.#findPath(patternRoute, method, patternRoute.pattern);
      return found === undefined || (found !== 'unknown' && found.rank >= sampleCount);
    });
  }

  /** Returns the routes for which a search reached its limit, so findings may be missing. */
  undecidedRoutes(): ReadonlySet<R> {
    return this.#undecided;
  }

  /** Finds a path once for all methods that the same routes accept. */
  #findPath(patternRoute: R, method: string, within: Pattern): FoundPath {
    if (within !== patternRoute.pattern) return this.#searchPath(patternRoute, method, within);
    const paths = getOrCreate(this.#paths, patternRoute, () => new Map<BitSet, FoundPath>());
    return getOrCreate(paths, this.#index.withMethod(method), () => this.#searchPath(patternRoute, method, within));
  }

  #searchPath(patternRoute: R, method: string, within: Pattern): FoundPath {
    const lengths = this.samplePaths.lengthsOf(within);
    const refused: number[] = [];
    for (const [rank, length] of lengths.entries()) {
      const path = this.samplePaths.pathOf(within, length);
      const winner = this.#router.match(method, path);
      if (winner === patternRoute.route) return { path, rank };
      if (winner === undefined) refused.push(rank);
    }
    let isUnknown = false;
    for (const rank of refused) {
      const found = this.spellings.find({ patternRoute, method, within, length: lengths[rank] ?? 0 });
      if (found === 'unknown') isUnknown = true;
      else if (found !== undefined) return { path: found.path, rank: lengths.length + rank };
    }
    if (isUnknown) this.#undecided.add(patternRoute);
    return isUnknown ? 'unknown' : undefined;
  }

  /** Returns the route that takes precedence for a request, even if the router refuses the path. */
  #firstMatch(method: string, path: string): R | undefined {
    const { patterns, routes } = this.#index;
    const [first] = patterns.foremost(patterns.overlapping(literalPattern(path), this.#index.withMethod(method)));
    return first === undefined ? undefined : routes[first];
  }

  /** Finds a request with one of these methods, and a path of the pattern, that goes to some route. */
  findAnyRequest(methods: readonly string[], pattern: Pattern): RouteWitness | undefined {
    const requests = [...this.samplePaths.of(pattern)].flatMap((path) => methods.map((method) => ({ method, path })));
    const witness = requests.find(({ method, path }) => this.#router.match(method, path) !== undefined);
    if (witness !== undefined) return this.match(witness.method, witness.path);
    // The router refuses all of them, but may accept other paths of the routes that would win.
    for (const { method, path } of requests) {
      const first = this.#firstMatch(method, path);
      if (first !== undefined && this.spellings.isExhausted()) this.#undecided.add(first);
      if (this.spellings.isExhausted()) return undefined;
      const found = first && this.findRequest(first, [method], pattern);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Yields the candidates with a request that goes to the route instead. All overlap with it, and none precedes it for the method. */
  *lostRequests(patternRoute: R, method: string, candidates: BitSet): Generator<LostRequest<R>> {
    // A route that receives no request would otherwise be compared with every candidate.
    if (candidates.isEmpty() || this.isUnreachable(patternRoute, [method])) return;
    const open = this.#respellable(patternRoute, method, candidates);
    const contest = { pattern: patternRoute.pattern, method, candidates: open.copy() };
    for (const { members } of this.#index.wonPaths(contest, this.samplePaths))
      for (const index of members.intersect(open)) {
        open.delete(index);
        const loser = this.#index.routes[index] as R;
        const overlap = intersect(patternRoute.pattern, loser.pattern);
        const witness = overlap && this.findRequest(patternRoute, [method], overlap);
        if (witness !== undefined) yield { loser, index, witness };
        else if (this.spellings.isExhausted()) return;
      }
  }
}
