import { sortMethods } from '../http-methods.ts';
import type { BitSet } from '../plan/routing/bit-set.ts';
import { literalPattern, type Pattern } from '../plan/routing/pattern.ts';
import { intersect } from '../plan/routing/pattern-overlap.ts';
import type { RouteIndex } from '../plan/routing/route-index.ts';
import type { Router } from '../plan/routing/router.ts';
import { SamplePaths } from '../plan/routing/sample-paths.ts';
import type { RouteWitness } from '../problem/finding.ts';
import type { LintRoute } from './lint-context.ts';
import { SpellingSearch } from './spelling-search.ts';

/** A route with a request that matches its path, but goes to another route. */
export interface LostRequest {
  readonly loser: LintRoute;
  /** The index of the loser. */
  readonly index: number;
  readonly witness: RouteWitness;
}

/**
 * Finds requests that demonstrate a finding. It creates sample paths and matches them with the router of the plan,
 * so every witness behaves in the running gateway as reported. No search stops early: without a witness there is none.
 */
export class WitnessSearch {
  readonly #index: RouteIndex<LintRoute>;
  readonly #router: Router;
  readonly #samplePaths: SamplePaths;
  readonly #spellings: SpellingSearch;

  constructor(index: RouteIndex<LintRoute>, router: Router) {
    this.#index = index;
    this.#router = router;
    this.#samplePaths = SamplePaths.create(index.patterns.patterns);
    this.#spellings = new SpellingSearch(index, router, this.#samplePaths.unknown);
  }

  /** Yields sample paths of a pattern: a route that matches none of them matches no path of the pattern. */
  samplePaths(pattern: Pattern): Generator<string> {
    return this.#samplePaths.of(pattern);
  }

  /** Returns a request with the route that the plan matches for it. */
  match(method: string, path: string): RouteWitness {
    return { method, path, route: this.#router.match(method, path)?.id };
  }

  /** Finds a request with one of these methods, and a path of the pattern `within`, that goes to the route. */
  findRequest(lintRoute: LintRoute, methods: readonly string[], within = lintRoute.pattern): RouteWitness | undefined {
    const found = this.#findRequest(lintRoute, methods, within);
    return found === 'unknown' ? undefined : found;
  }

  /** True if no request with one of these methods goes to the route. */
  isUnreachable(lintRoute: LintRoute, methods: readonly string[]): boolean {
    return this.#findRequest(lintRoute, methods, lintRoute.pattern) === undefined;
  }

  #findRequest(
    lintRoute: LintRoute,
    methods: readonly string[],
    within: Pattern,
  ): RouteWitness | 'unknown' | undefined {
    const { route } = lintRoute;
    const sorted = sortMethods(methods);
    const refused: { method: string; length: number }[] = [];
    for (const length of this.#samplePaths.lengthsOf(within)) {
      const path = this.#samplePaths.pathOf(within, length);
      for (const method of sorted) {
        const winner = this.#router.match(method, path);
        if (winner === route) return { method, path, route: route.id };
        if (winner === undefined) refused.push({ method, length });
      }
    }
    let isUnknown = false;
    for (const { method, length } of refused) {
      const found = this.#spellings.find({ lintRoute, method, within, length });
      if (found === 'unknown') isUnknown = true;
      else if (found !== undefined) return { method, path: found.path, route: route.id };
    }
    return isUnknown ? 'unknown' : undefined;
  }

  /** Returns the route that takes precedence for a request, even if the router refuses the path. */
  #firstMatch(method: string, path: string): LintRoute | undefined {
    const { patterns, routes } = this.#index;
    const [first] = patterns.foremost(patterns.overlapping(literalPattern(path), this.#index.withMethod(method)));
    return first === undefined ? undefined : routes[first];
  }

  /** Finds a request with one of these methods, and a path of the pattern, that goes to some route. */
  findAnyRequest(methods: readonly string[], pattern: Pattern): RouteWitness | undefined {
    const requests = [...this.samplePaths(pattern)].flatMap((path) => methods.map((method) => ({ method, path })));
    const witness = requests.find(({ method, path }) => this.#router.match(method, path) !== undefined);
    if (witness !== undefined) return this.match(witness.method, witness.path);
    // The router refuses all of them, but may accept other spellings for the routes that would win.
    for (const { method, path } of requests) {
      const first = this.#firstMatch(method, path);
      const found = first && this.findRequest(first, [method], pattern);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Yields the candidates that have a request which matches them too, but goes to the route.
   *
   * @param candidates overlap with the route. None precedes it if it accepts the method.
   */
  *lostRequests(lintRoute: LintRoute, method: string, candidates: BitSet): Generator<LostRequest> {
    const open = candidates.copy();
    const contest = { pattern: lintRoute.pattern, method, candidates };
    for (const { members } of this.#index.wonPaths(contest, this.#samplePaths))
      for (const index of members.intersect(open)) {
        open.delete(index);
        const loser = this.#index.routes[index] as LintRoute;
        const overlap = intersect(lintRoute.pattern, loser.pattern);
        const witness = overlap && this.findRequest(lintRoute, [method], overlap);
        if (witness !== undefined) yield { loser, index, witness };
      }
  }
}
