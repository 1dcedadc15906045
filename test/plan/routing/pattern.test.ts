import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRequestTarget } from '../../../src/gateway/request/request-target.ts';
import { PatternError, parsePattern, patternKey } from '../../../src/plan/routing/pattern.ts';

const literal = (text: string) => ({ kind: 'literal', text });

describe('patterns', () => {
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
  ])('%s', (path, expected) => expect(parsePattern(path)).toEqual(expected));
});

describe('what cannot be written', () => {
  test.each([
    ['/a/', 'a trailing slash is never needed; write /a'],
    ['/a//', 'a trailing slash is never needed; write /a'],
    ['//', 'a trailing slash is never needed; write /'],
    ['/a//b', 'a path has no empty segments; write one slash'],
    ['/a?b', 'a path has no query and no fragment; leave out what follows the path'],
    ['/a#b', 'a path has no query and no fragment; leave out what follows the path'],
    ['/**/a', '"**" stands for any rest, so it can only come last'],
    ['/*', '"*": a "*" has no meaning here; write {name} for one segment, a final ** for any rest'],
    ['/a*', '"a*": a "*" has no meaning here; write {name} for one segment, a final ** for any rest'],
    ['/***', '"***": a "*" has no meaning here; write {name} for one segment, a final ** for any rest'],
    ['/:id', 'write a parameter as {id}, not ":id"'],
    ['/{id}/{id}', 'the parameter {id} stands here twice; give each its own name'],
    ['/.', 'a path has no "." segments; write the path that is meant'],
    ['/a/../b', 'a path has no ".." segments; write the path that is meant'],
    ['/a%41', '"%41" is a needless escape; write A'],
    ['/a%7E', '"%7E" is a needless escape; write ~'],
    ['/a%2Db', '"%2D" is a needless escape; write -'],
    ['/%2E%2E', '"%2E" is a needless escape; write .'],
    ['/a%2Fb', '"%2F" cannot stand in a route\'s path; write {name} for its segment, and encodedSlash: keep'],
    ['/a%5Cb', '"%5C" is refused in every request\'s path; leave it out'],
    ['/a%00b', '"%00" is refused in every request\'s path; leave it out'],
    ['/a%0A', '"%0A" is refused in every request\'s path; leave it out'],
    ['/a%7F', '"%7F" is refused in every request\'s path; leave it out'],
    ['/%C0%AF', '"%C0%AF" does not decode to UTF-8; correct its escapes'],
    ['/%FF', '"%FF" does not decode to UTF-8; correct its escapes'],
    ['/%C2%80', '"%C2%80" is refused in every request\'s path; leave its escapes out'],
    ['/a%2541', '"a%2541" is refused in every request\'s path; leave its escapes out'],
    ['/%20', '"%20" is refused in every request\'s path; leave its escapes out'],
    ['/%3Bx', '"%3Bx" is refused in every request\'s path; leave its escapes out'],
    ['/..%3B', '"..%3B" is refused in every request\'s path; leave its escapes out'],
    ['/.%23a', '".%23a" is refused in every request\'s path; leave its escapes out'],
    ['/%C2%A0..', '"%C2%A0.." is refused in every request\'s path; leave its escapes out'],
  ])('%s', (path, message) => {
    expect(() => parsePattern(path)).toThrow(new PatternError(message));
  });

  test.each(['/{}', '/{a-b}', '/{a}b', '/a{b}', '/{a', '/a}', '/{{a}}', '/{1a}', '/{a}{b}', '/{a*}'])(
    '%s has no parameter',
    (path) => {
      expect(() => parsePattern(path)).toThrow(/^a parameter is a whole segment .* in place of "/);
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
    '/a\\b',
    '/a"b',
    '/a<b',
    '/a|b',
    '/a^b',
    '/a`b',
    '/a[b]',
    '/a\0',
    '/a\n',
  ])('%j has a character that no path holds', (path) => {
    expect(() => parsePattern(path)).toThrow(/has characters that a path cannot hold; percent-encode them/);
  });
});

test('any text is a pattern or a fault', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).map((text) => `/${text}`),
      (path) => {
        try {
          parsePattern(path);
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('every literal pattern can be reached: the path guard lets its own text through', () => {
  const piece = fc.constantFrom(
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
      fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
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
    { numRuns: 5000 },
  );
});

describe('equal patterns', () => {
  test.each([
    ['/', '/', true],
    ['/{a}', '/{b}', true],
    ['/a/{b}/c', '/a/{x}/c', true],
    ['/a', '/A', false],
    ['/{a}', '/**', false],
    ['/a/**', '/a', false],
    ['/a/{b}', '/a/b', false],
    ['/', '/**', false],
  ])('%s and %s: %s', (one, other, equal) => {
    expect(patternKey(parsePattern(one)) === patternKey(parsePattern(other))).toBe(equal);
  });
});
