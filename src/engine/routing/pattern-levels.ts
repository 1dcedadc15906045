import type { SlicedWork } from '../plan/sliced-work.ts';
import { BitSet } from './bit-set.ts';
import type { Pattern } from './pattern.ts';

/** The patterns by their segment at one position. Members are indexes of patterns. */
export interface PatternLevel {
  readonly literals: Map<string, LiteralMembers>;
  readonly anyLiteral: BitSet;
  readonly parameter: BitSet;
  /** Patterns whose rest begins here. */
  readonly rest: BitSet;
  /** Patterns that end here: they match no longer path. */
  readonly end: BitSet;
  /** Patterns with a literal or a parameter here. */
  readonly segment: BitSet;
  /** Patterns that match any text here: with a parameter, or a rest that begins here or before. */
  readonly wild: BitSet;
  /** Patterns that match paths that end here. */
  readonly accepting: BitSet;
}

/** The patterns with one literal at one position. */
export interface LiteralMembers {
  readonly list: number[];
  /** The same as a set, for a literal of many patterns. */
  set: BitSet | undefined;
}

/** Creates the levels of patterns: one for each position, and one for the ends of the longest patterns and all longer paths. */
export function* createLevels(patterns: readonly Pattern[]): SlicedWork<readonly PatternLevel[]> {
  const { length: size } = patterns;
  const depth = patterns.reduce((most, pattern) => Math.max(most, pattern.length), 0);
  const levels: PatternLevel[] = [];
  for (let position = 0; position <= depth + 1; position += 1) {
    levels.push(createLevel(size));
    yield;
  }
  for (const [index, pattern] of patterns.entries()) {
    addPattern(levels, pattern, index);
    yield;
  }
  const restSoFar = BitSet.empty(size);
  for (const level of levels) {
    restSoFar.unite(level.rest);
    level.segment.unite(level.parameter).unite(level.anyLiteral);
    level.wild.unite(level.parameter).unite(restSoFar);
    level.accepting.unite(level.end).unite(restSoFar);
    for (const members of level.literals.values())
      if (members.list.length > size / 32) members.set = BitSet.of(size, members.list);
    yield;
  }
  return levels;
}

function addPattern(levels: readonly PatternLevel[], pattern: Pattern, index: number): void {
  for (const [position, segment] of pattern.entries()) {
    const { literals, anyLiteral, parameter, rest } = levels[position] as PatternLevel;
    if (segment.kind === 'rest') {
      rest.add(index);
      return;
    }
    if (segment.kind === 'parameter') parameter.add(index);
    else {
      anyLiteral.add(index);
      const members = literals.get(segment.text);
      if (members === undefined) literals.set(segment.text, { list: [index], set: undefined });
      else members.list.push(index);
    }
  }
  levels[pattern.length]?.end.add(index);
}

function createLevel(size: number): PatternLevel {
  return {
    literals: new Map(),
    anyLiteral: BitSet.empty(size),
    parameter: BitSet.empty(size),
    rest: BitSet.empty(size),
    end: BitSet.empty(size),
    segment: BitSet.empty(size),
    wild: BitSet.empty(size),
    accepting: BitSet.empty(size),
  };
}
