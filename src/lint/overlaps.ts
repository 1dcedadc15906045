import { contains, PatternTree, type Steps, stepsFor } from '../plan/pattern-sets.ts';
import type { RouteSubject } from './subject.ts';

/** A protected route with paths that a public one matches too. */
export interface Overlap {
  readonly open: RouteSubject;
  readonly gate: RouteSubject;
  /** Whether the public route matches all paths of the protected one, and not some of them only. */
  readonly isCover: boolean;
}

/**
 * For each public route, those protected ones that it meets. A public route whose paths are all among those of a
 * protected one is an exception that somebody made, and meets nothing.
 */
export function* publicOverlaps(routes: readonly RouteSubject[]): Generator<Generator<Overlap>> {
  const isGate = ({ entry }: RouteSubject) => entry.access === 'protected';
  const gates = new PatternTree<RouteSubject>();
  for (const gate of routes.filter(isGate)) gates.add(gate.pattern, gate);
  const steps = stepsFor(routes);
  for (const open of routes) if (!isGate(open)) yield overlapsOf(open, gates, steps);
}

function* overlapsOf(open: RouteSubject, gates: PatternTree<RouteSubject>, steps: Steps): Generator<Overlap> {
  for (const gate of gates.meeting(open.pattern, steps)) {
    if (contains(gate.pattern, open.pattern)) continue;
    yield { open, gate, isCover: contains(open.pattern, gate.pattern) };
  }
}

export function sharedMethods({ open, gate }: Overlap): readonly string[] {
  return open.route.methods.filter((method) => gate.route.methods.includes(method));
}
