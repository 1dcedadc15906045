import type { Plan } from '../../engine/plan/plan.ts';
import type { PatternRoute } from '../../engine/routing/route-index.ts';

/** A route that is paired with routes of another plan. */
export interface PairedRoute extends PatternRoute {
  /**
   * A text that is equal for routes that differ only in their ids and in the literals of their paths. With it, a route is paired
   * with a limited number of routes of one kind: thousands of crossing routes would have millions of pairs.
   */
  readonly kind?: string;
}

/** One of the two plans whose routes are paired. */
export interface PairingSide<R extends PairedRoute> {
  readonly plan: Plan;
  readonly routes: readonly R[];
  readonly routeById: ReadonlyMap<string, R>;
}

export interface SampleRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

/** The routes that a request matches under the old and the new plan. At least one of them is present. */
export interface RoutePair<R extends PatternRoute = PatternRoute> {
  readonly from: R | undefined;
  readonly to: R | undefined;
  /** A request that matches `from` before and `to` after; `undefined` if the routes share their id but no request. */
  readonly request: SampleRequest | undefined;
  /** The number of old routes of the same kind as `from` that overlap with `to` too, but were not paired with it. */
  readonly others?: number;
}

/**
 * True if requests need no token now that needed one, or had no route, before. A route that only keeps its id and moves to
 * another path does not change the access to any request.
 */
export function becamePublic({ from, to, request }: RoutePair): boolean {
  return request !== undefined && to?.route.access === 'public' && from?.route.access !== 'public';
}

/** True if requests need a token now that needed none before. */
export function becameProtected({ from, to, request }: RoutePair): boolean {
  return request !== undefined && to?.route.access === 'protected' && from?.route.access === 'public';
}
