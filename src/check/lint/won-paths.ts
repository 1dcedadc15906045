import type { Pattern } from '../../engine/routing/pattern.ts';
import type { RouteIndex, RouteSet, SamplePaths } from '../../engine/routing/route-index.ts';

type PatternIndex = RouteIndex['patterns'];

interface Contest {
  readonly pattern: Pattern;
  readonly method: string;
  readonly candidates: RouteSet;
}

interface WonPaths {
  /** The number of segments of the paths. */
  readonly length: number;
  readonly members: RouteSet;
}

/**
 * Yields, for each length of paths, the candidates that match a path with which a route of the index wins: no other route with the
 * method precedes it there. The router may still refuse the path because of its folded form. Yields empty sets too, so that
 * callers can pause.
 *
 * @param candidates of the patterns `among`; all overlap with the pattern of the route
 */
export function* wonPaths(
  index: RouteIndex,
  { pattern, method, candidates }: Contest,
  samplePaths: SamplePaths,
  among = index.patterns,
): Generator<WonPaths> {
  if (candidates.isEmpty()) return;
  const { patterns } = index;
  const rivals = patterns.preceding(pattern, patterns.overlapping(pattern, index.withMethod(method)));
  for (const length of samplePaths.lengthsOf(pattern)) {
    const members = candidates.copy().intersect(among.ofLength(length));
    let first = members.next(0);
    const present = rivals.copy().intersect(patterns.ofLength(length));
    for (let rival = present.next(0); rival !== undefined && first !== undefined; rival = present.next(rival + 1)) {
      removeCovered(among, members, pattern, patterns.patterns[rival] ?? []);
      first = members.next(first);
    }
    yield { length, members };
  }
}

/** Removes the members whose common paths with `known` are paths of `cover` too. All match paths of one length, and the two overlap. */
export function removeCovered(index: PatternIndex, members: RouteSet, known: Pattern, cover: Pattern): void {
  let fewest: readonly number[] | undefined;
  let literals = 0;
  for (const [position, segment] of cover.entries()) {
    if (segment.kind !== 'literal' || known[position]?.kind === 'literal') continue;
    const list = index.withLiteral(position, segment.text);
    if (fewest === undefined || list.length < fewest.length) fewest = list;
    literals += 1;
  }
  if (fewest === undefined) members.clear();
  else
    for (const member of fewest)
      if (members.has(member) && (literals === 1 || hasLiterals(index.patterns[member] ?? [], known, cover)))
        members.delete(member);
}

/** True if a pattern has the literals of `cover` where `known` has none. */
function hasLiterals(pattern: Pattern, known: Pattern, cover: Pattern): boolean {
  return cover.every((segment, position) => {
    if (segment.kind !== 'literal' || known[position]?.kind === 'literal') return true;
    const own = pattern[position];
    return own?.kind === 'literal' && own.text === segment.text;
  });
}

/** Returns the members that take precedence over all others. They match the same paths. All members overlap each other. */
export function foremost(index: PatternIndex, members: RouteSet): RouteSet {
  for (let remaining = members; ; ) {
    const one = remaining.next(0);
    if (one === undefined) return remaining;
    const pattern = index.patterns[one] ?? [];
    const before = index.preceding(pattern, remaining);
    if (before.isEmpty()) return index.containing(pattern, index.containedIn(pattern, remaining));
    remaining = before;
  }
}
