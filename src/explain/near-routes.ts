import { distance } from 'fastest-levenshtein';
import type { Route } from '../plan/route-definition.ts';
import { parsePattern } from '../plan/routing/pattern.ts';

const MAX_ROUTES = 3;
/** A comparison with more routes would take seconds. */
const MAX_COMPARED_ROUTES = 10_000;
const MAX_COMPARED_LENGTH = 200;

/**
 * Finds the routes whose paths resemble a path that no route has: a misspelt segment, a wrong number of segments, or a different
 * prefix. The nearest comes first.
 */
export function findNearRoutes(routes: readonly Route[], path: string): readonly Route[] {
  const segments = segmentsOf(path.slice(0, MAX_COMPARED_LENGTH));
  return routes
    .slice(0, MAX_COMPARED_ROUTES)
    .map((route) => ({ route, score: scoreOf(segments, route.path) }))
    .filter(({ score }) => score <= MAX_SCORE)
    .toSorted((a, b) => a.score - b.score)
    .slice(0, MAX_ROUTES)
    .map(({ route }) => route);
}

/** Half of a path may differ. */
const MAX_SCORE = 0.5;

/** Returns the cheapest way to change one list of segments to the other, from 0 (equal) to 1. */
function scoreOf(segments: readonly string[], pattern: string): number {
  const expected = parsePattern(pattern).map((segment) => (segment.kind === 'literal' ? segment.text : undefined));
  let row = expected.map((_, index) => index + 1);
  let left = 0;
  for (const [index, segment] of segments.entries()) {
    const next: number[] = [];
    let diagonal = left;
    left = index + 1;
    let before = left;
    for (const [column, word] of expected.entries()) {
      const above = row[column] ?? 0;
      before = Math.min(above + 1, before + 1, diagonal + costOf(segment, word));
      next.push(before);
      diagonal = above;
    }
    row = next;
  }
  return (row.at(-1) ?? segments.length) / Math.max(segments.length, expected.length, 1);
}
