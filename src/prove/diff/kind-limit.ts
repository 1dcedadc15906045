import type { BitSet } from '../../engine/routing/bit-set.ts';
import type { PatternRoute, RouteIndex } from '../../engine/routing/route-index.ts';
import type { PairingSide } from './route-pairs.ts';

/** The old routes of one kind with which a new route is paired. */
const MAX_OF_KIND = 20;

/** Limits the pairs of a new route with old routes of one kind. Without `kindOf`, there is no limit. */
export class KindLimit<R extends PatternRoute> {
  readonly #kindOf: ((route: R) => string) | undefined;
  /** The routes with which the new one is paired, by kind. */
  readonly #paired = new Map<string, Set<R>>();

  constructor({ kindOf }: PairingSide<R>) {
    this.#kindOf = kindOf;
  }

  /** Counts a pair with an old route. If the kind is complete, removes its routes from the set, and returns their number. */
  count(route: R, members: BitSet, index: RouteIndex<R>): number {
    const kind = this.#kindOf?.(route);
    if (kind === undefined) return 0;
    const paired = this.#paired.get(kind) ?? new Set<R>();
    this.#paired.set(kind, paired);
    if (paired.size >= MAX_OF_KIND) return 0;
    paired.add(route);
    return paired.size < MAX_OF_KIND ? 0 : this.#remove(members, index);
  }

  /** Removes the routes of complete kinds from a set, except those that are paired. Returns the number of removed routes. */
  removeComplete(members: BitSet, index: RouteIndex<R>): void {
    if ([...this.#paired.values()].some(({ size }) => size >= MAX_OF_KIND)) this.#remove(members, index);
  }

  #remove(members: BitSet, index: RouteIndex<R>): number {
    let removed = 0;
    for (const member of members) {
      const route = index.routes[member] as R;
      const paired = this.#paired.get(this.#kindOf?.(route) ?? '');
      if (paired === undefined || paired.size < MAX_OF_KIND || paired.has(route)) continue;
      members.delete(member);
      removed += 1;
    }
    return removed;
  }
}
