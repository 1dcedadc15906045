import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compareSchemas, type SchemaLocation } from '../../src/diff/schemas/compare-schemas.ts';
import { createSchemaValidators } from '../../src/plan/schema/value-validator.ts';

function placed(schema: unknown, side: SchemaLocation['side'] = 'old'): SchemaLocation {
  const root = { schemas: { it: schema }, routes: [], files: {} } as unknown as SchemaLocation['root'];
  return { side, root, path: ['schemas', 'it'], validatorAt: createSchemaValidators(root).validatorAt };
}

function compared(old: unknown, next: unknown) {
  const { looser, tighter, isSame } = compareSchemas(placed(old), placed(next, 'new'));
  return { isSame, looser: looser?.value, tighter: tighter?.value };
}

const A = {
  type: 'object',
  required: ['a', 'b'],
  properties: { a: { type: 'string', maxLength: 5 }, b: { enum: ['x', 'y'] } },
};

describe('a body that shows a loosened schema', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['a member that may be left out', A, { ...A, required: ['a'] }, { a: '' }],
    [
      'a longer text',
      A,
      { ...A, properties: { ...A.properties, a: { type: 'string', maxLength: 6 } } },
      { a: 'xxxxxx', b: 'x' },
    ],
    [
      'one more word',
      A,
      { ...A, properties: { ...A.properties, b: { enum: ['x', 'y', 'z'] } } },
      { a: 'xxxxx', b: 'z' },
    ],
    ['a member that is not known', { ...A, additionalProperties: false }, A, { a: 'xxxxx', b: 'x', other: 1 }],
    [
      'another type',
      A,
      { ...A, properties: { ...A.properties, a: { type: ['string', 'null'], maxLength: 5 } } },
      { a: null, b: 'x' },
    ],
    ['a member without any rule', A, { ...A, properties: { b: A.properties.b } }, { a: 1, b: 'x' }],
    ['a number beyond a bound', { maximum: 9 }, { maximum: 99 }, 10],
    ['a fraction', { type: 'integer' }, { type: 'number' }, 0.5],
    ['one more item', { type: 'array', maxItems: 1 }, { type: 'array', maxItems: 2 }, ['x', 'x']],
    ['an item of another kind', { items: { type: 'string' } }, { items: { type: ['string', 'null'] } }, [null]],
    [
      'what is deep inside',
      { properties: { a: { items: A } } },
      { properties: { a: { items: { ...A, required: ['b'] } } } },
      { a: [{ b: 'x' }] },
    ],
    ['a branch of several', { anyOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }, null],
    ['all of two branches', { allOf: [A, { required: ['c'] }] }, { allOf: [A] }, { a: '', b: 'x' }],
  ])('%s', (_what, old, next, body) => {
    expect(compared(old, next).looser).toEqual(body);
    expect(compared(next, old).tighter).toBeDefined();
  });

  test('is none where only the words differ', () => {
    const described = { ...A, title: 'a', description: 'something', required: ['b', 'a'] };
    expect(compared(A, described)).toEqual({ isSame: true, looser: undefined, tighter: undefined });
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

it('never calls a schema tighter alone, or the same, that lets a body through which was refused', () => {
  fc.assert(
    fc.property(schema, schema, fc.array(body, { minLength: 60, maxLength: 60 }), (old, next, bodies) => {
      const [before, now] = [old, next].map((one) => placed(one).validatorAt(['schemas', 'it']));
      const opened = bodies.find((one) => before?.(one, 0).length !== 0 && now?.(one, 0).length === 0);
      if (opened !== undefined) expect(compared(old, next).looser, JSON.stringify(opened)).toBeDefined();
    }),
    { numRuns: Number(process.env['SCHEMA_RUNS'] ?? 150) },
  );
}, 60_000);
