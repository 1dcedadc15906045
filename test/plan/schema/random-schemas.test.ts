import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyRoute, loadText, manifestOf, violationsOf } from '../../manifest/support.ts';
import { runs } from '../../support/runs.ts';
import { isValidBy } from './naive-evaluator.ts';

/** Some names are those of inherited members, which a careless comparison calls. */
const name = fc.constantFrom('a', 'b', 'x', 'constructor', 'toString');
const scalar = fc.constantFrom(null, true, false, 0, 1, 2, 5, -1, 1.5, '', 'a', 'ab', 'abc', 'é', '😀😀');
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');
const count = fc.integer({ min: 0, max: 3 });

const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inside = tie('schema');
  const pair = fc.array(inside, { minLength: 1, maxLength: 2 });
  const map = fc.dictionary(name, inside, { minKeys: 1, maxKeys: 2 });
  const keywords = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 2 })),
    const: value,
    enum: fc.array(value, { minLength: 1, maxLength: 2 }),
    ...{ minimum: count, maximum: count, exclusiveMinimum: count, exclusiveMaximum: count },
    ...{ multipleOf: fc.constantFrom(1, 2, 0.5), minLength: count, maxLength: count },
    pattern: fc.constantFrom('^a', 'b$', '^.$', '\\p{L}'),
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword, and nothing awaits this table
    ...{ allOf: pair, anyOf: pair, oneOf: pair, not: inside, if: inside, then: inside, else: inside },
    ...{ properties: map, additionalProperties: inside, propertyNames: inside, dependentSchemas: map },
    patternProperties: fc.dictionary(fc.constantFrom('^a', '[bc]', 'x'), inside, { minKeys: 1, maxKeys: 1 }),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    ...{ minProperties: count, maxProperties: count, minItems: count, maxItems: count },
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 1 }), { maxKeys: 1 }),
    ...{ prefixItems: pair, items: inside, contains: inside, minContains: count, maxContains: count },
    ...{ uniqueItems: fc.boolean(), unevaluatedProperties: inside, unevaluatedItems: fc.constant(false) },
    $ref: fc.constant('#/schemas/Shared'),
  };
  const chosen = fc.uniqueArray(fc.constantFrom(...(Object.keys(keywords) as (keyof typeof keywords)[])), {
    minLength: 1,
    maxLength: 3,
  });
  const map2 = chosen.chain((names) =>
    fc
      .tuple(...names.map((keyword) => keywords[keyword] as fc.Arbitrary<unknown>))
      .map((values) => Object.fromEntries(names.map((keyword, index) => [keyword, values[index]]))),
  );
  return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), map2, map2, map2) };
});

const SHARED = { oneOf: [{ properties: { a: true }, required: ['a'] }, { prefixItems: [{ type: 'number' }] }] };

test('random schemas accept the values that a naive evaluator accepts', () => {
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 8, maxLength: 8 }), (written, values) => {
      const text = manifestOf(`schemas: { Shared: ${JSON.stringify(SHARED)} }\n`, bodyRoute(JSON.stringify(written)));
      const loaded = loadText(text);
      for (const { message } of loaded.problems) expect(message).not.toMatch(/does not compile|strict mode/);
      if (loaded.plan === undefined) return;
      for (const one of values) {
        const isAccepted = violationsOf(loaded, JSON.stringify(one))?.length === 0;
        expect([one, isAccepted]).toEqual([one, isValidBy(written, one, { Shared: SHARED })]);
      }
    }),
    { numRuns: runs(250) },
  );
});

const BROKEN = fc.oneof(value, schema, fc.constant(Number.NaN));

test('random broken schemas are problems in the words of the gateway', () => {
  const anyKeyword = fc.constantFrom(
    ...[
      'type',
      'const',
      'enum',
      'minimum',
      'multipleOf',
      'maxLength',
      'pattern',
      'format',
      'allOf',
      'not',
      'if',
      'properties',
    ],
    ...[
      'required',
      'dependentRequired',
      'prefixItems',
      'items',
      'contains',
      'minContains',
      '$ref',
      '$id',
      '$schema',
      '$defs',
    ],
    ...[
      'definitions',
      'nullable',
      'discriminator',
      'dependencies',
      'additionalItems',
      '$dynamicRef',
      '$recursiveRef',
      'id',
    ],
    ...[
      '$async',
      '$anchor',
      'examples',
      'default',
      'readOnly',
      'errorMessage',
      'contentEncoding',
      'contentMaxBytes',
      'x-a',
    ],
    ...[
      'formatMinimum',
      'patternProperties',
      'unevaluatedItems',
      'title',
      '$comment',
      'uniqueItems',
      'cost',
      'evaluated',
    ],
  );
  fc.assert(
    fc.property(fc.dictionary(anyKeyword, BROKEN, { minKeys: 1, maxKeys: 3 }), (broken) => {
      const text = manifestOf(
        `schemas:\n  A: ${JSON.stringify({ properties: { a: broken } })}\n`,
        bodyRoute("{ $ref: '#/schemas/A' }"),
      );
      const { problems } = loadText(text);
      for (const { message, range } of problems) {
        expect(message).not.toMatch(
          /does not compile|must (?:be|NOT|have|match)|strict mode|undefined|call stack|\bajv\b/i,
        );
        expect(message).toMatch(/[;,(]|did you mean/);
        // The mistake is in the shared schema, so nothing is reported at the route.
        expect(range.line).toBe(5);
      }
    }),
    { numRuns: runs(400) },
  );
});
