import type { Invariant } from '../../engine/invariants/invariant.ts';
import { meets } from '../../engine/invariants/prove.ts';
import { isReadAs } from '../../engine/invariants/readings.ts';
import type { Route } from '../../engine/plan/route-definition.ts';

/** A request and the route that the router gives it. */
export interface RoutedRequest {
  readonly method: string;
  readonly path: string;
  readonly route: Route;
}

/** Returns the invariants whose condition a request meets, including those that except its route. */
export function invariantsFor(invariants: readonly Invariant[], { method, path, route }: RoutedRequest): Invariant[] {
  return invariants.filter(({ when }) => {
    const isAsked = when.methods?.includes(method) ?? true;
    return isAsked && meets(route, when) && (when.patterns === undefined || isReadAs(path, when.patterns, route));
  });
}
