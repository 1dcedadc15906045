import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRequestTarget } from '../../../src/engine/gateway/request/request-head.ts';
import { PatternError, parsePattern, patternKey } from '../../../src/engine/routing/pattern.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { runs } from '../../support/runs.ts';

const literal = (text: string) => ({ kind: 'literal', text });

describe('parsePattern', () => {
  test.each<[string, unknown[]]>([
    ['/', []],
    ['/a', [literal('a')]],
    ['/a/b.c/~d', [literal('a'), literal('b.c'), literal('~d')]],
    ['/a/{id}', [literal('a'), { kind: 'parameter', name: 'id' }]],
    [
      '/{_a1}/{B}',
      [
        { kind: 'parameter', name: '_a1' },
        { kind: 'parameter', name: 'B' },
      ],
    ],
    ['/**', [{ kind: 'rest' }]],
    ['/a/**', [literal('a'), { kind: 'rest' }]],
    ["/!$&'()+,=@-._~", [literal("!$&'()+,=@-._~")]],
    ['/a:b', [literal('a:b')]],
    ['/caf%C3%A9', [literal('caf%C3%A9')]],
    ['/a%20b', [literal('a%20b')]],
    ['/...', [literal('...')]],
    ['/.well-known', [literal('.well-known')]],
  ])('parses %s', (path, expected) => expect(parsePattern(path)).toEqual(expected));
});

describe('an invalid path', () => {
  test.each([
    ['/a/', 'a trailing slash is never needed; write /a'],
    ['/a//', 'a trailing slash is never needed; write /a'],
    ['//', 'a trailing slash is never needed; write /'],
    ['/a//b', 'a path has no empty segments; write a single slash'],
    ['/a?b', 'a path has no query and no fragment; remove everything after the path'],
    ['/a#b', 'a path has no query and no fragment; remove everything after the path'],
    ['/**/a', '"**" matches any rest of a path, so it must come last'],
    ['/*', '"*": a "*" has no meaning here; write {name} for one segment, a final ** for any rest'],
    ['/a*', '"a*": a "*" has no meaning here; write {name} for one segment, a final ** for any rest'],
    ['/***', '"***": a "*" has no meaning here; write {name} for one segment, a final ** for any rest'],
    ['/:id', 'write a parameter as {id}, not ":id"'],
    ['/{id}/{id}', 'the parameter {id} appears twice; rename one'],
    ['/.', 'a path has no "." segments; write the path without them'],
    ['/a/../b', 'a path has no ".." segments; write the path without them'],
    ['/a%41', '"%41" is a needless escape; write A'],
    ['/a%7E', '"%7E" is a needless escape; write ~'],
    ['/a%2Db', '"%2D" is a needless escape; write -'],
    ['/%2E%2E', '"%2E" is a needless escape; write .'],
    ['/a%2Fb', '"%2F" is not allowed in a route\'s path; write {name} for its segment, and encodedSlash: keep'],
    ['/a%5Cb', '"%5C" is refused in every request\'s path; remove it'],
    ['/a%00b', '"%00" is refused in every request\'s path; remove it'],
    ['/a%0A', '"%0A" is refused in every request\'s path; remove it'],
    ['/a%7F', '"%7F" is refused in every request\'s path; remove it'],
    ['/%C0%AF', '"%C0%AF" does not decode to UTF-8; correct its escapes'],
    ['/%FF', '"%FF" does not decode to UTF-8; correct its escapes'],
    ['/%C2%80', '"%C2%80" is refused in every request\'s path; remove its escapes'],
    ['/a%2541', '"a%2541" is refused in every request\'s path; remove its escapes'],
    ['/%20', '"%20" is refused in every request\'s path; remove its escapes'],
    ['/%3Bx', '"%3Bx" is refused in every request\'s path; remove its escapes'],
    ['/..%3B', '"..%3B" is refused in every request\'s path; remove its escapes'],
    ['/a\\b', '"a\\b" is refused in every request\'s path, also with escapes; remove it'],
    ['/a\u0000', '"a\u0000" is refused in every request\'s path, also with escapes; remove it'],
    ['/a\n', '"a\n" is refused in every request\'s path, also with escapes; remove it'],
    ['/a\u0009b', '"a\u0009b" is refused in every request\'s path, also with escapes; remove it'],
    ['/ ', '" " is refused in every request\'s path, also with escapes; remove it'],
    ['/;x', '";x" is refused in every request\'s path, also with escapes; remove it'],
    ['/a;x', '"a;x" has characters that a path cannot contain; write {name} for its segment'],
    ['/%40me', 'some servers read "%40me" as "@me"; write @me, or {name} for its segment'],
    ['/a%3Fb', 'some servers read "a%3Fb" as "a?b"; write {name} for its segment'],
    ['/admin.', 'some servers read "admin." as "admin"; write admin, or {name} for its segment'],
    [
      '/%C3%89',
      '"%C3%89" has capitals outside of ASCII, which servers read in several ways; write {name} for its segment',
    ],
    ['/a b/é', '"a b" has characters that a path cannot contain; write a%20b'],
    ['/a/<id>', 'write a parameter as {id}, not "<id>"'],
    ['/.%23a', '".%23a" is refused in every request\'s path; remove its escapes'],
    ...['%E2%80%A5', '%E2%80%A5%3Bx', 'a%EF%BC%8Fb', 'a%EF%BC%852Fb', '%C2%AD', '%EF%BC%8E', 'a%EF%BC%BCb'].map(
      (text): [string, string] => [
        `/${text}`,
        `servers that normalize Unicode read "${text}" as a slash, as dots or as nothing; write {name} for its segment`,
      ],
    ),
    ['/%C2%A0..', '"%C2%A0.." is refused in every request\'s path; remove its escapes'],
  ])('%s is refused with a message that says how to fix it', (path, message) => {
    expect(() => parsePattern(path)).toThrow(new PatternError(message));
  });

  test.each(['/{}', '/{a-b}', '/{a}b', '/a{b}', '/{a', '/a}', '/{{a}}', '/{1a}', '/{a}{b}', '/{a*}'])(
    '%s is refused because its parameter is not a complete segment',
    (path) => {
      expect(() => parsePattern(path)).toThrow(/^a parameter is a complete segment .* in place of "/);
    },
  );

  test.each([
    '/a;b',
    '/a b',
    '/é',
    '/a%',
    '/a%2',
    '/a%zz',
    '/a%c3%a9',
    '/a"b',
    '/a<b',
    '/a|b',
    '/a^b',
    '/a`b',
    '/a[b]',
  ])('%j is refused because of a character that a path cannot contain', (path) => {
    expect(() => parsePattern(path)).toThrow(
      /has characters that a path cannot contain; (?:percent-encode them|write )/,
    );
  });

  test.each([
    ['/a b', 'a%20b'],
    ['/é\ud800', '%C3%A9%EF%BF%BD'],
    ['/a%c3%a9', 'a%C3%A9'],
    ['/a"b', 'a%22b'],
    ['/a%', 'a%25'],
  ])('%j gets a segment to write that is valid', (path, segment) => {
    expect(() => parsePattern(path)).toThrow(`; write ${segment}`);
    expect(parsePattern(`/${segment}`)).toEqual([{ kind: 'literal', text: segment }]);
  });
});

test('parses any text or throws a PatternError', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter }).map((text) => `/${text}`),
      (path) => {
        try {
          parsePattern(path);
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
        }
      },
    ),
    { numRuns: runs(2000) },
  );
});

test('accepts only literal paths that the path guard accepts in requests', () => {
  const text = fc.constantFrom(
    'a',
    'B',
    '0',
    '.',
    '~',
    '!',
    '$',
    '(',
    ')',
    '+',
    ',',
    '=',
    ':',
    '@',
    '-',
    '_',
    "'",
    '&',
    '%20',
    '%C3%A9',
    '%22',
    '%3B',
    '%23',
    '%3F',
    '..',
    '%25',
    '%2B',
    '%3A',
    '%C2%A0',
    '%C2%80',
    '%E2%80%8B',
    '%7B',
    '%41',
    '%2F',
    '%2E',
    '%C0',
  );
  const path = fc
    .array(
      fc.array(text, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((parts) => `/${parts.join('/')}`);
  fc.assert(
    fc.property(path, (text) => {
      try {
        parsePattern(text);
      } catch {
        return;
      }
      expect(readRequestTarget(text, 'h').path).toBe(text);
    }),
    { numRuns: runs(5000) },
  );
});

describe('patternKey', () => {
  test.each([
    ['/', '/', true],
    ['/{a}', '/{b}', true],
    ['/a/{b}/c', '/a/{x}/c', true],
    ['/a', '/A', false],
    ['/{a}', '/**', false],
    ['/a/**', '/a', false],
    ['/a/{b}', '/a/b', false],
    ['/', '/**', false],
  ])('is equal for %s and %s: %s', (one, other, equal) => {
    expect(patternKey(parsePattern(one)) === patternKey(parsePattern(other))).toBe(equal);
  });
});
