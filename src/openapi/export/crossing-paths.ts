import type { Route } from '../../engine/plan/route-definition.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import { BitSet } from '../../engine/routing/bit-set.ts';
import { intersect, type Segment } from '../../engine/routing/pattern.ts';
import { PatternIndex } from '../../engine/routing/pattern-index.ts';

export type TemplateSegment = Exclude<Segment, { kind: 'rest' }>;

/** Returns the route of a method for a path with an unused text in place of each parameter. */
export type SampleMatch = (method: string, segments: readonly TemplateSegment[]) => Route | undefined;

/**
 * Finds the routes that receive some requests of a path, but not those of its sample.
 *
 * `/a/{p}` has the methods of every route that contains it. `/{q}/b` crosses it: neither contains the other. If only the
 * second one has `GET`, a reader of the document selects `/a/{p}` for `GET /a/b`, but the router selects `/{q}/b`. The document
 * therefore needs `/a/b` as well.
 */
export class CrossingPaths {
  readonly #routes: readonly Route[];
  readonly #index: PatternIndex;
  readonly #membersByMethod: ReadonlyMap<string, BitSet>;
  readonly #matchSample: SampleMatch;

  private constructor(routes: readonly Route[], index: PatternIndex, matchSample: SampleMatch) {
    this.#routes = routes;
    this.#index = index;
    this.#membersByMethod = groupByMethod(routes);
    this.#matchSample = matchSample;
  }

  static *createSliced(routes: readonly Route[], matchSample: SampleMatch): SlicedWork<CrossingPaths> {
    const index = yield* PatternIndex.create(routes.map(({ pattern }) => pattern));
    return new CrossingPaths(routes, index, matchSample);
  }

  /** Yields the common path of a path and each crossing route, if the route receives its requests; otherwise `undefined`. */
  *of(segments: readonly TemplateSegment[]): Generator<readonly TemplateSegment[] | undefined> {
    for (const member of this.#candidates(segments)) {
      const route = this.#routes[member] as Route;
      // Parameters get the names of the second pattern. A path without a rest has no path with a rest in common.
      const common = intersect(route.pattern, segments) as readonly TemplateSegment[] | undefined;
      const isReceiver = common && route.methods.some((method) => this.#matchSample(method, common) === route);
      yield isReceiver ? common : undefined;
    }
  }

  /** Returns the crossing routes that readers select after this path, but the router before the route of its sample. */
  #candidates(segments: readonly TemplateSegment[]): BitSet {
    const found = BitSet.empty(this.#routes.length);
    const overlapping = this.#index.overlapping(segments);
    const crossing = this.#index.following(segments, overlapping.subtract(this.#index.containing(segments)));
    if (crossing.isEmpty()) return found;
    for (const [method, members] of this.#membersByMethod) {
      const candidates = crossing.copy().intersect(members);
      const route = this.#matchSample(method, segments);
      found.unite(route === undefined ? candidates : this.#index.preceding(route.pattern, candidates));
    }
    return found;
  }
}

function groupByMethod(routes: readonly Route[]): Map<string, BitSet> {
  const found = new Map<string, BitSet>();
  for (const [member, { methods }] of routes.entries())
    for (const method of methods) {
      const members = found.get(method) ?? BitSet.empty(routes.length);
      members.add(member);
      found.set(method, members);
    }
  return found;
}
