import { runToEnd, type SlicedWork } from '../sliced-work.ts';
import type { Pattern } from './pattern.ts';

type SamplePaths = (pattern: Pattern) => Generator<string>;

/**
 * Returns a function that yields a few paths of a pattern: one of each length that could matter.
 *
 * A segment that is no route's literal stands for every text of a parameter or a rest: fewer routes match it than
 * match any other text, and the most specific of those that match wins. So a route that loses these few paths
 * loses every path of the pattern.
 *
 * @param patterns of all routes
 */
export function createSamplePaths(patterns: readonly Pattern[]): SamplePaths {
  return runToEnd(createSamplePathsSliced(patterns));
}

/** Does the same as `createSamplePaths`, step by step. */
export function* createSamplePathsSliced(patterns: readonly Pattern[]): SlicedWork<SamplePaths> {
  const unknown = yield* findUnusedSegment(patterns);
  // All paths longer than the longest pattern, without its rest, match the same routes.
  const depth = patterns.reduce((most, pattern) => Math.max(most, fixedLength(pattern)), 0);
  return function* (pattern) {
    const fixed = pattern.slice(0, fixedLength(pattern));
    const segments = fixed.map((segment) => (segment.kind === 'literal' ? segment.text : unknown));
    const most = fixed.length === pattern.length ? 0 : Math.max(1, depth + 1 - fixed.length);
    // A rest usually matches one more segment, then none.
    const lengths = most === 0 ? [0] : [1, 0, ...Array.from({ length: most - 1 }, (_, index) => index + 2)];
    for (const length of lengths) yield `/${[...segments, ...Array(length).fill(unknown)].join('/')}`;
  };
}

/** Returns a text that differs from every literal of the patterns, in any letter case. */
export function* findUnusedSegment(patterns: Iterable<Pattern>): SlicedWork<string> {
  const literals = new Set<string>();
  for (const pattern of patterns) {
    for (const segment of pattern) literals.add(foldedText(segment));
    yield;
  }
  let count = 0;
  while (literals.has(unknownText(count))) count += 1;
  return unknownText(count);
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
