import { describe, expect, test } from 'vitest';
import { areEqualSchemas, compareSchemas } from '../../src/prove/schema-comparison/compare-schemas.ts';
import { comparedSchema } from './compared-schema.ts';

type TestSchema = ReturnType<typeof comparedSchema>;
type Schema = Record<string, unknown>;

const count = (length: number) => Array.from({ length }, (_, index) => index);
const reference = (name: string) => ({ $ref: `#/schemas/${name}` });

/** Compares two sets of schemas from the schema `Top`. */
function compare(old: Schema, next: Schema) {
  return compareSchemas(comparedSchema(reference('Top'), old), comparedSchema(reference('Top'), next));
}

function areEqual(old: Schema, next: Schema): boolean {
  return areEqualSchemas(comparedSchema(reference('Top'), old), comparedSchema(reference('Top'), next));
}

/** A schema for members that refers to itself beside other keywords. */
const RECURSIONS: readonly [title: string, inner: Schema][] = [
  ['anyOf', { anyOf: [reference('Top'), { type: 'null' }] }],
  ['oneOf', { oneOf: [{ type: 'null' }, reference('Top')] }],
  ['allOf', { allOf: [reference('Top'), { required: ['value'] }] }],
  ['required', { ...reference('Top'), required: ['value'] }],
  ['not', { not: { not: reference('Top') } }],
  ['unevaluatedProperties', { ...reference('Top'), unevaluatedProperties: false }],
];

function tree(inner: Schema, value: Schema, title?: string): Schema {
  return { Top: { type: 'object', ...(title && { title }), properties: { child: inner, value } } };
}

describe('a schema that refers to itself', () => {
  test.each(RECURSIONS)('inside of %s has an example', (_, inner) => {
    const [texts, numbers] = [{ type: 'string' }, { type: 'integer' }].map((value) =>
      comparedSchema(reference('Top'), tree(inner, value)),
    ) as [TestSchema, TestSchema];
    const { looser, tighter } = compareSchemas(texts, numbers);
    expect([texts.accepts(looser), numbers.accepts(looser)]).toEqual([false, true]);
    expect([texts.accepts(tighter), numbers.accepts(tighter)]).toEqual([true, false]);
  });

  test.each(RECURSIONS)('inside of %s equals itself with a title', (_, inner) => {
    const value = { type: 'string' };
    expect(areEqual(tree(inner, value), tree(inner, value, 'A tree'))).toBe(true);
    expect(areEqual(tree(inner, value), tree(inner, { type: 'integer' }))).toBe(false);
  });

  test('differs if a schema beside it evaluates other members', () => {
    const node = (properties: Schema) => ({
      Top: { properties: { child: { ...reference('Node'), unevaluatedProperties: false } } },
      Node: { properties: { next: reference('Node'), ...properties } },
    });
    expect(areEqual(node({}), node({ extra: true }))).toBe(false);
  });
});

/** Each schema refers twice to the next one. */
function doubled(depth: number, hold: (next: Schema) => Schema, last: Schema): Schema {
  const levels = count(depth).map((level) => [`Level${level}`, hold(reference(`Level${level + 1}`))]);
  return { ...Object.fromEntries(levels), [`Level${depth}`]: last, Top: reference('Level0') };
}

const LARGE: readonly [title: string, make: (isNew: boolean) => Schema][] = [
  [
    'members of shared references',
    (isNew) =>
      doubled(
        24,
        (next) => ({ type: 'object', properties: { a: next, b: next }, required: ['a', 'b'] }),
        isNew ? { maxLength: 4 } : { maxLength: 3 },
      ),
  ],
  [
    'branches of shared references',
    (isNew) =>
      doubled(24, (next) => ({ anyOf: [next, { properties: { a: next } }] }), isNew ? { enum: [1] } : { enum: [2] }),
  ],
  [
    'lists of lists',
    (isNew) => ({
      Top: count(6).reduce<Schema>((items) => ({ type: 'array', minItems: 20, items }), { maxLength: isNew ? 4 : 3 }),
    }),
  ],
  [
    'a pattern with many states',
    (isNew) => ({ Top: { type: 'string', pattern: `^(a?){400}a{${isNew ? 401 : 400}}b*c$` } }),
  ],
];

describe('the cost of a comparison', () => {
  test.each(LARGE)('is limited for %s', (_, make) => {
    const start = process.cpuUsage();
    const { looser, tighter, isCut } = compare(make(false), make(true));
    const { user } = process.cpuUsage(start);
    expect(isCut || looser !== undefined || tighter !== undefined).toBe(true);
    expect(user / 1e6).toBeLessThan(10);
  });

  test('does not grow with the depth of required members', () => {
    const members = (names: readonly number[]) => ({ Top: { required: names.map((name) => `p${name}`) } });
    expect(compare(members(count(5_000)), members(count(5_001)))).toMatchObject({ isCut: true });
  });
});

test('a new value of a long enum is found', () => {
  const values = (length: number) => ({ Top: { enum: count(length).map((value) => `v${value}`) } });
  expect(compare(values(5_000), values(5_001)).looser).toEqual('v5000');
});
