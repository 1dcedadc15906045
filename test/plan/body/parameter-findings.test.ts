import { describe, expect, test } from 'vitest';
import { loadText } from '../../manifest/support.ts';

type Kind = 'headers' | 'params' | 'query';

function problemsOf(schema: unknown, kind: Kind = 'query', required: string[] = []) {
  const section = { properties: { x: schema }, ...(required.length > 0 && { required }) };
  const route = { id: 'a', method: 'GET', path: '/a/{x}', upstream: 'up', access: 'public', [kind]: section };
  const schemas = { Thing: { type: 'object' }, Name: { type: ['string', 'null'] } };
  const manifest = { version: 1, upstreams: { up: { url: 'http://127.0.0.1:1' } }, schemas, routes: [route] };
  return loadText(JSON.stringify(manifest)).problems.map(({ rule, message }) => `${rule}: ${message}`);
}

describe('a parameter whose schema refuses every text is an error', () => {
  test.each<[unknown, string, Kind?]>([
    [{ type: 'object' }, 'a parameter is a text, never an object'],
    [{ type: 'array', items: { type: 'string' } }, 'a parameter is a text, never an array', 'params'],
    [{ type: 'null' }, 'a parameter is a text, never null', 'headers'],
    [{ type: ['array', 'null'] }, 'a parameter is a text, never an array or null'],
    [{ $ref: '#/schemas/Thing' }, 'no text satisfies this schema'],
    [{ const: {} }, 'no text satisfies this schema'],
    [{ enum: [{}, null] }, 'no text satisfies this schema'],
    [{ type: 'string', const: 5 }, 'no text satisfies this schema'],
    [{ not: {} }, 'no text satisfies this schema'],
    [{ allOf: [{ type: 'integer' }, { type: 'boolean' }] }, 'no text satisfies this schema'],
    [{ anyOf: [{ type: 'object' }, false] }, 'no text satisfies this schema'],
    [false, 'no text satisfies this schema', 'params'],
    [{ enum: ['a'], pattern: '^b$' }, 'no value of "enum" is a valid text here'],
    [{ const: '' }, 'no value of "const" is a valid text here', 'params'],
    [{ type: 'integer', minimum: 5, maximum: 4 }, 'no integer is within the bounds'],
    [{ type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 }, 'no integer is within the bounds'],
    [{ type: 'integer', minimum: 1, maximum: 5, multipleOf: 10 }, 'no integer is within the bounds'],
    [{ type: 'string', minLength: 3, maxLength: 2 }, 'no text is within the bounds'],
    [{ type: 'string', maxLength: 0 }, 'no text is within the bounds', 'params'],
  ])('%j', (schema, expected, kind) => {
    expect(problemsOf(schema, kind)).toEqual([
      expect.stringContaining(`parameters: ${expected}, so every request with this parameter is refused; `),
    ]);
  });

  test('false is an error only if the parameter is required', () => {
    expect(problemsOf(false)).toEqual([]);
    expect(problemsOf(false, 'query', ['x'])).toHaveLength(1);
  });
});

test.each<[unknown, string]>([
  [{ minimum: 1 }, '"minimum" validates nothing, because this parameter is never a number; add type: integer'],
  [{ format: 'int32' }, '"format" validates nothing, because this parameter is never a number; add type: integer'],
  [{ items: {} }, '"items" validates nothing, because this parameter is never an array; remove it'],
  [{ anyOf: [{ properties: {} }] }, '"properties" validates nothing, because this parameter is never an object'],
])('a keyword without effect on a text is an error: %j', (schema, expected) => {
  expect(problemsOf(schema)).toEqual([expect.stringContaining(expected)]);
});

test.each([
  true,
  {},
  { maxLength: 5 },
  { enum: ['a', 1, null] },
  { $ref: '#/schemas/Name' },
  { type: 'string', contentEncoding: 'base64' },
  { oneOf: [{ type: 'integer', minimum: 1 }, { const: 'all' }] },
  { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 2 },
  { type: 'boolean', const: true },
  { type: 'string', maxLength: 0 },
  { type: ['integer', 'string'], minimum: 5, maximum: 4 },
])('a parameter that some text satisfies is valid: %j', (schema) => expect(problemsOf(schema)).toEqual([]));
