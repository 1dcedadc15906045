import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { patternError } from '../../../../src/engine/schema/ajv-validator.ts';
import { toRe2 } from '../../../../src/engine/schema/pattern/ecma-pattern.ts';
import { bodyRoute, loadText, manifestOf, violationsOf } from '../../../manifest/support.ts';
import { runs } from '../../../support/runs.ts';

const PATTERNS = [
  '^.$',
  '^\\s$',
  '^\\S$',
  '^[\\s]$',
  '^[^\\s]$',
  '^[\\s\\d.]$',
  '^\\.$',
  '^[.]$',
  '^\\\\s$',
  '^[\\].]$',
  '^\\[.\\]$',
  '^\\w$',
  '^\\d$',
];
const CHARACTERS = [
  ...Array(0x300).keys(),
  0x1680,
  0x180e,
  0x2000,
  0x200a,
  0x200b,
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x2060,
  0x3000,
  0xfeff,
  0x1f600,
].map((code) => String.fromCodePoint(code));

test.each(PATTERNS)('%s matches the same characters as in ECMAScript', (pattern) => {
  const loaded = loadText(manifestOf('', bodyRoute(`{ pattern: ${JSON.stringify(pattern)} }`)));
  const expected = new RegExp(pattern, 'u');
  for (const text of [...CHARACTERS, '\\s', '[a]', '[\n]', '']) {
    const isAccepted = violationsOf(loaded, JSON.stringify(text))?.length === 0;
    expect([pattern, text, isAccepted]).toEqual([pattern, text, expected.test(text)]);
  }
});

test.each([
  ['(?=a)', 'the look-ahead (?= cannot run in linear time'],
  ['(?!a)', 'the negative look-ahead (?! cannot run in linear time'],
  ['(?<=a)b', 'the look-behind (?<= cannot run in linear time'],
  ['(?<!a)b', 'the negative look-behind (?<! cannot run in linear time'],
  ['(a)\\1', 'the back-reference \\1 cannot run in linear time'],
  ['(?<n>a)\\k<n>', 'the back-reference \\k<n> cannot run in linear time'],
  ['a++', 'the possessive quantifier ++ is not part of ECMA-262; write +'],
  ['(?>a)', 'the atomic group (?> is not part of ECMA-262; write (?:'],
  ['(?P<n>a)', '(?P< is not part of ECMA-262; write (?<'],
  ['a{', 'a { stands alone; write \\{'],
  ['a{,5}', '{,5} has no minimum; write {0,5}'],
  ['a}', 'a } stands alone; write \\}'],
  ['a]', 'a ] stands alone; write \\]'],
  ['\\Aa\\z', '\\A is not an escape of ECMA-262; write ^'],
  ['\\p{Greek}', '\\p{Greek} is not a property of Unicode; write \\p{Script=Greek}'],
  ['\\pL', '\\pL has no braces; write \\p{L}'],
  ['[[:alpha:]]', '[:alpha:] is not a class of ECMA-262; write its characters, as in [A-Za-z]'],
  ['[z-a]', 'the range z-a in [...] is backwards; swap its ends'],
  ['a{1001}', '{1001} repeats more than 1000 times'],
  ['(a{1000}){1000}', 'its nested groups repeat more than 1000 times'],
  ['(a', 'a ( has no ) after it'],
  ['a)', 'a ) has no ( before it'],
  ['[a', 'a [ has no ] after it'],
  ['*a', '* repeats nothing; write \\*, or remove it'],
  ['a\\', 'it ends with a single backslash'],
  ['a(?i)b', 'the flags (?i) are not supported here; write it at the start, or (?i:'],
])('the pattern %s is a problem that names the construct', (pattern, expected) => {
  const { problems } = loadText(manifestOf('', bodyRoute(`{ pattern: ${JSON.stringify(pattern)} }`)));
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringContaining(`this pattern is not supported: ${expected}`),
  ]);
});

test.each([
  ['(a)\\1(', ['back-reference \\1', 'a ( has no )']],
  ['(?<n>a)\\k<n>[', ['back-reference \\k<n>', 'a [ has no ]']],
  ['x++(?=a)', ['possessive quantifier ++', 'look-ahead (?=']],
  ['(?<!a)(?>b)*+[z-a]\\A(', ['look-behind (?<!', 'atomic group', '*+', 'range z-a', '\\A', 'a ( has no )']],
  ['(?(1)a|b', ['condition (?(', 'a ( has no )']],
  ['a(?R)b(?#c)(?P<n>d)(?i)[[:x:]]]', ['recursion', 'comment', '(?P<', '(?i)', '[:x:]']],
  ['\\p{Nope}\\pL\\8{5,2}}', ['\\p{Nope}', '\\pL', 'back-reference \\8', '{5,2}', 'a } stands alone']],
  ['a))b', ['a ) has no (']],
  ['(?<n>a)(?<n>b)', ['two groups have the name n; rename one']],
  ['a{2,1}+', ['{2,1} is backwards; swap its numbers']],
  ['a{1001}+', ['{1001} repeats more than 1000 times']],
  ['\\u{110000}', ['\\u is not followed by a code point']],
  ['\\p{L', ['\\p has no property in braces']],
  ['(?<n>a)\\k<n', ['back-reference \\k cannot run']],
  ['[[:alpha:]]', ['[:alpha:] is not a class']],
  ['[a[:digit:][:alpha:]_]b[', ['[:digit:] is not a class', 'a [ has no ]']],
])('the pattern %s has all of its mistakes in one problem', (pattern, expected) => {
  const { problems } = loadText(manifestOf('', bodyRoute(`{ pattern: ${JSON.stringify(pattern)} }`)));
  const texts = problems[0]?.message.split('; and ') ?? [];
  expect(texts).toEqual(expected.slice(0, 5).map((text) => expect.stringContaining(text)));
});

test('no pattern that ECMAScript does not compile is accepted, and the problem names more than what is missing in RE2', () => {
  const tokens = [
    'a',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '*',
    '++',
    '?',
    '|',
    '^',
    '\\1',
    '\\k<n>',
    '(?<n>',
    '(?<n>a)',
    '(?=',
    '(?<!',
    '-',
    '\\d',
    '\\',
  ];
  const linear = /^(?:this pattern is not supported: )?the (?:negative )?(?:look-|back-reference)/;
  const pattern = fc.array(fc.constantFrom(...tokens), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, (text) => {
      // Beyond the flag u, a backslash may stand before any punctuation.
      const isValid = isCompiled(text) || isCompiled(text.replaceAll('\\-', 'x'));
      const message = patternError(text);
      if (!isValid) expect([text, message]).not.toEqual([text, undefined]);
      const parts = message?.split('; and ') ?? [];
      // Two mistakes can only be corrected later: a reference to no group, and the repetition of a look-around.
      if (!isValid && !/\\1|\\k/.test(text) && !isCompiled(text.replaceAll(/\(\?<?[=!]/g, '(?:')))
        expect([text, parts.every((part) => linear.test(part))]).toEqual([text, false]);
    }),
    { numRuns: runs(3_000) },
  );
});

function isCompiled(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

const ATOMS = [
  ...[
    'a',
    'é',
    '😀',
    '.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\b',
    '^',
    '$',
    '\\.',
    '\\/',
    '\\cJ',
    '\\x41',
    '\\0',
  ],
  ...[
    '\\u0061',
    '\\u{1F600}',
    '\\uD83D\\uDE00',
    '\\p{L}',
    '\\P{Letter}',
    '\\p{Script=Greek}',
    '[a-z]',
    '[^a]',
    '[\\s\\S]',
  ],
  ...[
    '[^\\S]',
    '[]',
    '[^]',
    '[a-]',
    '[\\b]',
    '[^\\p{Nd}_]',
    '[\\u{1F600}-\\u{1F610}]',
    '[.]',
    '[\\]]',
    '[a&&b]',
    '\\$',
    '\u2028',
  ],
];
const QUANTIFIERS = ['', '', '*', '+', '?', '{2}', '{0,3}', '+?'];
const TEXT = fc.array(
  fc.constantFrom('a', 'é', '😀', 'A', '_', ' ', '\n', '\u2028', '\ufeff', '9', 'Ω', '\0', '\b', '.', '٣'),
  {
    maxLength: 5,
  },
);

test('random patterns match the same texts as in ECMAScript', () => {
  const part = fc.tuple(
    fc.constantFrom(...ATOMS),
    fc.constantFrom(...QUANTIFIERS),
    fc.constantFrom('', '|', '(?:', '(?<n>'),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.array(TEXT, { maxLength: 20 }), (parts, texts) => {
      const pattern = parts
        .map(([atom, quantifier, around], index) => {
          const repeated = /^(?:\^|\$|\\b)$/.test(atom) ? atom : atom + quantifier;
          if (!around.startsWith('(')) return repeated + around;
          return `${around.replace('n', `n${index}`)}${repeated})${quantifier}`;
        })
        .join('');
      const expected = new RegExp(pattern, 'u');
      const actual = RE2JS.compile(toRe2(pattern));
      for (const text of texts.map((characters) => characters.join('')))
        expect([pattern, text, actual.matcher(text).find()]).toEqual([pattern, text, expected.test(text)]);
    }),
    { numRuns: runs(300) },
  );
});

test('(?i) at the start ignores letter case', () => {
  expect(RE2JS.compile(toRe2('(?i)^ab$')).matcher('Ab').find()).toBe(true);
});

test.each(['Cn', 'Co', 'Cc', 'Noncharacter_Code_Point', 'Default_Ignorable_Code_Point', 'Script=Common'])(
  'the ranges of %s are those of ECMAScript in all planes',
  (property) => {
    const [ours, expected] = [RE2JS.compile(toRe2(`\\p{${property}}`)), new RegExp(`\\p{${property}}`, 'u')];
    // The first two and the last three code points of each 1,024.
    const codes = Array.from({ length: 0x11_0000 / 0x400 }, (_, block) =>
      [0, 1, 0x3fd, 0x3fe, 0x3ff].map((at) => block * 0x400 + at),
    );
    const texts = codes
      .flat()
      .map((code) => String.fromCodePoint(code))
      .filter((text) => text.isWellFormed());
    const differing = texts.filter((text) => ours.matcher(text).find() !== expected.test(text));
    expect(differing).toEqual([]);
  },
);
