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
  ['uniqueItems: false in a condition', { not: { const: null } }, { not: { const: null, uniqueItems: false } }],
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
  ['annotations', { ...TEXT, title: 't', description: 'd', default: 'x', examples: ['y'], deprecated: true }, TEXT],
  ['a negation of nothing', { not: false }, true],
  ['members without a schema', { ...OBJECT, properties: { a: TEXT, b: {} } }, OBJECT],
  [
    'a renamed recursion',
    { $ref: '#/schemas/Tree' },
    { $ref: '#/schemas/Node' },
    { Tree: TREE },
    {
      Node: { type: 'object', properties: { child: { $ref: '#/schemas/Node' } } },
    },
  ],
];

const DIFFERENT: readonly Case[] = [
  [
    'additionalProperties that a sibling depends on',
    { additionalProperties: true, unevaluatedProperties: false },
    {
      unevaluatedProperties: false,
    },
  ],
  [
    'the order of branches that compare numbers: an early branch accepts an inexact number',
    { anyOf: [OBJECT, { properties: { n: { type: 'integer' } } }] },
    { anyOf: [{ properties: { n: { type: 'integer' } } }, OBJECT] },
  ],
  ['a branch before one that accepts everything', { anyOf: [{ type: 'integer' }, true] }, true],
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
