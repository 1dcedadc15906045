import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAjvCompiler } from '../../../src/engine/schema/ajv-validator.ts';
import type { SchemaRoot } from '../../../src/engine/schema/schema-walk.ts';
import { bodyRoute, loadText, manifestOf } from '../../manifest/support.ts';
import { runs } from '../../support/runs.ts';
import { isValidBy } from './naive-evaluator.ts';

const LENGTH = 1_000;
const LAST = LENGTH - 1;

function mapOf(length: number, entry: (index: number) => readonly [string, unknown]) {
  return Object.fromEntries(Array.from({ length }, (_value, index) => entry(index)));
}

function listOf(length: number, item: (index: number) => unknown) {
  return Array.from({ length }, (_value, index) => item(index));
}

function compile(schema: unknown) {
  const root = { schemas: { it: schema }, routes: [], files: {} } as unknown as SchemaRoot;
  return createAjvCompiler(root, false)(['schemas', 'it']);
}

const TEXT = { type: 'string' };
/** Long keywords, with a value that the last entry refuses, and one that it accepts. */
const LONG: Readonly<Record<string, readonly [entries: unknown, refused: unknown, accepted: unknown]>> = {
  properties: [mapOf(LENGTH, (index) => [`p${index}`, TEXT]), { [`p${LAST}`]: 1 }, { [`p${LAST}`]: '' }],
  patternProperties: [mapOf(LENGTH, (index) => [`^p${index}$`, TEXT]), { [`p${LAST}`]: 1 }, { [`p${LAST}`]: '' }],
  dependentSchemas: [
    mapOf(LENGTH, (index) => [`p${index}`, { required: [`q${index}`] }]),
    { [`p${LAST}`]: 1 },
    { [`p${LAST}`]: 1, [`q${LAST}`]: 1 },
  ],
  dependentRequired: [
    mapOf(LENGTH, (index) => [`p${index}`, [`q${index}`]]),
    { [`p${LAST}`]: 1 },
    { [`p${LAST}`]: 1, [`q${LAST}`]: 1 },
  ],
  required: [listOf(LENGTH, (index) => `p${index}`), {}, mapOf(LENGTH, (index) => [`p${index}`, 1])],
  prefixItems: [listOf(LENGTH, () => TEXT), [...listOf(LAST, () => ''), 1], listOf(LENGTH, () => '')],
  allOf: [listOf(LENGTH, (index) => ({ not: { const: `p${index}` } })), `p${LAST}`, 'p'],
  anyOf: [listOf(LENGTH, (index) => ({ required: [`p${index}`] })), {}, { [`p${LAST}`]: 1 }],
  oneOf: [listOf(LENGTH, (index) => ({ required: [`p${index}`] })), { p0: 1, [`p${LAST}`]: 1 }, { [`p${LAST}`]: 1 }],
};

describe('a schema with a thousand entries compiles:', () => {
  test.each(Object.entries(LONG))('%s', (keyword, [entries, refused, accepted]) => {
    const validate = compile({ [keyword]: entries });
    expect([validate(refused), validate(accepted)]).toEqual([false, true]);
  });
});

/** Enough entries to find an entry that is left out. */
const MANY = 60;
const anyIndex = fc.nat(MANY - 1);
const member = anyIndex.map((index) => `p${index}`);
const leaf = fc.constantFrom<unknown>(
  TEXT,
  { type: 'integer' },
  { minimum: 1 },
  { const: 'a' },
  true,
  { properties: { p1: TEXT } },
  { enum: [1, 'a'] },
);
const branch = fc.oneof(
  leaf,
  fc.record({ properties: fc.dictionary(member, leaf, { minKeys: 1, maxKeys: 2 }) }),
  fc.record({ required: fc.array(member, { minLength: 1, maxLength: 2 }) }),
  fc.record({ patternProperties: fc.record({ '^p1': leaf }) }),
  fc.record({ prefixItems: fc.tuple(leaf) }),
  fc.record({ items: leaf }),
);
const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { minLength: MANY, maxLength: MANY });
const members = (item: fc.Arbitrary<unknown>) => list(item).map((items) => mapOf(MANY, (at) => [`p${at}`, items[at]]));
const patterns = list(leaf).map((items) => mapOf(MANY, (at) => [`^p${at}`, items[at]]));
const longSchema = fc.record(
  {
    properties: members(leaf),
    patternProperties: patterns,
    dependentSchemas: members(branch),
    dependentRequired: members(fc.array(member, { maxLength: 1 })),
    allOf: list(fc.oneof({ weight: 60, arbitrary: fc.constant({ minProperties: 0 }) }, branch)),
    oneOf: list(fc.oneof({ weight: 20, arbitrary: fc.record({ required: fc.tuple(member) }) }, branch)),
    prefixItems: list(leaf),
    unevaluatedProperties: fc.constantFrom(false, TEXT),
    unevaluatedItems: fc.constant(false),
    additionalProperties: fc.constantFrom(false, TEXT),
  },
  { requiredKeys: [] },
);
const schema = fc.oneof(
  { weight: 3, arbitrary: longSchema },
  longSchema.map((inner) => ({ not: inner })),
  longSchema.map((inner) => ({ items: inner })),
  longSchema.map((inner) => ({ anyOf: [inner, { type: 'number' }], unevaluatedProperties: TEXT })),
  longSchema.map((inner) => ({ oneOf: [inner, { required: ['p7'] }], unevaluatedProperties: false })),
);
const scalar = fc.constantFrom(1, 'a', 'b', null, 0.5);
const value = fc.oneof(
  { weight: 3, arbitrary: fc.dictionary(member, scalar, { maxKeys: 4 }) },
  fc.array(scalar, { maxLength: 4 }),
  fc.array(fc.dictionary(member, scalar, { maxKeys: 3 }), { maxLength: 2 }),
  scalar,
);

test('random long schemas accept the values that a naive evaluator accepts', () => {
  let count = 0;
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 40, maxLength: 40 }), (written, values) => {
      const validate = compile(written);
      const wrong = values.find((one) => validate(one) !== isValidBy(written, one, {}));
      expect(wrong).toBeUndefined();
      count += values.filter((one) => validate(one)).length;
    }),
    { numRuns: runs(15) },
  );
  expect(count).toBeGreaterThan(20);
});

test.each(['items', 'prefixItems'])('a branch evaluates the items of its %s', (keyword) => {
  const entries = keyword === 'items' ? TEXT : [TEXT, TEXT];
  const written = { anyOf: [{ [keyword]: entries }, { maxItems: 0 }], unevaluatedItems: false };
  const { plan, problems } = loadText(manifestOf('', bodyRoute(JSON.stringify(written))));
  expect(problems).toEqual([]);
  const violationsOf = (items: unknown) => plan?.routes[0]?.body?.validate?.(Buffer.from(JSON.stringify(items)));
  expect(violationsOf(['a', 'b'])).toMatchObject({ violations: [] });
  expect(violationsOf(['a', 1])).not.toMatchObject({ violations: [] });
});
