import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isExactDouble } from '../../../src/engine/validation/inexact-numbers.ts';
import { parseStrictJson } from '../../../src/engine/validation/strict-json.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { runs } from '../../support/runs.ts';

const parse = (text: string | Buffer) => parseStrictJson(Buffer.from(text as string));
const nested = (depth: number, open = '[', close = ']') => `${open.repeat(depth)}${close.repeat(depth)}`;

function valueIn(text: string): unknown {
  const parsed = parse(text);
  return 'violation' in parsed ? parsed : parsed.value;
}

function violationOf(text: string | Buffer): string {
  const parsed = parse(text);
  return 'violation' in parsed
    ? `${parsed.violation.pointer} ${parsed.violation.message}`
    : `no violation: ${JSON.stringify(parsed.value)}`;
}

describe('a duplicate name', () => {
  test.each([
    ['{"a":1,"a":2}', '/a'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"\\u0061":1,"a":1}', '/a'],
    ['{"/":1,"\\/":2}', '/~1'],
    ['{"~":1,"\\u007e":2}', '/~0'],
    ['{"":1,"":2}', '/'],
    ['{"a":1,"b":2,"a":3}', '/a'],
    ['{"a":{"b":1,"b":2}}', '/a/b'],
    ['[0,{"x":[{},{"b":1 , "b" : 2}]}]', '/1/x/1/b'],
    ['[[1,2],[3,{"b":1,"b":2}]]', '/1/1/b'],
    ['{"a":{"a":{"a":1,"a":2}}}', '/a/a/a'],
    ['{"a":"}","a":2}', '/a'],
    ['{"a":"\\"","b":"a\\\\","a":2}', '/a'],
    ['{"a":[":",",{"],"b":":","a":2}', '/a'],
    ['{"a":1,"a"\t\r\n :2}', '/a'],
    [`{"a":1,"a"${' '.repeat(100)}:2}`, '/a'],
    [`{"a":1,"a"${'\n'.repeat(10_000)}:2}`, '/a'],
    ['{"é":1,"\\u00e9":2}', '/é'],
    ['{"😀":1,"\\ud83d\\ude00":2}', '/😀'],
    ['{"toString":1,"toString":2}', '/toString'],
    ['{"a":{"a":1},"b":[{"a":2}],"c":{"c":1,"c":1}}', '/c/c'],
  ])('is refused in %s', (text, pointer) => expect(violationOf(text)).toBe(`${pointer} appears twice in this object`));

  test.each([
    '{"a":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a:","b":"\\"a\\":1"}',
    '{"a":1,"A":1,"a ":1}',
    '{"é":1,"e\u0301":1}',
  ])('is not found in %s', (text) => expect(valueIn(text)).toEqual(JSON.parse(text)));
});

describe('a text that two parsers could read differently', () => {
  test.each<[string, string | Buffer, string]>([
    ['nothing', '', ' must not be empty'],
    ['a byte order mark', '\uFEFF{}', ' must not begin with a byte order mark'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), ' must be UTF-8'],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), ' must be UTF-8'],
    ['a surrogate as UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), ' must be UTF-8'],
    ['UTF-16', Buffer.from('{}', 'utf16le'), ' is not valid JSON'],
    ['a truncated character', Buffer.from('"é"').subarray(0, 2), ' must be UTF-8'],
    ['a lone surrogate', '{"a":["\\ud800"]}', '/a/0 contains a lone surrogate'],
    ['surrogates the wrong way round', '"\\ude00\\ud83d"', ' contains a lone surrogate'],
    ['a lone surrogate in a name', '{"a":{"\\udfff":1}}', '/a has a name that contains a lone surrogate'],
    ['__proto__', '{"a":{"__proto__":{}}}', '/a/__proto__ is a name that is not accepted'],
    ['__proto__ in escapes', '{"\\u005f_proto__":1}', '/__proto__ is a name that is not accepted'],
    ['a number out of range', '{"a":[0,1e400]}', '/a/1 is a number out of range'],
    ['a negative number out of range', '-1e400', ' is a number out of range'],
    ['65 levels of lists', nested(65), `${'/0'.repeat(64)} is nested deeper than 64 levels`],
    [
      '65 levels of maps',
      `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`,
      `${'/a'.repeat(64)} is nested deeper than 64 levels`,
    ],
    ['trailing garbage', '{} x', ' is not valid JSON'],
    ['two values', '{}{}', ' is not valid JSON'],
    ['a trailing comma', '[1,]', ' is not valid JSON'],
    ['a comment', '{/**/}', ' is not valid JSON'],
    ['single quotes', "{'a':1}", ' is not valid JSON'],
    ['NaN', '[NaN]', ' is not valid JSON'],
    ['a leading zero', '01', ' is not valid JSON'],
    ['a raw control character', '"\n"', ' is not valid JSON'],
    ['white space only', ' \n', ' is not valid JSON'],
    ['a NUL after the value', '{}\0', ' is not valid JSON'],
    ['a form feed', '\f{}', ' is not valid JSON'],
  ])('is refused: %s', (_name, text, expected) => expect(violationOf(text)).toBe(expected));

  test.each([
    ['lists', nested(5_000_000), `${'/0'.repeat(64)} is nested deeper than 64 levels`],
    ['open lists', '['.repeat(10_000_000), `${'/0'.repeat(64)} is nested deeper than 64 levels`],
    ['deep inside', `{"a":[1,{"b":${'['.repeat(70)}`, `/a/1/b${'/0'.repeat(61)} is nested deeper than 64 levels`],
    [
      'after invalid names',
      `{"\\q":{"a\n":${'['.repeat(70)}`,
      `//a\n${'/0'.repeat(62)} is nested deeper than 64 levels`,
    ],
    ['an open string', `"${'\\"'.repeat(1_000_000)}`, ' is not valid JSON'],
    ['brackets in strings', `["${'['.repeat(100)}"`, ' is not valid JSON'],
    ['closed before they are opened', `${']'.repeat(100)}${'['.repeat(100)}`, ' is not valid JSON'],
    [
      'a long name twice',
      `{"${'a\\"'.repeat(1_000_000)}":1,"${'a\\"'.repeat(1_000_000)}":1}`,
      'appears twice in this object',
    ],
  ])('is refused in linear time: %s', (_name, text, expected) => {
    const start = cpuMs();
    expect(violationOf(text).endsWith(expected)).toBe(true);
    expect(cpuMs() - start).toBeLessThan(1_000);
  });

  test('is refused without a quote of its values', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('{"a":"SECRET","a":1}', '{"a":"SECRET"', '["SECRET\\ud800"]', '["SECRET", 1e400]'),
        (text) => !violationOf(text).includes('SECRET'),
      ),
    );
  });
});

test.each([
  '{}',
  '[]',
  '0',
  '""',
  'null',
  'true',
  ' {"a" : [ ] } ',
  nested(64),
  '1e308',
  '"\\ud83d\\ude00"',
  '{"constructor":1,"prototype":2}',
  '-0',
])('%s is parsed', (text) => {
  expect(valueIn(text)).toEqual(JSON.parse(text));
});

test('each number that a double may not represent is returned with its position', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,24}$/);
  const literal = fc.oneof(
    digits,
    fc.tuple(digits, digits).map(([whole, fraction]) => `${whole}.${fraction}`),
    fc.tuple(digits, fc.integer({ min: -400, max: 290 })).map(([whole, exponent]) => `-${whole}e${exponent}`),
    fc.tuple(digits, fc.integer({ min: 0, max: 99 })).map(([whole, exponent]) => `${whole}E+${exponent}`),
  );
  fc.assert(
    fc.property(fc.array(literal, { minLength: 1 }), (literals) => {
      fc.pre(literals.every((text) => Number.isFinite(Number(text))));
      const text = `{"1e999" : [${literals.join(' ,')}]}`;
      const parsed = parse(text);
      if ('violation' in parsed) throw new Error(parsed.violation.message);
      const positions = parsed.longNumbers ?? [];
      const longNumbers = positions.flatMap((start, index) =>
        index % 2 === 0 ? [text.slice(start, positions[index + 1])] : [],
      );
      for (const number of longNumbers) expect(literals).toContain(number);
      for (const literal of literals) if (!isExactDouble(literal)) expect(longNumbers).toContain(literal);
    }),
  );
});

describe('long strings', () => {
  test('end at the quote that is not escaped, however many backslashes precede it', () => {
    for (let length = 0; length < 80; length += 1) {
      for (let backslashes = 0; backslashes < 6; backslashes += 1) {
        const start = `{"a":"${'x'.repeat(length)}${'\\'.repeat(backslashes)}`;
        const escaped = backslashes % 2 === 1 ? '"' : '';
        expect(violationOf(`${start}${escaped}","a":1}`)).toBe('/a appears twice in this object');
      }
    }
  });

  const long = (text: string, length = 20_000) => text.repeat(Math.ceil(length / text.length)).slice(0, length);

  test.each<[string, unknown]>([
    ['alone', long('a')],
    ['in lists and objects', { a: [long('b'), 1, [long('c'), 'd']], e: { f: long('g'), h: null } }],
    ['as a name', { [long('a')]: { [long('b')]: long('c') } }],
    ['with escapes', [long('"\\\n\u0001/'), long('\u2028é€😀')]],
    ['beside many others', [...Array(1_000).fill('x'), long('y'), ...Array(1_000).fill({ z: 1 })]],
    ['with the syntax of JSON', [long('{"a":[1,"b"]}'), long('":"')]],
    ['of each length about the limit', Array.from({ length: 9 }, (_, index) => 'a'.repeat(16_378 + index))],
  ])('%s are parsed as by JSON.parse', (_name, value) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, '\t')])
      expect(valueIn(text)).toEqual(JSON.parse(text));
  });

  test.each<[string, string | Buffer, string]>([
    ['a raw control character', `["${long('a')}\n"]`, ' is not valid JSON'],
    ['an invalid escape', `["${long('a')}\\q"]`, ' is not valid JSON'],
    ['half an escape', `["${long('a')}\\u00"]`, ' is not valid JSON'],
    ['no end', `["${long('a')}`, ' is not valid JSON'],
    ['a string directly after it', `["${long('a')}""b"]`, ' is not valid JSON'],
    ['a backslash before', `[\\"${long('a')}"]`, ' is not valid JSON'],
    ['a lone surrogate', `{"a":["${long('a')}\\ud800"]}`, '/a/0 contains a lone surrogate'],
    ['invalid UTF-8', Buffer.from(`["${long('a')}\xff"]`, 'latin1'), ' must be UTF-8'],
    ['a name twice', `{"a":"${long('a')}","b":1,"a":2}`, '/a appears twice in this object'],
    ['a long name twice', `{"${long('a')}":1,"${long('a')}":2}`, `/${long('a')} appears twice in this object`],
    ['__proto__', `{"__proto__":"${long('a')}"}`, '/__proto__ is a name that is not accepted'],
  ])('with %s are refused', (_name, text, expected) => expect(violationOf(text)).toBe(expected));
});

describe('the limit of members and items', () => {
  const LIMIT = 100_000;
  const TOO_MANY = ' has more than 100000 members and items';
  const list = (item: string, count: number) => `[${Array(count).fill(item).join(' ,\n')}]`;

  test.each<[string, (count: number) => string]>([
    ['items', (count) => list('0', count)],
    ['empty lists', (count) => list('[ ]', count)],
    ['empty objects', (count) => list('{}', count)],
    ['members', (count) => `{${Array.from({ length: count }, (_, index) => `"${index}":{}`).join()}}`],
    ['half items, half members', (count) => list('{"a":"b,c"}', count / 2)],
  ])('allows 100,000 %s and refuses one more', (_name, make) => {
    const exactly = make(LIMIT);
    expect('value' in parse(exactly)).toBe(true);
    expect(violationOf(exactly.replace(/([\]}])$/, exactly.startsWith('{') ? ',"x":1}' : ',1]'))).toBe(TOO_MANY);
  });
});

test('any text of JSON.stringify is parsed as by JSON.parse', () => {
  const value = fc
    .jsonValue({ stringUnit: anyCharacter, maxDepth: 8 })
    .filter((any) => !JSON.stringify(any).includes('__proto__'));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2, '\t'), (any, indent) => {
      const text = JSON.stringify(any, null, indent);
      expect(valueIn(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: runs(1000) },
  );
});

test('any text is refused or parsed as by JSON.parse', () => {
  const json = fc
    .array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '"b"', '1', ' ', '\\', '\\u0061', 'e', '-', 'null'),
      { maxLength: 14 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(json, (text) => {
      const parsed = parse(text);
      if ('value' in parsed) expect(parsed.value).toEqual(JSON.parse(text));
    }),
    { numRuns: runs(3000) },
  );
});

test('a duplicate name is found anywhere in an object', () => {
  const document = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 });
  fc.assert(
    fc.property(
      document.filter((any) => !JSON.stringify(any).includes('__proto__')),
      fc.nat(),
      (members, pick) => {
        const names = Object.keys(members);
        const name = names[pick % names.length] ?? '';
        const escaped = [...name]
          .map((character) =>
            character.length > 1 ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
          .join('');
        const text = `${JSON.stringify(members).slice(0, -1)},"${escaped}":1}`;
        expect(violationOf(text)).toBe(
          `/${name.replaceAll('~', '~0').replaceAll('/', '~1')} appears twice in this object`,
        );
      },
    ),
  );
});
