import {
  containsPattern,
  type OverlapSearchBudget,
  overlapSearchBudget,
  PatternTree,
} from '../plan/routing/pattern-overlap.ts';
import type { LintRoute } from './lint-context.ts';

/** A protected route with paths that a public one matches too. */
export interface PublicOverlap {
  readonly publicRoute: LintRoute;
  readonly protectedRoute: LintRoute;
  /** Whether the public route matches all paths of the protected one, and not some of them only. */
  readonly isComplete: boolean;
}

/**
 * For each public route, those protected ones that it meets. A public route whose paths are all among those of a
 * protected one is an exception that somebody made, and meets nothing.
 */
export function* publicOverlaps(routes: readonly LintRoute[]): Generator<Generator<PublicOverlap>> {
  const isGate = ({ entry }: LintRoute) => entry.access === 'protected';
  const gates = new PatternTree<LintRoute>();
  for (const gate of routes.filter(isGate)) gates.add(gate.pattern, gate);
  const steps = overlapSearchBudget(routes);
  for (const open of routes) if (!isGate(open)) yield overlapsOf(open, gates, steps);
}

function* overlapsOf(
  publicRoute: LintRoute,
  gates: PatternTree<LintRoute>,
  steps: OverlapSearchBudget,
): Generator<PublicOverlap> {
  for (const protectedRoute of gates.overlapping(publicRoute.pattern, steps)) {
    if (containsPattern(protectedRoute.pattern, publicRoute.pattern)) continue;
    yield { publicRoute, protectedRoute, isComplete: containsPattern(publicRoute.pattern, protectedRoute.pattern) };
  }
}

export function sharedMethods({ publicRoute, protectedRoute }: PublicOverlap): readonly string[] {
  return publicRoute.route.methods.filter((method) => protectedRoute.route.methods.includes(method));
}
