import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MULTIPLE_OF } from '../../../src/engine/schema/own-keywords.ts';
import { createSchemaValidators } from '../../../src/engine/schema/value-validator.ts';

const isMultiple = (value: number, divisor: number) => MULTIPLE_OF.compile(divisor)(value);

test.each<[number, number]>([
  [0.07, 0.01],
  [31.08, 0.01],
  [-65_720.51, 0.01],
  [0, 0.01],
  [-0, 3],
  [1.1, 0.1],
  [19.99, 0.001],
  [3e-7, 1e-7],
  [1e21, 1e21],
  [1e300, 1e-7],
  [4, 2],
  [9_007_199_254_740_991, 1],
])('%s is a multiple of %s', (value, divisor) => expect(isMultiple(value, divisor)).toBe(true));

test.each<[number, number]>([
  [0.071, 0.01],
  [0.30000000000000004, 0.1],
  [1, 0.3],
  [5, 2],
  [1e-7, 1],
  [1.5, 1],
  [5e-324, 1e300],
])('%s is not a multiple of %s', (value, divisor) => expect(isMultiple(value, divisor)).toBe(false));

test('agrees with integer division for every position of the decimal point', () => {
  const integer = fc.integer({ min: -1_000_000, max: 1_000_000 });
  fc.assert(
    fc.property(
      integer,
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: -8, max: 8 }),
      (value, divisor, power) => {
        const shift = (number: number) => Number(`${number}e${power}`);
        expect(isMultiple(shift(value), shift(divisor))).toBe(value % divisor === 0);
      },
    ),
  );
});

test('a number that is not a multiple is a violation', () => {
  const validate = createSchemaValidators({ schemas: { A: { multipleOf: 0.01 } }, routes: [], files: {} }).validatorAt([
    'schemas',
    'A',
  ]);
  expect(validate(0.07, 4)).toEqual([]);
  expect(validate(0.071, 5)).toEqual([{ pointer: '', message: 'must be multiple of 0.01' }]);
});
