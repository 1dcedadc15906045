import {
  containsPattern,
  type OverlapSearchBudget,
  overlapSearchBudget,
  PatternTree,
} from '../plan/routing/pattern-overlap.ts';
import type { LintRoute } from './lint-context.ts';

/** A public and a protected route that match some of the same paths. */
export interface PublicOverlap {
  readonly publicRoute: LintRoute;
  readonly protectedRoute: LintRoute;
  /** True if the public route matches all paths of the protected one. */
  readonly isComplete: boolean;
}

/**
 * Yields, for each public route, its overlaps with protected routes. A public route whose paths all belong to a
 * protected one is a deliberate exception, so it is skipped.
 */
export function* publicOverlaps(routes: readonly LintRoute[]): Generator<Generator<PublicOverlap>> {
  const isProtected = ({ entry }: LintRoute) => entry.access === 'protected';
  const tree = new PatternTree<LintRoute>();
  for (const route of routes.filter(isProtected)) tree.add(route.pattern, route);
  const budget = overlapSearchBudget(routes);
  for (const route of routes) if (!isProtected(route)) yield overlapsOf(route, tree, budget);
}

function* overlapsOf(
  publicRoute: LintRoute,
  tree: PatternTree<LintRoute>,
  budget: OverlapSearchBudget,
): Generator<PublicOverlap> {
  for (const protectedRoute of tree.overlapping(publicRoute.pattern, budget)) {
    if (containsPattern(protectedRoute.pattern, publicRoute.pattern)) continue;
    yield { publicRoute, protectedRoute, isComplete: containsPattern(publicRoute.pattern, protectedRoute.pattern) };
  }
}

/** Returns the methods that both routes accept. */
export function sharedMethods({ publicRoute, protectedRoute }: PublicOverlap): readonly string[] {
  return publicRoute.route.methods.filter((method) => protectedRoute.route.methods.includes(method));
}
