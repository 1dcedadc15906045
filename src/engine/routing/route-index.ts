import { sortMethods } from '../http1/http-methods.ts';
import type { Route } from '../plan/route-definition.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import { BitSet } from './bit-set.ts';
import type { Pattern } from './pattern.ts';
import { PatternIndex } from './pattern-index.ts';
import { methodAliases } from './router.ts';

export interface PatternRoute {
  readonly route: Route;
  readonly pattern: Pattern;
}

/** The indexes of some routes of an index. */
export type RouteSet = BitSet;

/** Routes by their patterns and methods, to find those that compete for requests. */
export class RouteIndex<R extends PatternRoute = PatternRoute> {
  readonly routes: readonly R[];
  readonly patterns: PatternIndex;
  readonly #byMethod: ReadonlyMap<string, BitSet>;

  private constructor(routes: readonly R[], patterns: PatternIndex, byMethod: ReadonlyMap<string, BitSet>) {
    this.routes = routes;
    this.patterns = patterns;
    this.#byMethod = byMethod;
  }

  static *create<R extends PatternRoute>(routes: readonly R[]): SlicedWork<RouteIndex<R>> {
    const patterns = yield* PatternIndex.create(routes.map(({ pattern }) => pattern));
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
}

/**
 * Creates a few paths of a pattern: one of each length that could matter.
 *
 * A segment that is no route's literal stands for every text of a parameter or a rest: fewer routes match it than
 * match any other text, and the most specific of those that match wins. So a route that loses these few paths
 * loses every path of the pattern.
 */
export class SamplePaths {
  /** Differs from every literal of a route, in any spelling. */
  readonly unknown: string;
  /** The lengths, in segments, at which the patterns that match a path change. Ascending. */
  readonly #lengths: readonly number[];

  private constructor(unknown: string, lengths: readonly number[]) {
    this.unknown = unknown;
    this.#lengths = lengths;
  }

  /** @param patterns of all routes */
  static *create(patterns: readonly Pattern[]): SlicedWork<SamplePaths> {
    const unknown = yield* findUnusedSegment(patterns);
    const lengths = new Set<number>();
    for (const pattern of patterns) {
      const length = fixedLength(pattern);
      lengths.add(length);
      // A pattern without a rest does not match longer paths.
      if (length === pattern.length) lengths.add(length + 1);
    }
    const sorted = [...lengths].sort((a, b) => a - b);
    return new SamplePaths(unknown, sorted);
  }

  /** Returns the lengths of the sample paths of a pattern. */
  lengthsOf(pattern: Pattern): readonly number[] {
    const fixed = fixedLength(pattern);
    if (fixed === pattern.length) return [fixed];
    // A rest usually matches one more segment, then none.
    return [fixed + 1, fixed, ...this.#lengths.filter((length) => length > fixed + 1)];
  }

  /** Returns the sample path with this many segments. */
  pathOf(pattern: Pattern, length: number): string {
    const texts: string[] = [];
    for (let position = 0; position < length; position += 1) {
      const segment = pattern[position];
      texts.push(segment?.kind === 'literal' ? segment.text : this.unknown);
    }
    return `/${texts.join('/')}`;
  }

  /** Yields the sample paths of a pattern. */
  *of(pattern: Pattern): Generator<string> {
    for (const length of this.lengthsOf(pattern)) yield this.pathOf(pattern, length);
  }
}

/** Returns a text that differs from every literal of the patterns, in any spelling. */
export function* findUnusedSegment(patterns: Iterable<Pattern>): SlicedWork<string> {
  const literals = new Set<string>();
  for (const pattern of patterns) {
    for (const segment of pattern) if (segment.kind === 'literal') literals.add(segment.text.toLowerCase());
    yield;
  }
  let count = 0;
  while (literals.has(unknownText(count))) count += 1;
  return unknownText(count);
}

function unknownText(count: number): string {
  return count === 0 ? 'x' : `x${count}`;
}

function fixedLength(pattern: Pattern): number {
  return pattern.length - (pattern.at(-1)?.kind === 'rest' ? 1 : 0);
}
