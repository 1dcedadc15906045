import { sortMethods } from '../../engine/http1/http-methods.ts';
import type { RouteWitness } from '../../engine/problem/finding.ts';
import { foldLiteral } from '../../engine/routing/path-folding.ts';
import { patternKey } from '../../engine/routing/pattern.ts';
import { isStricter } from '../../engine/routing/router.ts';
import type { WitnessSearch } from '../../engine/routing/witnesses/witness-search.ts';
import type { LintRoute } from './lint-context.ts';

/** A request that gets a 404 response because of a stricter route. */
interface RefusedRequest {
  /** The stricter route. */
  readonly refusing: LintRoute;
  /** True if the paths of both routes differ only in spelling. */
  readonly isTwin: boolean;
}

/** The routes whose paths differ only in spelling from others. */
export class SpellingTwins {
  /** The routes with the same folded path as a route, in the order of the manifest. */
  readonly #groups: ReadonlyMap<LintRoute, readonly LintRoute[]>;
  readonly #witnessSearch: WitnessSearch<LintRoute>;

  constructor(routes: readonly LintRoute[], witnessSearch: WitnessSearch<LintRoute>) {
    const groups = Map.groupBy(routes, foldedKey).values();
    this.#groups = new Map([...groups].flatMap((group) => group.map((lintRoute) => [lintRoute, group] as const)));
    this.#witnessSearch = witnessSearch;
  }

  /** Returns the first route before this one whose path differs only in spelling. */
  findEarlier(lintRoute: LintRoute): LintRoute | undefined {
    const group = this.#groupOf(lintRoute);
    return group.slice(0, group.indexOf(lintRoute)).find((other) => isTwin(other, lintRoute));
  }

  /** Returns the stricter route because of which a route receives no request, or only those with unusual spellings of its path. */
  findRefusing(lintRoute: LintRoute): RefusedRequest | undefined {
    const { method, path, route: receiver } = this.sampleWitness(lintRoute);
    const { route } = lintRoute;
    if (receiver !== undefined || !this.#witnessSearch.needsOtherSpelling(lintRoute, route.methods)) return undefined;
    const twin = this.#groupOf(lintRoute).find(
      (other) => isTwin(other, lintRoute) && other.route.methods.includes(method) && isStricter(other.route, route),
    );
    if (twin !== undefined) return { refusing: twin, isTwin: true };
    if (this.#witnessSearch.isUnreachable(lintRoute, route.methods)) return undefined;
    const refusing = this.#witnessSearch.findRefusing(lintRoute, method, path);
    return refusing && { refusing, isTwin: false };
  }

  /** Returns a request for a route, with the route that receives it. */
  sampleWitness({ route, pattern }: LintRoute): RouteWitness {
    const [method = ''] = sortMethods(route.methods);
    const [path = ''] = this.#witnessSearch.samplePaths(pattern);
    return this.#witnessSearch.match(method, path);
  }

  #groupOf(lintRoute: LintRoute): readonly LintRoute[] {
    return this.#groups.get(lintRoute) ?? [];
  }
}

function isTwin(one: LintRoute, other: LintRoute): boolean {
  return patternKey(one.pattern) !== patternKey(other.pattern);
}

function foldedKey({ pattern }: LintRoute): string {
  return patternKey(pattern.map(foldLiteral));
}
