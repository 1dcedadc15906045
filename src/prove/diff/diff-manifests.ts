import { type FindingLocation, SEVERITY_RANKS } from '../../engine/problem/finding.ts';
import { compareByPosition, compareText } from '../../engine/problem/problem.ts';
import { COMPARISONS } from './comparisons.ts';
import type {
  Counterpart,
  DiffContext,
  Difference,
  DiffFinding,
  DiffRule,
  DiffWitness,
  MatchedRoutePair,
} from './difference.ts';
import { pairRoutes } from './route-pairing.ts';
import type { DiffRoute, DiffSide } from './side.ts';
import { jsonBodyWitness, withCaller } from './witnesses/sample-witnesses.ts';

/** Returns the differences between two manifests, sorted by severity, then by position in the file. */
export function diff(old: DiffSide, next: DiffSide): Difference[] {
  const sides: DiffContext = { old, next, pairs: pairRoutes(old, next) };
  const all = COMPARISONS.flatMap(({ rules, find }) =>
    [...find(sides)].map((finding) => toDifference(rules[finding.rule] as DiffRule, finding, sides)),
  );
  const distinct = new Map(all.map((difference) => [keyOf(difference), difference]));
  return [...distinct.values()].sort(compareDifferences);
}

/** Adds the places of a finding in both files. Removes values from the environment. */
export function toDifference([severity]: DiffRule, finding: DiffFinding, sides: DiffContext): Difference {
  const { old, next } = sides;
  const { rule, message, path } = finding;
  const completed = completeWitness(finding);
  const witness = next.secrets.redactTexts(old.secrets.redactTexts(completed)) as DiffWitness | undefined;
  const { document } = finding.side === 'old' ? old : next;
  const location = { path, at: 'value' } as const;
  return {
    rule,
    severity,
    message,
    file: document.fileOf(location),
    range: document.locate(location),
    counterpart: counterpartOf(finding, sides),
    ...(witness && { witness }),
  };
}

/** Adds the caller that the request needs, and the request that carries a body. */
export function completeWitness({ witness, pair, hasCaller = true }: DiffFinding): DiffWitness | undefined {
  return witness !== undefined && pair !== undefined && hasCaller ? complete(pair, witness) : witness;
}

function complete(pair: MatchedRoutePair, witness: DiffWitness): DiffWitness {
  if (witness.request !== undefined) return { ...witness, request: withCaller(witness.request, pair) };
  return 'body' in witness ? jsonBodyWitness(pair, witness.body) : witness;
}

/** Returns the place on the other side of a difference: the same key of the counterpart of the route, or the list of routes. */
function counterpartOf(finding: DiffFinding, sides: DiffContext): Counterpart {
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

/** Identifies a difference. Several requests may show the same one, and one of them is enough. */
function keyOf({ rule, file, range, message }: Difference): string {
  return JSON.stringify([rule, file, range.line, range.column, message]);
}

function compareDifferences(a: Difference, b: Difference): number {
  const bySeverity = SEVERITY_RANKS[b.severity] - SEVERITY_RANKS[a.severity];
  return bySeverity || compareByPosition(a, b) || compareText(a.file, b.file);
}
