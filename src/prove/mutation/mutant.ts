import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { CaseRequest, CaseResponse } from '../testing/test-file.generated.ts';
import type { MutationContext, TestedRoute } from './context.ts';
import { withoutValue, withValue } from './edits.ts';

/** One kind of change that makes a manifest weaker, or gives requests to another part of it. */
export interface Mutator {
  /** Kebab-case, stable across versions. */
  readonly id: string;
  /** The change, for the documentation, in lower case and without a full stop. */
  readonly summary: string;
  readonly find: (original: MutationContext) => Iterable<Mutant>;
}

export type Mutators = Readonly<Record<string, Omit<Mutator, 'id'>>>;

/** A changed manifest. A good test file has a case that passes with the original and fails with this one. */
export interface Mutant {
  /** The location of the change in the original manifest. */
  readonly path: Path;
  /** The effect of the change, in lower case and without a full stop. */
  readonly message: string;
  readonly manifest: Manifest;
  /** The routes whose requests can show the change. */
  readonly routes: readonly TestedRoute[];
  /** Yields requests that may show the change, made from a request that the route forwards. */
  readonly probes: (base: Probe, route: TestedRoute) => Iterable<Probe>;
  /** The reason why no test case can notice the change, if it is known. */
  readonly invisible?: string;
  /** Printed if no request of the search shows the change, because the test file lacks something that a case needs. */
  readonly advice?: string | undefined;
}

/** One request, with the response of the upstream. */
export interface Probe {
  readonly request: Omit<CaseRequest, 'method' | 'url' | 'role'> & {
    readonly method: string;
    readonly url: string;
    readonly role?: string;
  };
  readonly response?: CaseResponse;
}

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
