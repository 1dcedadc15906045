import type { Path } from '../../engine/problem/finding.ts';
import { withoutValue, withValue } from './edits.ts';
import type { Mutant, MutationContext, Mutator, TestedRoute } from './mutant.ts';

/** A change of one value in a route. Members of a mutant replace those that follow from the change. */
export interface RouteChange extends Partial<Mutant> {
  /** The location of the value in the route. */
  readonly at: Path;
  /** The new value; `undefined` removes the old one. */
  readonly value?: unknown;
  /** Continues a sentence about the route: `accepts every method`. */
  readonly effect?: string;
}

/** Finds the changes of each route. By default, the request that the route forwards shows the change. */
export function inEachRoute(
  changesOf: (tested: TestedRoute, context: MutationContext) => Iterable<RouteChange>,
): Mutator['find'] {
  return function* (context) {
    for (const tested of context.routes)
      for (const { at, value, effect, ...mutant } of changesOf(tested, context)) {
        const path = [...tested.path, ...at];
        yield {
          path,
          message: `"${tested.entry.id}" ${effect}`,
          manifest:
            value === undefined ? withoutValue(context.manifest, path) : withValue(context.manifest, path, value),
          routes: [tested],
          probes: (base) => [base],
          ...mutant,
        };
      }
  };
}
