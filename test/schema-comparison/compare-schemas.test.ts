import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { areEqualSchemas, compareSchemas } from '../../src/prove/schema-comparison/compare-schemas.ts';
import { runs } from '../support/runs.ts';
import { comparedSchema } from './compared-schema.ts';

function compare(old: unknown, next: unknown) {
  const [before, now] = [comparedSchema(old), comparedSchema(next)];
  if (areEqualSchemas(before, now)) return { isSame: true };
  const { looser, tighter } = compareSchemas(before, now);
  return { isSame: false, looser, tighter };
}

const A = {
  type: 'object',
  required: ['a', 'b'],
  properties: { a: { type: 'string', maxLength: 5 }, b: { enum: ['x', 'y'] } },
};

describe('the smallest body that shows a loosened schema', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['lacks a member that became optional', A, { ...A, required: ['a'] }, { a: '' }],
    [
      'contains a longer text',
      A,
      { ...A, properties: { ...A.properties, a: { type: 'string', maxLength: 6 } } },
      { a: 'xxxxxx', b: 'x' },
    ],
    [
      'contains a new value of an enum',
      A,
      { ...A, properties: { ...A.properties, b: { enum: ['x', 'y', 'z'] } } },
      { a: '', b: 'z' },
    ],
    ['contains an unknown member', { ...A, additionalProperties: false }, A, { a: '', b: 'x', x: '' }],
    [
      'contains a value of a new type',
      A,
      { ...A, properties: { ...A.properties, a: { type: ['string', 'null'], maxLength: 5 } } },
      { a: null, b: 'x' },
    ],
    ['contains a member without a schema', A, { ...A, properties: { b: A.properties.b } }, { a: 0, b: 'x' }],
    ['is a number above the old maximum', { maximum: 9 }, { maximum: 99 }, 10],
    ['is a fraction', { type: 'integer' }, { type: 'number' }, 0.5],
    ['has one more item', { type: 'array', maxItems: 1 }, { type: 'array', maxItems: 2 }, ['', '']],
    ['contains an item of a new type', { items: { type: 'string' } }, { items: { type: ['string', 'null'] } }, [null]],
    [
      'contains a nested change',
      { properties: { a: { items: A } } },
      { properties: { a: { items: { ...A, required: ['b'] } } } },
      { a: [{ b: 'x' }] },
    ],
    ['matches a new branch', { anyOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }, null],
    ['lacks the member of a removed branch', { allOf: [A, { required: ['c'] }] }, { allOf: [A] }, { a: '', b: 'x' }],
  ])('%s', (_title, old, next, body) => {
    expect(compare(old, next).looser).toEqual(body);
    expect(compare(next, old).tighter).toBeDefined();
  });

  test('does not exist if only annotations and the order differ', () => {
    const described = { ...A, title: 'a', description: 'something', required: ['b', 'a'] };
    expect(compare(A, described)).toEqual({ isSame: true });
  });
});

const text = fc.record(
  { type: fc.constant('string'), minLength: fc.nat(3), maxLength: fc.integer({ min: 3, max: 6 }) },
  { requiredKeys: ['type'] },
);
const number = fc.record(
  {
    type: fc.constantFrom('integer', 'number'),
    minimum: fc.integer({ min: -2, max: 2 }),
    maximum: fc.integer({ min: 3, max: 5 }),
  },
  { requiredKeys: ['type'] },
);
const leaf = fc.oneof(
  text,
  number,
  fc.constantFrom<unknown>({ enum: ['x', 1, null] }, { const: 'x' }, { type: 'boolean' }, true),
);
const list = fc.record(
  { type: fc.constant('array'), items: leaf, minItems: fc.nat(1), maxItems: fc.integer({ min: 1, max: 3 }) },
  { requiredKeys: ['type'] },
);
const member = fc.oneof(leaf, list);
const schema = fc.record(
  {
    type: fc.constant('object'),
    properties: fc.record({ a: member, b: member }, { requiredKeys: [] }),
    required: fc.subarray(['a', 'b']),
    additionalProperties: fc.boolean(),
  },
  { requiredKeys: ['type', 'properties'] },
);

const value = fc.constantFrom<unknown>(
  '',
  'x',
  'xx',
  'xxx',
  'xxxx',
  'xxxxxxx',
  -3,
  0,
  1,
  2.5,
  4,
  6,
  null,
  true,
  [],
  ['x'],
  [1],
  ['x', 'x'],
  [1, 2, 3, 4],
  {},
);
const body = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] });

it('finds a body for every schema that accepts a refused body', () => {
  fc.assert(
    fc.property(schema, schema, fc.array(body, { minLength: 60, maxLength: 60 }), (old, next, bodies) => {
      const [before, now] = [comparedSchema(old), comparedSchema(next)];
      const opened = bodies.find((one) => before.refuses(one) && now.accepts(one));
      if (opened !== undefined) expect(compare(old, next).looser, JSON.stringify(opened)).toBeDefined();
    }),
    { numRuns: runs(150) },
  );
});
