import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJwts } from '../../../src/engine/tokens/find-jwts.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const part = (text: string) => Buffer.from(text).toString('base64url');
const JWT = `${part('{"alg":"ES256"}')}.${part('{"sub":"a"}')}.c2ln`;
const OTHER = `${part('{"alg":"none","x":1}')}.e30.eA`;

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const escaped = (write: (code: number) => string) => JWT.replaceAll(/./g, (char) => write(char.charCodeAt(0)));
const hex = (code: number) => code.toString(16).padStart(4, '0');
const percent = (code: number) => `%${hex(code).slice(2)}`;

const wrapped = (value: string, end: string) =>
  Buffer.from(value)
    .toString('base64')
    .replaceAll(/.{60}/g, (line) => line + end);

describe('findJwts finds a JWT', () => {
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
    ['behind a prefix', `token_${JWT}`],
    ['behind several parts and a prefix', `v1.a.b.c-${JWT}`],
    ['behind another header', `${part('{"alg":"none"}')}${JWT}`],
    ['percent-encoded', escaped(percent)],
    ['percent-encoded twice', encodeURIComponent(escaped(percent))],
    ['with encoded dots', `#access_token=${JWT.replaceAll('.', '%2E')}`],
    ['in a URL in a URL', `?next=${encodeURIComponent(`https://a.example/?t=${encodeURIComponent(`/#${JWT}`)}`)}`],
    ['with escapes of JSON', `{"t":"${escaped((code) => `\\u${hex(code)}`)}"}`],
    ['with one escape of JSON', `{"t":"\\u0065${JWT.slice(1)}"}`],
    ['with escapes of JSON in JSON', text({ body: `{"t":"\\u0065${JWT.slice(1)}"}` })],
    ['with escapes of JavaScript', escaped((code) => `\\x${hex(code).slice(2)}`)],
    ['with braced escapes', escaped((code) => `\\u{${hex(code)}}`)],
    ['with octal escapes', escaped((code) => `\\${code.toString(8).padStart(3, '0')}`)],
    ['with the escapes of JavaScript for URLs', escaped((code) => `%u${hex(code)}`)],
    ['with a named entity for an underscore', JWT.replaceAll('.', '&#46;').replaceAll('_', '&UnderBar;')],
    ['with backslashes', JWT.replaceAll('.', '\\.')],
    ['with entities of HTML', escaped((code) => `&#${code};`)],
    ['with hexadecimal entities', escaped((code) => `&#x${hex(code)};`)],
    ['with named entities', JWT.replaceAll('.', '&period;')],
    ['with escaped entities', JWT.replaceAll('.', '&amp;#46;')],
    ['before an escaped line end', text({ pem: `${JWT}\n${JWT}\tx` })],
    ['in JSON in JSON in JSON', text(text(text({ t: `${JWT}\n` })))],
    ['in UTF-16', Buffer.from(JWT, 'utf16le').toString('latin1')],
    ['in base64', `session=${Buffer.from(text({ padding: 'x'.repeat(40), token: JWT })).toString('base64')}`],
    ['in base64 of UTF-16', Buffer.from(JWT, 'utf16le').toString('base64')],
    ['in base64 with line breaks', wrapped(text({ padding: 'x'.repeat(40), token: JWT }), '\r\n')],
    ['in base64 with line breaks in JSON', text({ session: wrapped(text({ t: 'x'.repeat(40), token: JWT }), '\n') })],
    [
      'in base64url behind a prefix',
      `s_${Buffer.from(text({ padding: 'x'.repeat(40), token: JWT })).toString('base64url')}`,
    ],
  ])('%s', (_what, value) => expect(findJwts(text(value))).toEqual([JWT]));

  test('behind any prefix of its own alphabet', () => {
    const prefixes = fc.stringMatching(/^[A-Za-z0-9_-]*$/).filter((prefix) => !/[ICD]/.test(prefix.slice(-4)));
    fc.assert(fc.property(prefixes, (prefix) => void expect(findJwts(prefix + JWT)).toEqual([JWT])));
  });

  test('with white space in front of its header', () => {
    for (const space of [' ', '\n', '\t', '\r\n']) {
      const spaced = `${part(`${space}{"alg":"ES256"}`)}.e30.eA`;
      expect(findJwts(spaced)).toEqual([spaced]);
      expect(findJwts(`token_${spaced}`)).toEqual([spaced]);
    }
  });

  test('with braces, quotes and backslashes in its header', () => {
    for (const kid of ['}{"alg":1}', '\\', '\\"', '"}', '{', '\\\\"{']) {
      const odd = `${part(text({ kid, a: { b: {} }, alg: 'ES256' }))}.e30.eA`;
      expect(findJwts(`x-${odd}`)).toEqual([odd]);
    }
  });

  test('each of several, even if they share parts', () => {
    expect(findJwts(text({ a: JWT, b: [OTHER, JWT] }))).toEqual([JWT, OTHER]);
    const [header, payload] = JWT.split('.');
    expect(findJwts(`${header}.${header}.${payload}.eA`)).toHaveLength(2);
  });
});

test.each([
  ['a host', 'https://www.signing.example/a.b.c'],
  ['a version', '1.2.3'],
  ['base64 that is not JSON', 'eyJhbGciOiJFUzI1NiI.e30.eA'],
  ['a header without an algorithm', `${part('{"typ":"JWT"}')}.e30.eA`],
  ['a header that is a list', `${part('["a","b","c"]')}.e30.eA`],
  ['two parts', JWT.split('.').slice(0, 2).join('.')],
  ['no signature', `${JWT.split('.').slice(0, 2).join('.')}.`],
  ['no payload', `${JWT.split('.')[0]}..eA`],
  ['nothing', null],
  ['a number', 1.5],
  ['true', [true, {}, [], '']],
  ['an image', Buffer.alloc(5_000, 'a picture.of.something').toString('base64')],
])('%s is not a JWT', (_what, value) => expect(findJwts(text(value))).toEqual([]));

test('findJwts finds a JWT anywhere in a JSON value', () => {
  const around = fc.stringMatching(/^[^A-Za-z0-9_%\\&-]*$/);
  fc.assert(
    fc.property(fc.jsonValue(), around, around, fc.boolean(), (other, before, after, isName) => {
      const around = `${before}${JWT}${after}`;
      const value = isName ? { other, [around]: 1 } : [other, { around }];
      expect(findJwts(text(value))).toContain(JWT);
    }),
  );
});

test('a long text of almost-JWTs is searched in linear time', () => {
  const pieces = [
    'a.',
    `${'e'.repeat(12)}.`,
    'eyJhbGciOiJFUzI1NiJ9',
    'eyJhbGciOiJFUzI1NiJ9.',
    '.',
    'e',
    part('{"a":'),
    part('"\\\\'),
    part('}'.repeat(300)),
    '%25',
    '\\\\',
    '\\u{000',
    '&#000',
    '&amp;',
    `${'e'.repeat(60)}\n`,
    '%u0025',
    '\\134',
    `${part('{"alg":1}')}.`,
  ];
  for (const piece of pieces) {
    const start = cpuMs();
    findJwts(piece.repeat(200_000 / piece.length));
    // A quadratic search would take 20 seconds.
    expect(cpuMs() - start).toBeLessThan(2_000);
  }
});
