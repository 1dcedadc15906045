import { sortMethods } from '../http-methods.ts';
import { foldLiteral } from '../plan/routing/path-folding.ts';
import type { Pattern } from '../plan/routing/pattern.ts';
import { intersect, overlapSearchBudget, PatternTree } from '../plan/routing/pattern-overlap.ts';
import { createRouter, type Router } from '../plan/routing/router.ts';
import { createSamplePaths } from '../plan/routing/sample-paths.ts';
import type { RouteWitness } from '../problem/finding.ts';
import type { LintRoute } from './lint-context.ts';

/**
 * Finds requests that show what a manifest does. It proposes paths, and the router that serves decides: what is
 * said of a request is what would happen to it.
 */
export class WitnessSearch {
  readonly #routes: readonly LintRoute[];
  readonly #router: Router;
  /** Paths of a pattern: if a route gets none of them, it gets no path of this pattern. */
  readonly samplePaths: (pattern: Pattern) => Generator<string>;
  #plain: Router | undefined;
  /** Patterns, by what they are folded. */
  #folded: PatternTree<Pattern> | undefined;

  constructor(routes: readonly LintRoute[], router: Router) {
    this.#routes = routes;
    this.#router = router;
    this.samplePaths = createSamplePaths(routes.map(({ pattern }) => pattern));
  }

  /** What happens to a request. */
  match(method: string, path: string): RouteWitness {
    return { method, path, route: this.#router.match(method, path)?.id };
  }

  /** A request that a route gets, among those with these methods and a path of this pattern. */
  findRequest({ route, pattern }: LintRoute, methods: readonly string[], within = pattern): RouteWitness | undefined {
    const sent = sortMethods(methods);
    let isRefused = false;
    for (const path of this.samplePaths(within))
      for (const method of sent) {
        const winner = this.#router.match(method, path);
        if (winner === route) return { method, path, route: route.id };
        isRefused ||= winner === undefined;
      }
    if (!isRefused) return undefined;
    for (const path of this.#otherSpellings(within))
      for (const method of sent)
        if (this.#router.match(method, path) === route) return { method, path, route: route.id };
    return undefined;
  }

  /**
   * Paths of a pattern that are some route's but for their spelling. Where that route asks for no more, such a path is
   * let by though the others, which are one's that does, are refused.
   */
  *#otherSpellings(pattern: Pattern): Generator<string> {
    const folded = pattern.map(foldLiteral);
    for (const twin of this.#foldedTree().overlapping(folded, overlapSearchBudget(this.#routes))) {
      const met = intersect(folded, twin.map(foldLiteral)) ?? [];
      const spelled = met.map((segment, index) => {
        const [own, other] = [pattern[index], twin[index]];
        if (own?.kind === 'literal') return own;
        return other?.kind === 'literal' ? { ...other, text: `${other.text};x` } : segment;
      });
      yield* this.samplePaths(spelled);
    }
  }

  #foldedTree(): PatternTree<Pattern> {
    if (this.#folded === undefined) {
      this.#folded = new PatternTree();
      for (const { pattern } of this.#routes) this.#folded.add(pattern.map(foldLiteral), pattern);
    }
    return this.#folded;
  }

  /** Whether a route gets no request with this method: other routes take all of them. */
  isShadowed({ route, pattern }: LintRoute, method: string): boolean {
    return this.samplePaths(pattern).every((path) => this.#plainRouter().match(method, path)?.key !== route.key);
  }

  /** The router without what it does for servers that fold letter case: where no route asks for more than another. */
  #plainRouter(): Router {
    const nothing = {
      access: 'public',
      auth: undefined,
      login: undefined,
      body: undefined,
      parameters: undefined,
    } as const;
    this.#plain ??= createRouter(this.#routes.map(({ route }) => ({ ...route, ...nothing })));
    return this.#plain;
  }
}
