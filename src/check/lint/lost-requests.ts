import type { RouteWitness } from '../../engine/problem/finding.ts';
import { intersect, literalPattern, type Pattern } from '../../engine/routing/pattern.ts';
import type { PatternRoute, RouteSet } from '../../engine/routing/route-index.ts';
import { WitnessSearch } from '../../engine/routing/witnesses/witness-search.ts';
import { foremost, wonPaths } from './won-paths.ts';

/** A route with a request that matches its path, but goes to another route. */
export interface LostRequest<R extends PatternRoute> {
  readonly loser: R;
  /** The index of the loser. */
  readonly index: number;
  readonly witness: RouteWitness;
}

/** Also finds the routes that receive no request, or lose some of theirs to others. A search that reached its limit is reported. */
export class LostRequestSearch<R extends PatternRoute> extends WitnessSearch<R> {
  /** Returns a request with the route that the plan matches for it. */
  match(method: string, path: string): RouteWitness {
    return { method, path, route: this.router.match(method, path)?.id };
  }

  /** True if no request with one of these methods goes to the route. */
  isUnreachable(patternRoute: R, methods: readonly string[]): boolean {
    return methods.every((method) => this.findPath(patternRoute, method) === undefined);
  }

  /** True if the router refuses requests with these methods, or sends them to other routes, unless their paths have literals of third routes. */
  needsOtherSpelling(patternRoute: R, methods: readonly string[]): boolean {
    const sampleCount = this.samplePaths.lengthsOf(patternRoute.pattern).length;
    return methods.every((method) => {
      const found = this.findPath(patternRoute, method);
      return found === undefined || (found !== 'unknown' && found.rank >= sampleCount);
    });
  }

  /** Finds a request with one of these methods, and a path of the pattern, that goes to some route. */
  findAnyRequest(methods: readonly string[], pattern: Pattern): RouteWitness | undefined {
    const requests = [...this.samplePaths.of(pattern)].flatMap((path) => methods.map((method) => ({ method, path })));
    const witness = requests.find(({ method, path }) => this.router.match(method, path) !== undefined);
    if (witness !== undefined) return this.match(witness.method, witness.path);
    // The router refuses all of them, but may accept other paths of the routes that would win.
    for (const { method, path } of requests) {
      const first = this.#firstMatch(method, path);
      if (first !== undefined && this.spellings.isExhausted()) this.undecided.add(first);
      if (this.spellings.isExhausted()) return undefined;
      const found = first && this.findRequest(first, [method], pattern);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns the route that takes precedence for a request, even if the router refuses the path. */
  #firstMatch(method: string, path: string): R | undefined {
    const { patterns, routes } = this.index;
    const [first] = foremost(patterns, patterns.overlapping(literalPattern(path), this.index.withMethod(method)));
    return first === undefined ? undefined : routes[first];
  }

  /** Yields the candidates with a request that goes to the route instead. All overlap with it, and none precedes it for the method. */
  *lostRequests(patternRoute: R, method: string, candidates: RouteSet): Generator<LostRequest<R>> {
    // A route that receives no request would otherwise be compared with every candidate.
    if (candidates.isEmpty() || this.isUnreachable(patternRoute, [method])) return;
    const open = this.#respellable(patternRoute, method, candidates);
    const contest = { pattern: patternRoute.pattern, method, candidates: open.copy() };
    for (const { members } of wonPaths(this.index, contest, this.samplePaths))
      for (const index of members.intersect(open)) {
        open.delete(index);
        const loser = this.index.routes[index] as R;
        const overlap = intersect(patternRoute.pattern, loser.pattern);
        const witness = overlap && this.findRequest(patternRoute, [method], overlap);
        if (witness !== undefined) yield { loser, index, witness };
        else if (this.spellings.isExhausted()) return;
      }
  }

  /** Returns the candidates without those whose common paths with the route are all refused. */
  #respellable(patternRoute: R, method: string, candidates: RouteSet): RouteSet {
    const { pattern } = patternRoute;
    const open = candidates.copy();
    const [length = 0] = this.samplePaths.lengthsOf(pattern);
    const path = this.samplePaths.pathOf(pattern, length);
    if (this.router.match(method, path) !== undefined) return open;
    if (!this.spellings.isAlwaysRefused(patternRoute, method, path)) return open;
    for (const index of candidates)
      if (isCompleted(pattern, this.index.routes[index]?.pattern ?? [])) open.delete(index);
    return open;
  }
}

/** True if another pattern has a literal for each parameter of a pattern without a rest. */
function isCompleted(pattern: Pattern, other: Pattern): boolean {
  return pattern.every(
    ({ kind }, index) => kind === 'literal' || (kind === 'parameter' && other[index]?.kind === 'literal'),
  );
}
