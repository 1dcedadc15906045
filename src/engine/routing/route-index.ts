import { sortMethods } from '../http1/http-methods.ts';
import type { Route } from '../plan/route-definition.ts';
import { runToEnd, type SlicedWork } from '../plan/sliced-work.ts';
import { BitSet } from './bit-set.ts';
import { methodAliases } from './method-aliases.ts';
import type { Pattern } from './pattern.ts';
import { PatternIndex } from './pattern-index.ts';
import type { SamplePaths } from './sample-paths.ts';

/** A route and the pattern of its path. */
export interface PatternRoute {
  readonly route: Route;
  readonly pattern: Pattern;
}

/** Routes by their patterns and methods, to find those that compete for requests. Sets have the indexes of routes. */
export class RouteIndex<R extends PatternRoute = PatternRoute> {
  readonly routes: readonly R[];
  readonly patterns: PatternIndex;
  readonly #byMethod: ReadonlyMap<string, BitSet>;

  private constructor(routes: readonly R[], patterns: PatternIndex, byMethod: ReadonlyMap<string, BitSet>) {
    this.routes = routes;
    this.patterns = patterns;
    this.#byMethod = byMethod;
  }

  static create<R extends PatternRoute>(routes: readonly R[]): RouteIndex<R> {
    return runToEnd(RouteIndex.createSliced(routes));
  }

  /** Does the same as `create`, step by step. */
  static *createSliced<R extends PatternRoute>(routes: readonly R[]): SlicedWork<RouteIndex<R>> {
    const patterns = yield* PatternIndex.createSliced(routes.map(({ pattern }) => pattern));
    const aliases = methodAliases(routes.map(({ route }) => route));
    const sets = new Map([...aliases.values()].map((method) => [method, BitSet.empty(routes.length)]));
    for (const [index, { route }] of routes.entries()) for (const method of route.methods) sets.get(method)?.add(index);
    const byMethod = new Map([...aliases].map(([method, alias]) => [method, sets.get(alias) as BitSet]));
    return new RouteIndex(routes, patterns, byMethod);
  }

  /** Returns the routes that meet a condition. */
  select(condition: (route: R) => boolean): BitSet {
    const found = BitSet.empty(this.routes.length);
    for (const [index, route] of this.routes.entries()) if (condition(route)) found.add(index);
    return found;
  }

  /** Returns the routes that accept a method. */
  withMethod(method: string): BitSet {
    return this.#byMethod.get(method) ?? BitSet.empty(this.routes.length);
  }

  /** Returns one of the methods for each group that the same routes accept, the most common first. */
  distinctMethods(methods: readonly string[]): readonly string[] {
    const seen = new Set<BitSet>();
    return sortMethods(methods).filter((method) => {
      const members = this.withMethod(method);
      return !seen.has(members) && seen.add(members);
    });
  }

  /** Returns the routes that accept one of the methods. */
  withAnyMethod(methods: readonly string[]): BitSet {
    const found = BitSet.empty(this.routes.length);
    for (const method of methods) found.unite(this.withMethod(method));
    return found;
  }

  /** Returns the routes that win paths of the pattern, because their own patterns precede it. */
  rivalsOf(pattern: Pattern, method: string): BitSet {
    const overlapping = this.patterns.overlapping(pattern, this.withMethod(method));
    return this.patterns.preceding(pattern, overlapping);
  }

  /**
   * Yields, for each length of paths, the candidates that match a path with which a route of this index wins: no other
   * route with the method precedes it there. The router may still refuse the path because of its folded form.
   * Yields empty sets too, so that callers can pause.
   *
   * @param candidates of the patterns `among`; all overlap with the pattern of the route
   */
  *wonPaths(
    { pattern, method, candidates }: Contest,
    samplePaths: SamplePaths,
    among = this.patterns,
  ): Generator<WonPaths> {
    if (candidates.isEmpty()) return;
    const rivals = this.rivalsOf(pattern, method);
    for (const length of samplePaths.lengthsOf(pattern)) {
      const members = candidates.copy().intersect(among.ofLength(length));
      let first = members.next(0);
      const present = rivals.copy().intersect(this.patterns.ofLength(length));
      for (let rival = present.next(0); rival !== undefined && first !== undefined; rival = present.next(rival + 1)) {
        among.removeCovered(members, pattern, this.patterns.patterns[rival] ?? []);
        first = members.next(first);
      }
      yield { length, members };
    }
  }
}

interface Contest {
  readonly pattern: Pattern;
  readonly method: string;
  readonly candidates: BitSet;
}

interface WonPaths {
  /** The number of segments of the paths. */
  readonly length: number;
  readonly members: BitSet;
}
