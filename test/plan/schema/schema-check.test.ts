import { describe, expect, test } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { bodyRoute, formatProblem, loadText, manifestOf, violationsOf } from '../../manifest/support.ts';

const problemsOf = (schemas: string, route = "{ $ref: '#/schemas/A' }") =>
  loadText(manifestOf(`schemas:\n${schemas}`, bodyRoute(route))).problems.map(formatProblem);

describe('a mistake in a shared schema', () => {
  test.each([
    ['an unknown keyword', '{ lenght: 1 }', /^6:\d+ "lenght" is not a keyword/],
    ['a nullable schema', '{ type: string, nullable: true }', /^6:\d+ "nullable" is not .*add 'null' to "type"/],
    ['dependencies', '{ dependencies: { a: [b] } }', /^6:\d+ "dependencies" is not .*dependentRequired/],
    ['a discriminator', '{ discriminator: { propertyName: a } }', /^6:\d+ "discriminator" is not/],
    ['a comparison of formats', '{ formatMinimum: "2020-01-01" }', /^6:\d+ "formatMinimum" is not/],
    ['an unknown format', '{ format: e-mail }', /^6:\d+ "e-mail" is not a format; did you mean "email"/],
    ['then without if', '{ then: {} }', /^6:\d+ "then" validates nothing without "if"/],
    ['if alone', '{ if: {} }', /^6:\d+ "if" validates nothing without "then" and "else"/],
    ['minContains alone', '{ minContains: 1 }', /^6:\d+ "minContains" validates nothing without "contains"/],
    ['contains without effect', '{ contains: {}, minContains: 0 }', /^6:\d+ "contains" validates nothing/],
    ['contradicting counts', '{ contains: {}, minContains: 3, maxContains: 2 }', /^6:\d+ no list satisfies/],
    ['a list of items', '{ items: [{}] }', /^6:\d+ "items" is one schema for all items; write "prefixItems"/],
    ['an exclusive bound of draft 4', '{ exclusiveMinimum: true }', /^6:\d+ "exclusiveMinimum" is the bound itself/],
    ['required of draft 3', '{ required: true }', /^6:\d+ "required" is not true or false; list the names/],
    ['a null type', '{ type: null }', /^6:\d+ this is not a type; write 'null' in quotes/],
    ['a misspelt type', '{ type: [string, objekt] }', /^6:\d+ "objekt" is not a type; did you mean "object"/],
    ['an empty enum', '{ enum: [] }', /^6:\d+ "enum" is not a list with at least one value/],
    ['an empty allOf', '{ allOf: [] }', /^6:\d+ "allOf" is not a list with at least one schema/],
    ['a member without schema', '{ properties: { b: } }', /^6:\d+ this is not a schema; write a map/],
    [
      'a name with special characters',
      "{ properties: { 'a/b~c': { minLength: -1 } } }",
      /^6:\d+ "minLength" is not a whole/,
    ],
    ['a reference to a map of schemas', "{ $ref: '#/schemas/B/properties' }", /^6:\d+ the schema "B" has nothing at/],
  ])('is reported once, at the schema that has it: %s', (_name, schema, expected) => {
    const text = `  A: { properties: { b: { $ref: '#/schemas/B' } } }\n  B: { properties: { c: ${schema} } }\n`;
    expect(problemsOf(text)).toEqual([expect.stringMatching(expected)]);
  });

  test('in a file is reported at its place in the file, with the reference to it', () => {
    const files: Record<string, string> = {
      'a.yaml': '$ref: b.yaml#/$defs/B\n',
      'b.yaml': '$defs:\n  B:\n    maxLenght: 5\n',
    };
    const readFile = (path: string) => files[path] ?? '';
    const text = manifestOf(
      '',
      bodyRoute('{ $ref: a.yaml }') + bodyRoute('{ $ref: a.yaml }').replaceAll('contacts', 'b'),
    );
    const { problems, sources } = load(
      { path: 'deploy/gateway.yaml', text: text.replace('upstream: b', 'upstream: contacts') },
      { env: {}, readFile },
    );
    const [problem, ...others] = problems.filter(({ rule }) => rule === 'body-schema');
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      file: 'deploy/b.yaml',
      range: { line: 3, column: 5 },
      message: '"maxLenght" is not a keyword of JSON Schema; did you mean "maxLength"?',
      related: { file: 'deploy/gateway.yaml', range: { line: 5 }, message: 'the reference to this file' },
    });
    expect(sources.find(({ path }) => path === 'deploy/b.yaml')?.text).toBe(files['b.yaml']);
  });
});

describe('references', () => {
  test.each([
    ['itself', "  A: { $ref: '#/schemas/A' }\n", '(#/schemas/A → #/schemas/A)'],
    [
      'two schemas',
      "  A: { $ref: '#/schemas/B' }\n  B: { $ref: '#/schemas/A' }\n",
      '(#/schemas/B → #/schemas/A → #/schemas/B)',
    ],
    ['allOf', "  A: { allOf: [true, { $ref: '#/schemas/A' }] }\n", '(#/schemas/A → #/schemas/A)'],
    [
      '$defs',
      "  A: { $ref: '#/schemas/A/$defs/b', $defs: { b: { $ref: '#/schemas/A/$defs/b' } } }\n",
      '(#/schemas/A/$defs/b → ',
    ],
  ])('in a circle are reported with its members: through %s', (_name, schemas, members) => {
    const referring = `${schemas}  C: { $ref: '#/schemas/A' }\n`;
    expect(problemsOf(referring)).toEqual([expect.stringContaining(`refers back to itself without end ${members}`)]);
  });

  const chainOf = (length: number, link: (next: string) => string) =>
    Array.from(
      { length },
      (_, index) =>
        `  A${index === 0 ? '' : index}: ${index === length - 1 ? '{ type: string }' : link(`{ $ref: '#/schemas/A${index + 1}' }`)}\n`,
    ).join('');

  test('from member to member may form a long chain', async () => {
    const schemas = chainOf(500, (next) => `{ type: object, properties: { a: ${next} } }`);
    const loaded = loadText(manifestOf(`schemas:\n${schemas}`, bodyRoute("{ $ref: '#/schemas/A' }")));
    const result = await loaded.plan?.routes[0]?.body?.validate?.(Buffer.from('{"a":{"a":1}}'));
    expect(result?.violations).toMatchObject([{ pointer: '/a/a', message: 'must be object' }]);
  });

  test('for the same value may form a chain of 64', () => {
    expect(problemsOf(chainOf(65, (next) => next))).toEqual([]);
    expect(problemsOf(chainOf(80, (next) => next))).toEqual([
      expect.stringContaining('more than 64 references in a row'),
    ]);
  });
});

describe('a schema that the validator would compile wrongly', () => {
  test.each<[string, string, unknown]>([
    ['contains beside prefixItems', '{ prefixItems: [{ const: 5 }], contains: { type: string } }', []],
    ['uniqueItems beside prefixItems', '{ prefixItems: [true, true, { const: 5 }], uniqueItems: true }', [1, 1]],
    ['contains in items', '{ items: { contains: { const: 1 } } }', [[1], []]],
    [
      'unevaluatedItems beside anyOf',
      '{ unevaluatedItems: false, anyOf: [{ prefixItems: [{ const: 1 }] }, { minItems: 1 }] }',
      [2],
    ],
    ['an object as const', '{ const: { a: 1 } }', { a: 1, toString: null }],
    ['an object in enum', '{ enum: [{ a: 1 }] }', { toString: 1 }],
    ['an inherited name as unevaluated', '{ unevaluatedProperties: { type: number } }', { toString: 'a' }],
    [
      'patternProperties beside oneOf',
      "{ unevaluatedProperties: false, patternProperties: { '^a': true }, oneOf: [{ properties: { c: true }, required: [c] }, { required: [z] }] }",
      { z: 1, a: 1 },
    ],
  ])('refuses an invalid value: %s', (_name, schema, value) => {
    const loaded = loadText(manifestOf('', bodyRoute(schema)));
    expect(violationsOf(loaded, JSON.stringify(value))).toHaveLength(1);
  });

  test('still accepts equal objects, whatever the order of their members', () => {
    const loaded = loadText(manifestOf('', bodyRoute('{ const: { a: 1, b: [{}] } }')));
    expect(violationsOf(loaded, '{"b":[{}],"a":1}')).toEqual([]);
  });
});
