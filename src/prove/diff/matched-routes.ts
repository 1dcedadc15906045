import type { DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from './difference.ts';
import type { RoutePair } from './route-pairing.ts';

/** Yields the pairs with a route on both sides. */
export function* matchedRoutes({ pairs }: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of pairs) if (pair.from !== undefined && pair.to !== undefined) yield pair as MatchedRoutePair;
}

/** Yields the pairs whose routes are written differently, for comparisons that depend on nothing outside of the routes. */
export function* rewrittenRoutes(sides: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of matchedRoutes(sides)) if (pair.from.route.key !== pair.to.route.key) yield pair;
}

/** Yields the pairs whose schemas may differ: their routes are written differently, or refer to other schemas. */
export function* routesWithOtherSchemas(sides: DiffContext): Generator<MatchedRoutePair> {
  for (const pair of matchedRoutes(sides)) {
    const { key } = pair.to.route;
    if (pair.from.route.key !== key || key.includes('"$ref"')) yield pair;
  }
}

/** True if both routes of a pair receive requests with a method and a path. */
export function bothReceive({ from, to }: MatchedRoutePair, method: string, path: string): boolean {
  return [from, to].every(({ side, route }) => side.plan.router.match(method, path) === route);
}

/** Describes a route as the subject of a sentence. Adds the old route of the requests if it has another id. */
function describeRoute({ from, to }: MatchedRoutePair): string {
  const { id } = to.route;
  return id === from.route.id
    ? `the route "${id}"`
    : `the route "${id}", which now receives requests of "${from.route.id}",`;
}

/** Returns a finding at a key of the new route, or at the route itself if it lacks the key. */
export function findingAtKey(
  pair: MatchedRoutePair,
  rule: string,
  key: string,
  message: string,
  witness?: DiffWitness,
): DiffFinding {
  return { rule, message: `${describeRoute(pair)} ${message}`, path: [...pair.to.path, key], witness, pair };
}

export function requestWitness({ request }: RoutePair): DiffWitness | undefined {
  return request && { request };
}

/** Two values with the same id, one of each manifest. */
export interface PairById<Value> {
  readonly id: string;
  readonly old: Value;
  readonly next: Value;
}

/** Yields the values that both manifests have. */
export function* commonValues<Value>(
  old: ReadonlyMap<string, Value>,
  next: ReadonlyMap<string, Value>,
): Generator<PairById<Value>> {
  for (const [id, value] of next) {
    const before = old.get(id);
    if (before !== undefined) yield { id, old: before, next: value };
  }
}

/** Returns the new id of each old value that has only another id in the new manifest. */
export function renamedIds<Value>(
  old: ReadonlyMap<string, Value>,
  next: ReadonlyMap<string, Value>,
  effectOf: (value: Value) => string,
): ReadonlyMap<string, string> {
  const added = [...next].filter(([id]) => !old.has(id));
  const names = new Map<string, string>();
  for (const [id, value] of old) {
    if (next.has(id)) continue;
    const index = added.findIndex(([, other]) => effectOf(value) === effectOf(other));
    if (index >= 0) for (const [newId] of added.splice(index, 1)) names.set(id, newId);
  }
  return names;
}
