import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foremost, removeCovered } from '../../../src/check/lint/won-paths.ts';
import { runToEnd } from '../../../src/engine/plan/sliced-work.ts';
import { BitSet } from '../../../src/engine/routing/bit-set.ts';
import { intersect, type Pattern, parsePattern } from '../../../src/engine/routing/pattern.ts';
import { PatternIndex } from '../../../src/engine/routing/pattern-index.ts';
import { SamplePaths } from '../../../src/engine/routing/route-index.ts';

const WORDS = ['a', 'b', 'c'];
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.constant('{}') },
);
const pattern = fc.tuple(fc.array(segment, { maxLength: 3 }), fc.boolean()).map(([parts, hasRest]) => {
  const named = parts.map((text, index) => (text === '{}' ? `{p${index}}` : text));
  return parsePattern(`/${[...named, ...(hasRest ? ['**'] : [])].join('/')}`);
});
/** More patterns than a word of a set has bits. */
const patterns = fc.array(pattern, { minLength: 1, maxLength: 80 });

/** Every path of up to four segments. */
const PATHS = (() => {
  const byLength: string[][][] = [[[]]];
  for (let length = 1; length <= 4; length += 1)
    byLength.push((byLength[length - 1] ?? []).flatMap((before) => [...WORDS, 'zz'].map((text) => [...before, text])));
  return byLength.flat();
})();

function isMatch(one: Pattern, segments: readonly string[]): boolean {
  const hasRest = one.at(-1)?.kind === 'rest';
  const fixed = hasRest ? one.slice(0, -1) : one;
  const isLong = hasRest ? segments.length >= fixed.length : segments.length === fixed.length;
  return isLong && fixed.every((part, index) => part.kind !== 'literal' || part.text === segments[index]);
}

function setOf(one: Pattern): Set<string> {
  return new Set(PATHS.filter((segments) => isMatch(one, segments)).map((segments) => segments.join('/')));
}

/** Returns a text that sorts by precedence: a literal, a parameter, the end, any rest. */
function rank(one: Pattern): string {
  return `${one.map(({ kind }) => ({ literal: 'a', parameter: 'b', rest: 'd' })[kind]).join('')}c`;
}

/** Returns the indexes of the patterns whose sets of paths meet a condition. */
function indexesOf(all: readonly Pattern[], isWanted: (one: Pattern, paths: Set<string>) => boolean): number[] {
  return [...all.entries()].filter(([, one]) => isWanted(one, setOf(one))).map(([index]) => index);
}

describe('an index of patterns agrees with their sets of paths', () => {
  test('about overlapping patterns', () => {
    fc.assert(
      fc.property(patterns, pattern, (all, searched) => {
        const paths = setOf(searched);
        const expected = indexesOf(all, (_, others) => !others.isDisjointFrom(paths));
        expect([...runToEnd(PatternIndex.create(all)).overlapping(searched)]).toEqual(expected);
      }),
    );
  });

  test('about patterns that are contained in another, or contain it', () => {
    fc.assert(
      fc.property(patterns, pattern, (all, searched) => {
        const paths = setOf(searched);
        const index = runToEnd(PatternIndex.create(all));
        expect([...index.containedIn(searched)]).toEqual(indexesOf(all, (_, others) => others.isSubsetOf(paths)));
        expect([...index.containing(searched)]).toEqual(indexesOf(all, (_, others) => others.isSupersetOf(paths)));
      }),
    );
  });

  test('about precedence', () => {
    fc.assert(
      fc.property(patterns, pattern, (all, searched) => {
        const index = runToEnd(PatternIndex.create(all));
        const members = index.overlapping(searched);
        const ranked = (isWanted: (other: string) => boolean) =>
          [...members].filter((member) => isWanted(rank(all[member] as Pattern)));
        expect([...index.preceding(searched, members)]).toEqual(ranked((other) => other < rank(searched)));
        expect([...index.following(searched, members)]).toEqual(ranked((other) => other > rank(searched)));
      }),
    );
  });

  test('about the patterns that take precedence for a path', () => {
    fc.assert(
      fc.property(patterns, fc.constantFrom(...PATHS), (all, segments) => {
        const index = runToEnd(PatternIndex.create(all));
        const matching = index.overlapping(segments.map((text) => ({ kind: 'literal', text })));
        const ranks = [...matching].map((member) => rank(all[member] as Pattern));
        const best = ranks.toSorted()[0];
        expect([...foremost(index, matching)]).toEqual(
          [...matching].filter((member) => rank(all[member] as Pattern) === best),
        );
      }),
    );
  });

  test('about patterns whose common paths belong to a third one', () => {
    fc.assert(
      fc.property(patterns, pattern, pattern, fc.nat(4), (all, known, cover, length) => {
        const ofLength = (one: Pattern) => new Set([...setOf(one)].filter((text) => count(text) === length));
        const [knownPaths, coverPaths] = [ofLength(known), ofLength(cover)];
        fc.pre(!knownPaths.isDisjointFrom(coverPaths));
        const index = runToEnd(PatternIndex.create(all));
        const members = index.overlapping(known).intersect(index.ofLength(length));
        const expected = [...members].filter(
          (member) =>
            !ofLength(all[member] as Pattern)
              .intersection(knownPaths)
              .isSubsetOf(coverPaths),
        );
        removeCovered(index, members, known, cover);
        expect([...members]).toEqual(expected);
      }),
    );
  });

  test('about the intersection of two', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const intersection = intersect(one, other);
        const common = setOf(one).intersection(setOf(other));
        expect(intersection === undefined ? new Set() : setOf(intersection)).toEqual(common);
      }),
    );
  });
});

function count(text: string): number {
  return text === '' ? 0 : text.split('/').length;
}

test('sample paths include one of each set of matching patterns that no text of a segment can shrink', () => {
  fc.assert(
    fc.property(patterns, pattern, (all, one) => {
      const samples = [...runToEnd(SamplePaths.create([...all, one])).of(one)].map((path) =>
        path.split('/').filter(Boolean),
      );
      const matching = (segments: readonly string[]) => all.filter((other) => isMatch(other, segments)).length;
      for (const segments of PATHS.filter((path) => isMatch(one, path))) {
        const isEnough = samples.some(
          (sample) =>
            matching(sample) <= matching(segments) &&
            all.every((other) => !isMatch(other, sample) || isMatch(other, segments)),
        );
        expect([segments, isEnough]).toEqual([segments, true]);
      }
    }),
  );
});

describe('a set of integers', () => {
  test('has the same members as a set of the language after the same operations', () => {
    const members = fc.uniqueArray(fc.nat(99));
    fc.assert(
      fc.property(members, members, (one, two) => {
        const [a, b] = [new Set(one), new Set(two)];
        const bits = (of: Iterable<number>) => BitSet.of(100, of);
        const sorted = (set: Set<number>) => [...set].sort((x, y) => x - y);
        expect([...bits(a).intersect(bits(b))]).toEqual(sorted(a.intersection(b)));
        expect([...bits(a).unite(bits(b))]).toEqual(sorted(a.union(b)));
        expect([...bits(a).subtract(bits(b))]).toEqual(sorted(a.difference(b)));
        for (const member of two) expect(bits(a).has(member)).toBe(a.has(member));
        expect(bits(a).isEmpty()).toBe(a.size === 0);
      }),
    );
  });

  test('may lose members while they are visited', () => {
    const set = BitSet.of(100, [1, 2, 40, 99]);
    const visited: number[] = [];
    for (const member of set) {
      visited.push(member);
      set.delete(member === 1 ? 40 : member);
    }
    expect(visited).toEqual([1, 2, 99]);
    expect([...set]).toEqual([1]);
  });
});
