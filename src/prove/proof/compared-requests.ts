import { getOrCreate } from '../../engine/get-or-create.ts';
import { createRequestSearch } from '../../engine/invariants/request-search.ts';
import type { RouteWitness } from '../../engine/problem/finding.ts';
import type { RoutePair } from '../diff/route-pairing.ts';
import type { DiffRoute, DiffSide } from '../diff/side.ts';
import { type Allowance, covers } from './allowances.ts';
import type { OpenedRegion, Region } from './regions.ts';

/** The routes that receive the same requests, and the requests that only one side serves. */
interface ComparedRequests {
  readonly pairs: readonly RoutePair<DiffRoute>[];
  /** At most one for each route. */
  readonly opened: readonly OpenedRegion[];
}

/** The old routes of one kind with which a route is paired. */
const MAX_OF_KIND = 20;

/** Groups the regions of a side by the first allowance that covers them; `undefined` if there is none. */
export function groupRegions(
  regions: readonly Region[],
  allowances: readonly Allowance[],
): ReadonlyMap<Allowance | undefined, Region[]> {
  const groups = new Map<Allowance | undefined, Region[]>([
    [undefined, []],
    ...allowances.map((one): [Allowance, Region[]] => [one, []]),
  ]);
  for (const region of regions) groups.get(allowances.find((allowance) => covers(allowance, region)))?.push(region);
  return groups;
}

/** Returns the pairs of routes of some regions, and the requests of these that the other side does not serve. */
export function compareRequests(regions: readonly Region[], side: DiffSide): ComparedRequests {
  const pairs = new Map<string, RoutePair<DiffRoute>>();
  const opened = new Map<DiffRoute, OpenedRegion>();
  const counts = new Map<string, number>();
  let search: ReturnType<typeof createRequestSearch> | undefined;
  for (const region of regions) {
    const { method, path, route, other, isServed, isServedByOther } = region;
    const key = `${other?.route.id ?? ''} ${route.route.id}`;
    if (isServed && !isServedByOther && opened.get(route)?.isFound !== true)
      opened.set(route, { region, isFound: true });
    if (other === undefined ? opened.has(route) : pairs.get(key)?.request !== undefined) continue;
    if (isServed && other !== undefined && !isOfCompleteKind(region, counts))
      pairs.set(key, { from: other, to: route, request: { method, url: path } });
    if (isServed) continue;
    // The router refuses the sample, because some servers read it as another path. It may serve other texts.
    search ??= createRequestSearch(side.plan);
    const [target] = search.routes.filter((one) => one.route === route.route);
    const found = target && search.find(target, [method], other && [other.pattern]);
    if (found === undefined) continue;
    if (other !== undefined) pairs.set(key, { from: other, to: route, request: requestIn(found, other) });
    else if (found === 'unknown') opened.set(route, { region, isFound: false });
    else opened.set(route, { region: { ...region, path: found.path }, isFound: true });
  }
  return { pairs: [...pairs.values()], opened: [...opened.values()] };
}

function requestIn(found: RouteWitness | 'unknown', other: DiffRoute) {
  if (found === 'unknown') return undefined;
  const { method, path } = found;
  return other.side.plan.router.match(method, path) === other.route ? { method, url: path } : undefined;
}

/**
 * True if enough pairs of this kind are known: the routes differ from those only in their ids and literals. The texts of literals matter
 * only for parameters with a schema.
 */
function isOfCompleteKind({ route, other }: Region, counts: Map<string, number>): boolean {
  if ((route.entry.params ?? other?.entry.params) !== undefined || route.route.id === other?.route.id) return false;
  const key = `${route.kind} ${other?.kind}`;
  const count = getOrCreate(counts, key, () => 0);
  counts.set(key, count + 1);
  return count >= MAX_OF_KIND;
}
