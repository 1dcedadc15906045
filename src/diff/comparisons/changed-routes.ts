import type { Found, Sides, Witness } from '../difference.ts';
import type { Pair } from '../pairs.ts';
import type { SideRoute } from '../side.ts';

/** A pair of which both are there. */
export interface Succession extends Pair {
  readonly from: SideRoute;
  readonly to: SideRoute;
}

/** What has changed for the requests that a route has now. */
export function* successions({ pairs }: Sides): Generator<Succession> {
  for (const pair of pairs) if (pair.from !== undefined && pair.to !== undefined) yield pair as Succession;
}

/** A route as the subject of a sentence; one that has another's requests now says so. */
export function subjectOf({ from, to }: Succession): string {
  const { id } = to.route;
  return id === from.route.id
    ? `the route "${id}"`
    : `the route "${id}", which has requests of "${from.route.id}" now,`;
}

/** Told at a key of the route that has the requests now; at the route itself where it has not the key. */
export function atKey(pair: Succession, key: string, message: string, witness = requestOf(pair)): Found {
  return { message: `${subjectOf(pair)} ${message}`, path: [...pair.to.path, key], witness };
}

export function requestOf({ request }: Pair): Witness | undefined {
  return request && { request };
}
