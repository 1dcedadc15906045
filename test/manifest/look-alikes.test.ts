import { describe, expect, it } from 'vitest';
import { loadText, manifestOf, problemOf } from './support.ts';

const ROUTE = `  - id: contacts
    method: POST
    path: /api/contacts
    upstream: contacts
    access: public
`;
const SPACE = 'is not a space in YAML; write a normal space';
const COLON = 'only looks like a colon; write ":" and a space';
const inRoute = (from: string, to: string) => problemOf(manifestOf('', ROUTE.replace(from, to)));

describe('a character that looks like one of YAML', () => {
  it.each([
    [
      'an indentation of no-break spaces',
      '    method',
      '\u00a0\u00a0\u00a0\u00a0method',
      `6:1 the character U+00A0 ${SPACE}`,
    ],
    ['a no-break space in the indentation', '    method', '   \u00a0method', `6:4 the character U+00A0 ${SPACE}`],
    ['an ideographic space after a colon', 'method: ', 'method:\u3000', `6:12 the character U+3000 ${SPACE}`],
    ['a no-break space before a value', 'method: ', 'method: \u00a0', `6:13 the character U+00A0 ${SPACE}`],
    ['a no-break space after a value', 'POST', 'POST\u00a0', `6:17 the character U+00A0 ${SPACE}`],
    ['a no-break space before a comment', 'POST', 'POST\u00a0# x', `6:17 the character U+00A0 ${SPACE}`],
    ['a no-break space after a dash', '- id', '-\u00a0id', `5:4 the character U+00A0 ${SPACE}`],
    ['a zero-width space in a key', 'method', 'met\u200bhod', '6:8 the character U+200B is invisible; remove it'],
    [
      'a byte order mark before a key',
      '    upstream',
      '    \uFEFFupstream',
      '8:5 the character U+FEFF is invisible; remove it',
    ],
    ['a full-width colon', 'method: ', 'method：', `6:11 the character U+FF1A ${COLON}`],
    ['a small colon', 'method: ', 'method﹕ ', `6:11 the character U+FE55 ${COLON}`],
    ['a full-width colon in the first key', 'id: ', 'id：', `5:7 the character U+FF1A ${COLON}`],
    [
      'typographic quotes',
      '/api/contacts',
      '“/api/contacts”',
      '7:11 the character U+201C does not quote a value; write " or \'',
    ],
    [
      'typographic quotes of a key',
      'method',
      '‘method’',
      '6:5 the character U+2018 does not quote a value; write " or \'',
    ],
    ['an en dash', '- id', '– id', '5:3 the character U+2013 only looks like a hyphen; write "-"'],
    [
      'a full-width bracket',
      'POST',
      '［POST]: x',
      '6:13 the character U+FF3B only looks like a bracket; write [ ] or { }',
    ],
    ['a full-width comma', 'POST', '[POST，GET]', '6:18 the character U+FF0C only looks like a comma; write ","'],
  ])('%s', (_name, from, to, expected) => {
    expect(inRoute(from, to)).toBe(expected);
  });

  it.each([
    ['a key', 'method', 'mеthod', '6:5 unknown key "mеthod"; did you mean "method"? (character 2 is U+0435)'],
    [
      'a quoted value',
      'POST',
      '"POST\u00a0"',
      '6:13 "POST\u00a0" is not a method; did you mean "POST"? (character 5 is U+00A0)',
    ],
  ])('is named in the suggestion for %s', (_name, from, to, expected) => {
    expect(inRoute(from, to)).toBe(expected);
  });

  it('explains an error on a later line', () => {
    expect(
      problemOf(
        manifestOf().replace('upstreams:', 'upstreams:\n\u00a0 # x\n').replace('  contacts', '\u00a0\u00a0contacts'),
      ),
    ).toBe(`3:1 the character U+00A0 ${SPACE}`);
  });
});

describe('text in other languages is accepted', () => {
  it.each([
    'Accès refusé\u00a0! «\u00a0Non\u00a0»',
    '“One” and “two”',
    '说明：文本，更多',
    '👩‍👩‍👧 ❤️',
    '[你好，世界]',
    '"\u00a0quoted\u200b"',
    "'“quoted”'",
  ])('%s', (text) => {
    expect(loadText(manifestOf(`schemas: { A: { examples: [ { a: ${text} } ] } } # \u00a0“：\n`)).problems).toEqual([]);
  });
});
