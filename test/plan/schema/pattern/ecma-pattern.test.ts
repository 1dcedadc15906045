import { describe, expect, test } from 'vitest';
import { toRe2 } from '../../../../src/plan/schema/pattern/ecma-pattern.ts';
import { bodyRoute, loadText, manifestOf, violationsOf } from '../../../manifest/support.ts';

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

describe('a pattern for RE2', () => {
  test('is a problem if RE2 cannot express it', () => {
    const { problems } = loadText(manifestOf('', bodyRoute("{ pattern: '[\\S\\d]' }")));
    expect(problems.map(({ message }) => message)).toEqual([
      'this pattern cannot run in linear time (\\S inside of [...]); write it without look-around and back-references',
    ]);
  });

  test('is unchanged if both dialects agree', () => expect(toRe2('^a[b]{2}(?:c|\\d)+$')).toBe('^a[b]{2}(?:c|\\d)+$'));
});
