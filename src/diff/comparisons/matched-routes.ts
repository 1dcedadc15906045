import type { RoutePair } from '../../plan/route-pairs.ts';
import type { DiffContext, DiffFinding, DiffWitness } from '../difference.ts';
import type { DiffRoute } from '../side.ts';

/** A pair of which both are there. */
export interface MatchedRoutePair extends RoutePair<DiffRoute> {
  readonly from: DiffRoute;
  readonly to: DiffRoute;
}

/** What has changed for the requests that a route has now. */
export function* matchedRoutes({ pairs }: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of pairs) if (pair.from !== undefined && pair.to !== undefined) yield pair as MatchedRoutePair;
}

/** A route as the subject of a sentence; one that has another's requests now says so. */
export function describeRoute({ from, to }: MatchedRoutePair): string {
  const { id } = to.route;
  return id === from.route.id
    ? `the route "${id}"`
    : `the route "${id}", which has requests of "${from.route.id}" now,`;
}

/** Told at a key of the route that has the requests now; at the route itself where it has not the key. */
export function findingAtKey(
  pair: MatchedRoutePair,
  key: string,
  message: string,
  witness = requestWitness(pair),
): DiffFinding {
  return { message: `${describeRoute(pair)} ${message}`, path: [...pair.to.path, key], witness };
}

export function requestWitness({ request }: RoutePair): DiffWitness | undefined {
  return request && { request };
}
