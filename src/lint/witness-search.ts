import { sortMethods } from '../http-methods.ts';
import { foldLiteral } from '../plan/routing/path-folding.ts';
import type { Pattern } from '../plan/routing/pattern.ts';
import { intersect, overlapSearchBudget, PatternTree } from '../plan/routing/pattern-overlap.ts';
import { createRouter, type Router } from '../plan/routing/router.ts';
import { createSamplePaths } from '../plan/routing/sample-paths.ts';
import type { RouteWitness } from '../problem/finding.ts';
import type { LintRoute } from './lint-context.ts';

/**
 * Finds requests that demonstrate a finding. It generates sample paths and matches them with the router of the plan,
 * so every witness behaves in the running gateway as reported.
 */
export class WitnessSearch {
  readonly #routes: readonly LintRoute[];
  readonly #router: Router;
  /** Yields sample paths of a pattern: a route that matches none of them matches no path of the pattern. */
  readonly samplePaths: (pattern: Pattern) => Generator<string>;
  #plainRouter: Router | undefined;
  /** The patterns of the routes, by their folded form. */
  #foldedTree: PatternTree<Pattern> | undefined;

  constructor(routes: readonly LintRoute[], router: Router) {
    this.#routes = routes;
    this.#router = router;
    this.samplePaths = createSamplePaths(routes.map(({ pattern }) => pattern));
  }

  /** Returns a request with the route that the plan matches for it. */
  match(method: string, path: string): RouteWitness {
    return { method, path, route: this.#router.match(method, path)?.id };
  }

  /** Finds a request with one of these methods, and a path of the pattern `within`, that goes to the route. */
  findRequest({ route, pattern }: LintRoute, methods: readonly string[], within = pattern): RouteWitness | undefined {
    const sorted = sortMethods(methods);
    let isRefused = false;
    for (const path of this.samplePaths(within))
      for (const method of sorted) {
        const winner = this.#router.match(method, path);
        if (winner === route) return { method, path, route: route.id };
        isRefused ||= winner === undefined;
      }
    if (!isRefused) return undefined;
    for (const path of this.#otherSpellings(within))
      for (const method of sorted)
        if (this.#router.match(method, path) === route) return { method, path, route: route.id };
    return undefined;
  }

  /**
   * Yields paths of a pattern that fold to a path of another route. The router refuses a path that folds to a path of a
   * stricter route. If it refuses all sample paths for this reason, it may still accept one of these.
   */
  *#otherSpellings(pattern: Pattern): Generator<string> {
    const folded = pattern.map(foldLiteral);
    for (const twin of this.#getFoldedTree().overlapping(folded, overlapSearchBudget(this.#routes))) {
      const intersection = intersect(folded, twin.map(foldLiteral)) ?? [];
      const respelled = intersection.map((segment, index) => {
        const [original, other] = [pattern[index], twin[index]];
        if (original?.kind === 'literal') return original;
        return other?.kind === 'literal' ? { ...other, text: `${other.text};x` } : segment;
      });
      yield* this.samplePaths(respelled);
    }
  }

  #getFoldedTree(): PatternTree<Pattern> {
    if (this.#foldedTree === undefined) {
      this.#foldedTree = new PatternTree();
      for (const { pattern } of this.#routes) this.#foldedTree.add(pattern.map(foldLiteral), pattern);
    }
    return this.#foldedTree;
  }

  /** True if other routes receive every request with this method. */
  isShadowed({ route, pattern }: LintRoute, method: string): boolean {
    return this.samplePaths(pattern).every((path) => this.#getPlainRouter().match(method, path)?.key !== route.key);
  }

  /** Returns a router in which no route is stricter than another, so that it never refuses a path because of folding. */
  #getPlainRouter(): Router {
    const unprotected = {
      access: 'public',
      auth: undefined,
      login: undefined,
      body: undefined,
      parameters: undefined,
    } as const;
    this.#plainRouter ??= createRouter(this.#routes.map(({ route }) => ({ ...route, ...unprotected })));
    return this.#plainRouter;
  }
}
