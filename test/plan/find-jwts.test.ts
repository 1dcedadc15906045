import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJwts } from '../../src/plan/find-jwts.ts';

const part = (text: string) => Buffer.from(text).toString('base64url');
const JWT = `${part('{"alg":"ES256"}')}.${part('{"sub":"a"}')}.c2ln`;
const OTHER = `${part('{"alg":"none","x":1}')}.e30.eA`;

describe('a JWT is found', () => {
  test.each([
    ['as it is', JWT],
    ['behind a scheme', `Bearer ${JWT}`],
    ['in a cookie', `session=${JWT}; HttpOnly`],
    ['in the fragment of a URL', `https://app.example/done#access_token=${JWT}&state=1`],
    ['in JSON in a string', JSON.stringify({ token: JWT })],
    ['deep inside', { a: [{ b: [1, null, { c: JWT }] }] }],
    ['as the name of a member', { [JWT]: true }],
    ['behind a dot', `a.${JWT}`],
    ['before a dot', `${JWT}.`],
    ['in five parts', `${JWT}.a.b`],
  ])('%s', (_what, value) => expect(findJwts(value)).toEqual([JWT]));

  test('with white space in front of its header', () => {
    for (const space of [' ', '\n', '\t', '\r\n']) {
      const spaced = `${part(`${space}{"alg":"ES256"}`)}.e30.eA`;
      expect(findJwts(spaced)).toEqual([spaced]);
    }
  });

  test('each time that there is one, those that share parts too', () => {
    expect(findJwts({ a: JWT, b: [OTHER, JWT] })).toEqual([JWT, OTHER, JWT]);
    const [header, payload] = JWT.split('.');
    expect(findJwts(`${header}.${header}.${payload}.eA`)).toHaveLength(2);
  });
});

test.each([
  ['a host', 'https://www.signing.example/a.b.c'],
  ['a version', '1.2.3'],
  ['base64 that is no JSON', 'eyJhbGciOiJFUzI1NiI.e30.eA'],
  ['a header without an algorithm', `${part('{"typ":"JWT"}')}.e30.eA`],
  ['a header that is a list', `${part('["a","b","c"]')}.e30.eA`],
  ['two parts', JWT.split('.').slice(0, 2).join('.')],
  ['no signature', `${JWT.split('.').slice(0, 2).join('.')}.`],
  ['no payload', `${JWT.split('.')[0]}..eA`],
  ['nothing', null],
  ['a number', 1.5],
  ['true', [true, {}, [], '']],
])('%s is none', (_what, value) => expect(findJwts(value)).toEqual([]));

test('it is found wherever it stands', () => {
  const around = fc.stringMatching(/^[^A-Za-z0-9_-]*$/);
  fc.assert(
    fc.property(fc.jsonValue(), around, around, fc.boolean(), (other, before, after, isName) => {
      const text = `${before}${JWT}${after}`;
      const value = isName ? { other, [text]: 1 } : [other, { text }];
      expect(findJwts(value)).toContain(JWT);
    }),
  );
});

test('a megabyte of what looks like one is looked through in a moment', () => {
  for (const text of ['a.', `${'e'.repeat(12)}.`, 'eyJhbGciOiJFUzI1NiJ9.', '.', 'e']) {
    const start = performance.now();
    findJwts(text.repeat(1_000_000 / text.length));
    expect(performance.now() - start).toBeLessThan(2_000);
  }
});
