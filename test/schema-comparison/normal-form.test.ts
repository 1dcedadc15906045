import { describe, expect, test } from 'vitest';
import { areEqualSchemas } from '../../src/prove/schema-comparison/compare-schemas.ts';

const TEXT = { type: 'string' };
const OBJECT = { type: 'object', properties: { a: TEXT } };
const TREE = { type: 'object', properties: { child: { $ref: '#/schemas/Tree' } } };

function locate(schema: unknown, others: Record<string, unknown>) {
  const root = { schemas: { ...others, it: schema }, routes: [], files: {} };
  return { root, path: ['schemas', 'it'] } as unknown as Parameters<typeof areEqualSchemas>[0];
}

type Case = readonly [
  title: string,
  one: unknown,
  other: unknown,
  ofOne?: Record<string, unknown>,
  ofOther?: Record<string, unknown>,
];

const EQUAL: readonly Case[] = [
  ['two patterns for the same texts', { pattern: '^aa$' }, { pattern: '^a{2}$' }],
  ['two ways to write a class', { pattern: '^\\d{1,3}$' }, { pattern: '^[0-9][0-9]?[0-9]?$' }],
  ['names with equal patterns', { patternProperties: { '^x.*': TEXT } }, { patternProperties: { '^x': TEXT } }],
  ['a double negation', { type: 'integer' }, { not: { not: { type: 'integer' } } }],
  ['a condition without effect', { type: 'integer' }, { type: 'integer', if: { type: 'object' }, else: true }],
  ['uniqueItems: false in a condition', { not: { const: null } }, { not: { const: null, uniqueItems: false } }],
  ['an only branch in a condition', { not: { minimum: 1 } }, { not: { oneOf: [{ minimum: 1 }] } }],
  ['additionalProperties: true', OBJECT, { ...OBJECT, additionalProperties: true }],
  ['additionalProperties: {}', OBJECT, { ...OBJECT, additionalProperties: {} }],
  ['an empty list of required members', OBJECT, { ...OBJECT, required: [] }],
  ['a minimum length of 0', TEXT, { ...TEXT, minLength: 0 }],
  ['a constant and an enum of it', { const: 'x' }, { enum: ['x'] }],
  ['a reference and its target', { $ref: '#/schemas/Text' }, TEXT, { Text: TEXT }],
  ['a renamed schema', { $ref: '#/schemas/One' }, { $ref: '#/schemas/Two' }, { One: TEXT }, { Two: TEXT }],
  ['items: {} and no items', { type: 'array', items: {} }, { type: 'array' }],
  ['items: true and items: {}', { type: 'array', items: true }, { type: 'array', items: {} }],
  ['the order of an enum', { enum: ['a', 'b'] }, { enum: ['b', 'a'] }],
  ['the order of required members', { required: ['a', 'b'] }, { required: ['b', 'a'] }],
  ['the order of types', { type: ['string', 'null'] }, { type: ['null', 'string'] }],
  ['a list of one type', { type: ['string'] }, TEXT],
  ['allOf of one schema', { allOf: [TEXT] }, TEXT],
  ['allOf of keywords', { allOf: [TEXT, { minLength: 2 }] }, { ...TEXT, minLength: 2 }],
  ['anyOf of one schema', { anyOf: [TEXT] }, TEXT],
  ['the order of branches', { anyOf: [OBJECT, TEXT] }, { anyOf: [TEXT, OBJECT] }],
  ['branches that only name types', { anyOf: [TEXT, { type: 'null' }] }, { type: ['string', 'null'] }],
  ['branches that only list values', { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, { enum: ['b', 'a'] }],
  ['an enum with its type', { type: 'string', enum: ['a'] }, { enum: ['a'] }],
  ['a multiple of 1 for integers', { type: 'integer', multipleOf: 1 }, { type: 'integer' }],
  ['an exclusive minimum of integers', { type: 'integer', minimum: 0 }, { type: 'integer', exclusiveMinimum: -1 }],
  ['a weaker limit', { type: 'number', minimum: 0, exclusiveMinimum: -1 }, { type: 'number', minimum: 0 }],
  ['annotations', { ...TEXT, title: 't', description: 'd', default: 'x', examples: ['y'], deprecated: true }, TEXT],
  ['a pattern that matches every text', { ...TEXT, pattern: '.*' }, TEXT],
  ['a trailing item', { prefixItems: [TEXT, TEXT], items: TEXT }, { items: TEXT }],
  ['no further items', { prefixItems: [TEXT], items: false }, { prefixItems: [TEXT], maxItems: 1 }],
  ['no members', { type: 'object', additionalProperties: false }, { type: 'object', maxProperties: 0 }],
  ['members without a schema', { ...OBJECT, properties: { a: TEXT, b: {} } }, OBJECT],
  ['a double negation of nothing', { not: false }, true],
  [
    'two ways to refuse every value',
    { unevaluatedProperties: TEXT, not: {} },
    { unevaluatedProperties: false, not: true },
  ],
  [
    'a renamed recursion',
    { $ref: '#/schemas/Tree' },
    { $ref: '#/schemas/Node' },
    { Tree: TREE },
    {
      Node: { type: 'object', properties: { child: { $ref: '#/schemas/Node' } } },
    },
  ],
  ['an unfolded recursion', { $ref: '#/schemas/Tree' }, TREE, { Tree: TREE }],
  [
    'a recursion over two schemas',
    { $ref: '#/schemas/Tree' },
    { $ref: '#/schemas/One' },
    { Tree: TREE },
    {
      One: { type: 'object', properties: { child: { $ref: '#/schemas/Two' } } },
      Two: { type: 'object', properties: { child: { $ref: '#/schemas/One' } } },
    },
  ],
];

const DIFFERENT: readonly Case[] = [
  ['two patterns for almost the same texts', { pattern: '^a{2}$' }, { pattern: '^a{2}' }],
  ['a class and one more character', { pattern: '^\\w$' }, { pattern: '^[\\w-]$' }],
  ['a pattern with and without a word boundary', { pattern: '^a\\b' }, { pattern: '^a' }],
  [
    'additionalProperties that a sibling depends on',
    { additionalProperties: true, unevaluatedProperties: false },
    {
      unevaluatedProperties: false,
    },
  ],
  ['a number and an integer', { type: 'number', multipleOf: 1 }, { type: 'integer' }],
  ['members that only one side closes', OBJECT, { ...OBJECT, additionalProperties: false }],
  [
    'a member beside closed members',
    { properties: { a: {} }, additionalProperties: false },
    {
      additionalProperties: false,
    },
  ],
  [
    'recursions with another depth of a member',
    { $ref: '#/schemas/Tree' },
    { $ref: '#/schemas/Node' },
    { Tree: TREE },
    {
      Node: { type: 'object', properties: { child: { ...TREE, required: ['child'] } } },
      Tree: TREE,
    },
  ],
  [
    'the same recursion to another schema',
    { $ref: '#/schemas/One' },
    { $ref: '#/schemas/One' },
    {
      One: { anyOf: [{ properties: { y: { $ref: '#/schemas/One' } } }, TEXT] },
    },
    {
      One: { anyOf: [{ $ref: '#/schemas/Two' }, TEXT] },
      Two: { properties: { y: { $ref: '#/schemas/Two' } } },
    },
  ],
  ['two equal branches of oneOf', { oneOf: [OBJECT, OBJECT] }, { oneOf: [OBJECT] }],
];

type Definitions = Record<string, unknown>;

function casesOf(cases: readonly Case[]): [string, unknown, unknown, Definitions, Definitions][] {
  return cases.map(([title, one, other, ofOne = {}, ofOther = ofOne]) => [title, one, other, ofOne, ofOther]);
}

describe('schemas that accept the same values are equal:', () => {
  test.each(casesOf(EQUAL))('%s', (_title, one, other, ofOne, ofOther) => {
    expect(areEqualSchemas(locate(one, ofOne), locate(other, ofOther))).toBe(true);
  });
});

describe('schemas that accept different values are not equal:', () => {
  test.each(casesOf(DIFFERENT))('%s', (_title, one, other, ofOne, ofOther) => {
    expect(areEqualSchemas(locate(one, ofOne), locate(other, ofOther))).toBe(false);
  });
});
