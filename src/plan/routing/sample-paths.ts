import type { Pattern } from './pattern.ts';

/**
 * Makes what tells paths of a pattern, a few of them: one of each length that could matter.
 *
 * In a path, a text that no route has stands for every text of a parameter or a rest: fewer routes match it than
 * match any other text, and the most specific of those that match wins. So a route that loses these few paths
 * loses every path of the pattern.
 *
 * @param patterns of all routes
 */
export function createSamplePaths(patterns: readonly Pattern[]): (pattern: Pattern) => Generator<string> {
  const literals = new Set(patterns.flatMap((pattern) => pattern.map(foldedText)));
  let count = 0;
  while (literals.has(unknownText(count))) count += 1;
  // A segment that is no route's literal, in whatever letter case.
  const unknown = unknownText(count);
  // What is longer than the longest pattern, without its rest, is all alike.
  const depth = patterns.reduce((most, pattern) => Math.max(most, fixedLength(pattern)), 0);
  return function* (pattern) {
    const fixed = pattern.slice(0, fixedLength(pattern));
    const segments = fixed.map((segment) => (segment.kind === 'literal' ? segment.text : unknown));
    const most = fixed.length === pattern.length ? 0 : Math.max(1, depth + 1 - fixed.length);
    // One more segment is the usual case of a rest; none at all is the next.
    const lengths = most === 0 ? [0] : [1, 0, ...Array.from({ length: most - 1 }, (_, index) => index + 2)];
    for (const length of lengths) yield `/${[...segments, ...Array(length).fill(unknown)].join('/')}`;
  };
}

function unknownText(count: number): string {
  return count === 0 ? 'x' : `x${count}`;
}

function foldedText(segment: Pattern[number]): string {
  return segment.kind === 'literal' ? segment.text.toLowerCase() : '';
}

function fixedLength(pattern: Pattern): number {
  return pattern.length - (pattern.at(-1)?.kind === 'rest' ? 1 : 0);
}
