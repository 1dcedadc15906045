import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePointer, pointerStep } from '../src/engine/json-pointer.ts';
import { anyCharacter } from './support/any-character.ts';

/** RFC 6901 section 5. */
const DOCUMENT = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

describe('compilePointer returns the values of RFC 6901 section 5 for', () => {
  test.each<[string, unknown]>([
    ['', DOCUMENT],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('%j', (pointer, expected) => expect(compilePointer(pointer)(DOCUMENT)).toEqual(expected));
});

describe('compilePointer returns undefined for a missing value:', () => {
  test.each([
    ['/a', {}],
    ['/a/b', { a: null }],
    ['/a/b', { a: 'text' }],
    ['/a/length', { a: 'text' }],
    ['/2', ['a', 'b']],
    ['/-', ['a', 'b']],
    ['/toString', {}],
    ['/__proto__', {}],
    ['/__proto__/polluted', {}],
    ['/constructor/name', {}],
    ['/a', null],
    ['/a', 'text'],
    ['/a', 5],
    ['/a', undefined],
  ])('%s in %j', (pointer, value) => expect(compilePointer(pointer)(value)).toBeUndefined());
});

test('compilePointer reads "~01" as "~1", not as "/"', () => {
  expect(compilePointer('/~01')({ '~1': 'right', '/': 'wrong' })).toBe('right');
});

test('compilePointer returns own members with the name of an inherited one', () => {
  expect(compilePointer('/__proto__')(JSON.parse('{"__proto__":1}'))).toBe(1);
});

test('pointerStep and compilePointer agree on any name', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter }),
      (name) => compilePointer(pointerStep(name))(Object.fromEntries([[name, 1]])) === 1,
    ),
  );
});
