import { describe, expect, test } from 'vitest';
import { compareSchemas } from '../../src/prove/schema-comparison/compare-schemas.ts';
import { comparedSchema } from './compared-schema.ts';

type Schema = Record<string, unknown>;

const count = (length: number) => Array.from({ length }, (_, index) => index);

function compare(make: (isNew: boolean) => Schema) {
  return compareSchemas(comparedSchema(make(false)), comparedSchema(make(true)));
}

describe('a change is found', () => {
  test('in one of many exclusive branches', () => {
    const { looser } = compare((isNew) => ({
      type: 'object',
      required: ['type'],
      oneOf: count(60).map((index) => ({
        properties: {
          type: { const: `t${index}` },
          value: { type: 'string', maxLength: isNew && index === 55 ? 4 : 3 },
        },
      })),
    }));
    expect(looser).toEqual({ type: 't55', value: 'xxxx' });
  });

  test('in one of many items', () => {
    const { looser } = compare((isNew) => ({
      type: 'array',
      minItems: 300,
      prefixItems: count(300).map((index) => ({ type: 'string', maxLength: isNew && index === 250 ? 4 : 3 })),
    }));
    expect(looser).toHaveProperty([250], 'xxxx');
  });

  test('behind several references to one schema', () => {
    const others = (maxLength: number) => ({
      One: { $ref: '#/schemas/Two' },
      Two: { allOf: [{ $ref: '#/schemas/Three' }] },
      Three: { type: 'object', required: ['a'], properties: { a: { type: 'string', maxLength } } },
    });
    const [old, next] = [3, 4].map((maxLength) => comparedSchema({ $ref: '#/schemas/One' }, others(maxLength)));
    expect(old && next && compareSchemas(old, next).looser).toEqual({ a: 'xxxx' });
  });
});

describe('a search that is cut short says so', () => {
  test.each<[string, (isNew: boolean) => Schema]>([
    ['multiples of many numbers', (isNew) => ({ oneOf: count(40).map((index) => multiple(index + 2, isNew)) })],
    ['more items than the search tries', (isNew) => ({ type: 'array', minItems: isNew ? 50_000 : 50_001 })],
    [
      'more distinct items than the search tries',
      (isNew) => ({ type: 'array', uniqueItems: true, minItems: isNew ? 500 : 501 }),
    ],
    [
      'more names than the search tries',
      (isNew) => ({ type: 'object', minProperties: isNew ? 900 : 901, propertyNames: { pattern: '^[ab]{10}$' } }),
    ],
  ])('with %s', (_title, make) => {
    const { looser, isCut } = compare(make);
    expect(looser === undefined).toBe(isCut);
  });
});

function multiple(multipleOf: number, isNew: boolean): Schema {
  return { type: 'number', multipleOf, minimum: 10, maximum: isNew ? 1_000 : 1_001 };
}
