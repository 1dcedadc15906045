import type { FindingLocation } from '../../engine/problem/finding.ts';
import type { Counterpart, DiffContext, DiffFinding } from './difference.ts';
import type { DiffRoute } from './side.ts';

/**
 * Returns the place on the other side of a difference: of the same key if the route has a counterpart there, or of the list of
 * routes.
 */
export function counterpartOf(finding: DiffFinding, sides: DiffContext): Counterpart {
  const isOld = finding.side === 'old';
  const [own, other] = isOld ? [sides.old, sides.next] : [sides.next, sides.old];
  const [key, index, ...rest] = finding.path;
  const route = key === 'routes' ? own.routes[Number(index)] : undefined;
  const matched = route && counterpartRoute(route, finding, sides);
  const path = route === undefined ? finding.path : matched === undefined ? ['routes'] : [...matched.path, ...rest];
  const isList = route !== undefined && matched === undefined;
  const location: FindingLocation = { path, at: isList ? 'key' : 'value' };
  const [oldRoute, nextRoute] = isOld ? [route, matched] : [matched, route];
  return {
    file: other.document.fileOf(location),
    range: other.document.locate(location),
    ...(oldRoute && { oldId: oldRoute.route.id }),
    ...(nextRoute && { nextId: nextRoute.route.id }),
  };
}

/** Without a pair, only the id connects the routes. */
function counterpartRoute(
  { route }: DiffRoute,
  { pair, side }: DiffFinding,
  { old, next }: DiffContext,
): DiffRoute | undefined {
  if (pair !== undefined) return side === 'old' ? pair.to : pair.from;
  return (side === 'old' ? next : old).routeById.get(route.id);
}
