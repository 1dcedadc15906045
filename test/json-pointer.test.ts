import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePointer, pointerStep } from '../src/json-pointer.ts';

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

describe('the examples of RFC 6901', () => {
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

describe('what is not there is undefined', () => {
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

test('"~01" is "~1", not "/"', () => {
  expect(compilePointer('/~01')({ '~1': 'right', '/': 'wrong' })).toBe('right');
});

test('own members named as inherited ones are found', () => {
  expect(compilePointer('/__proto__')(JSON.parse('{"__proto__":1}'))).toBe(1);
});

test('any name is found by its step', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      (name) => compilePointer(pointerStep(name))(Object.fromEntries([[name, 1]])) === 1,
    ),
  );
});
