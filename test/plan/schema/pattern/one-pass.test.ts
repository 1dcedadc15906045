import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { toRe2 } from '../../../../src/engine/schema/pattern/ecma-pattern.ts';
import { compileOnePass } from '../../../../src/engine/schema/pattern/one-pass.ts';
import { comparedSchema } from '../../../schema-comparison/compared-schema.ts';
import { runs } from '../../../support/runs.ts';

test.each([
  '^[a-z-]+$',
  '^[A-Z]{2}-[0-9]{1,6}$',
  '^[^@\\p{Cc}]+@\\P{Cc}+$',
  '^[a-z0-9é-]+$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^x{2,2}x$',
  '^.*$',
  '^[a-z]*?[0-9]',
  '^',
])('compiles %s for one pass', (pattern) => {
  expect(compileOnePass(pattern)?.expression.source).toBe(new RegExp(pattern, 'u').source);
});

test.each([
  ['a text that fits two parts', '^\\P{Cc}+@\\P{Cc}+$'],
  ['a text that fits two parts', '^a?a$'],
  ['a text that fits a part and one behind an optional one', '^[a-z]+-?[a-z]$'],
  ['characters outside of ASCII that may fit two parts', '^[a-zé]+[0-9é]$'],
  ['a class without ASCII', '^\\p{Lu}?\\p{Lu}$'],
  ['no start', 'a+b'],
  ['a group', '^(?:a|b)$'],
  ['more repetitions than RE2 has', '^a{1001}$'],
  ['repetitions that are backwards', '^a{3,1}$'],
  ['an escape that is none with the flag u', '^a\\-b$'],
  ['a POSIX class', '^[[:alpha:]]+$'],
  ['a letter of any case', '(?i)^a$'],
])('leaves a pattern with %s to RE2: %s', (_reason, pattern) => {
  expect(compileOnePass(pattern)).toBeUndefined();
});

/** Atoms, and whether they match a character. */
const ATOMS: readonly (readonly [atom: string, matches: (character: string) => boolean])[] = [
  ['a', (character) => character === 'a'],
  ['[ab]', (character) => 'ab'.includes(character)],
  ['[^b]', (character) => character !== 'b'],
  ['\\d', (character) => /[0-9]/.test(character)],
  ['-', (character) => character === '-'],
  ['\\.', (character) => character === '.'],
  ['[b\\]]', (character) => 'b]'.includes(character)],
  ['[é-ë]', (character) => 'éêë'.includes(character)],
  ['\\p{Ll}', (character) => /\p{Ll}/u.test(character)],
];
const QUANTIFIERS: readonly (readonly [quantifier: string, min: number, max: number])[] = [
  ['', 1, 1],
  ['?', 0, 1],
  ['*', 0, Number.POSITIVE_INFINITY],
  ['+', 1, Number.POSITIVE_INFINITY],
  ['{2}', 2, 2],
  ['{0,2}', 0, 2],
  ['{1,}', 1, Number.POSITIVE_INFINITY],
  ['*?', 0, Number.POSITIVE_INFINITY],
];
const anyPart = fc.record({ atom: fc.constantFrom(...ATOMS), quantifier: fc.constantFrom(...QUANTIFIERS) });
const anyText = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', '.', ']', 'é', 'z', '\n', '😀'), maxLength: 30 });

/** Matches as V8 does, the longest repetition first, and counts the characters that it compares. */
function backtrack(
  parts: readonly { atom: (typeof ATOMS)[number]; quantifier: (typeof QUANTIFIERS)[number] }[],
  text: string,
) {
  const characters = [...text];
  let steps = 0;
  const matchesFrom = (part: number, count: number, at: number): boolean => {
    steps += 1;
    const current = parts[part];
    if (current === undefined) return at === characters.length;
    const [, min, max] = current.quantifier;
    const character = characters[at];
    const mayRepeat = count < max && character !== undefined && current.atom[1](character);
    if (mayRepeat && matchesFrom(part, count + 1, at + 1)) return true;
    return count >= min && matchesFrom(part + 1, 0, at);
  };
  return { isMatch: matchesFrom(0, 0, 0), steps };
}

test('matches the texts of RE2, in time that is linear in the length of the text', () => {
  let onePassPatterns = 0;
  fc.assert(
    fc.property(
      fc.array(anyPart, { minLength: 1, maxLength: 4 }),
      fc.array(anyText, { minLength: 1, maxLength: 20 }),
      (parts, texts) => {
        const pattern = `^${parts.map(({ atom, quantifier }) => atom[0] + quantifier[0]).join('')}$`;
        const compiled = compileOnePass(pattern);
        if (compiled === undefined) return;
        onePassPatterns += 1;
        const re2 = RE2JS.compile(toRe2(pattern));
        for (const text of texts) {
          const { isMatch, steps } = backtrack(parts, text);
          const expected = re2.matcher(text).find();
          expect([pattern, text, isMatch]).toEqual([pattern, text, expected]);
          expect([pattern, text, compiled.expression.test(text)]).toEqual([pattern, text, expected]);
          expect(steps).toBeLessThanOrEqual(2 * compiled.steps * (text.length + 1));
        }
      },
    ),
    { numRuns: runs(10_000) },
  );
  expect(onePassPatterns).toBeGreaterThan(200);
});

test('a text whose repetitions V8 cannot keep matches as a short one', () => {
  const { acceptsSmall } = comparedSchema({ pattern: '^[^@\\p{Cc}]+@\\P{Cc}+$' });
  const repeated = [1, 5_000_000].map((count) => '😀'.repeat(count));
  expect(repeated.map((text) => [acceptsSmall(`${text}@${text}`), acceptsSmall(text)])).toEqual([
    [true, false],
    [true, false],
  ]);
});
