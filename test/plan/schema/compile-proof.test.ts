import '../../support/seed.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { runToEnd } from '../../../src/engine/plan/sliced-work.ts';
import { bodyRoute, manifestOf } from '../../manifest/support.ts';
import { runs } from '../../support/runs.ts';

const SHARED = ['A', 'B', 'default'];
const PLACES = ['', '/properties/a', '/items', '/default', '/allOf/0', '/$defs/a', '/not', '/examples/0', '/enum/0'];
const TEXTS = ['', 'a', '^[a-z]+$', '(', '(?=a)', 'email', 'uuid', 'unknown', 'base64', '5MB', 'string', 'b~c/d%'];

const text = fc.constantFrom(...TEXTS);
const number = fc.constantFrom(0, 1, 5, -1, 0.01, 5e-324, 1e308, 9007199254740991);
const name = fc.constantFrom('a', 'b', 'default', '$id', '$ref', 'pattern', '__proto__', 'constructor', 'b~c/d%');
const type = fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'boolean', 'null');
const reference = fc
  .tuple(fc.constantFrom(...SHARED, 'missing'), fc.constantFrom(...PLACES))
  .map(([shared, place]) => `#/schemas/${shared}${place}`);
const value = fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.array(number, { maxLength: 2 }));

/** Schemas with all keywords of the dialect, some unknown ones, and values that are mostly of the right kind. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = tie('schema');
  const list = fc.array(inner, { minLength: 0, maxLength: 3 });
  const map = fc.dictionary(name, inner, { maxKeys: 3 });
  const names = fc.uniqueArray(name, { maxLength: 3 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    ...fromKeys(['title', 'description', '$comment', 'errorMessage', 'pattern', 'format', 'unknown'], text),
    ...fromKeys(['contentEncoding', 'contentMaxBytes', 'contentMediaType', '$schema', '$anchor', '$id'], text),
    ...fromKeys(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'], number),
    ...fromKeys(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'], number),
    ...fromKeys(['minContains', 'maxContains'], number),
    ...fromKeys(['default', 'const'], fc.oneof(value, inner)),
    ...fromKeys(['enum', 'examples'], fc.array(fc.oneof(value, inner), { maxLength: 3 })),
    ...fromKeys(['uniqueItems', 'deprecated', 'readOnly', 'writeOnly', 'nullable', '$async'], fc.boolean()),
    ...fromKeys(['additionalProperties', 'propertyNames', 'items', 'contains', 'not', 'if', 'then', 'else'], inner),
    ...fromKeys(['unevaluatedProperties', 'unevaluatedItems', 'contentSchema'], inner),
    ...fromKeys(['allOf', 'anyOf', 'oneOf', 'prefixItems'], list),
    ...fromKeys(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'], map),
    required: names,
    dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }),
    type: fc.oneof(type, fc.uniqueArray(type, { maxLength: 3 })),
    $ref: reference,
  };
  const keyword = fc
    .constantFrom(...Object.keys(keywords))
    .chain((key) => (keywords[key] as fc.Arbitrary<unknown>).map((content): [string, unknown] => [key, content]));
  const node = fc.uniqueArray(keyword, { maxLength: 4, selector: ([key]) => key }).map(Object.fromEntries);
  return { schema: fc.oneof({ maxDepth: 3, withCrossShrink: true }, fc.boolean(), node) };
});

function fromKeys(keys: readonly string[], content: fc.Arbitrary<unknown>): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(keys.map((key) => [key, content]));
}

function loadSchemas(schemas: Record<string, unknown>, body: unknown, previous?: Plan) {
  const text = manifestOf(`schemas: ${JSON.stringify(schemas)}\n`, bodyRoute(JSON.stringify(body)));
  return load({ path: 'gateway.yaml', text }, { env: {}, readFile: () => expect.unreachable() }, previous);
}

function named(shared: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(SHARED.map((key, index) => [key, shared[index]]));
}

const sharedSchemas = fc.array(schema, { minLength: SHARED.length, maxLength: SHARED.length });

describe('a schema of a manifest that loads', () => {
  test('compiles when a request first needs it', () => {
    let count = 0;
    fc.assert(
      fc.property(sharedSchemas, schema, (shared, body) => {
        const { plan } = loadSchemas(named(shared), body);
        if (plan?.compilations === undefined) return;
        count += 1;
        runToEnd(plan.compilations.compileAhead(() => true));
      }),
      { numRuns: runs(1_000) },
    );
    expect(count).toBeGreaterThan(20);
  });

  test('has the same problems beside a plan with equal schemas, whatever its shared schemas are', () => {
    let count = 0;
    fc.assert(
      fc.property(sharedSchemas, sharedSchemas, schema, (before, shared, body) => {
        for (const schemas of [{}, named(before)]) {
          const { plan } = loadSchemas(schemas, body);
          if (plan === undefined) continue;
          count += 1;
          const { problems } = loadSchemas(named(shared), body, plan);
          expect(problems).toEqual(loadSchemas(named(shared), body).problems);
        }
      }),
      { numRuns: runs(200) },
    );
    expect(count).toBeGreaterThan(20);
  });

  test('is checked again beside an equal one if it refers to a schema that changed', () => {
    const body = { $ref: '#/schemas/A' };
    const { plan } = loadSchemas({ A: { type: 'string' } }, body);
    expect(loadSchemas({ A: { type: 'string' } }, body, plan).problems).toEqual([]);
    expect(loadSchemas({ B: { type: 'string' } }, body, plan).plan).toBeUndefined();
    expect(loadSchemas({ A: body }, body, plan).plan).toBeUndefined();
  });

  test.each([
    ['an empty enum', { enum: [] }, true],
    ['an unknown format', { format: 'unknown' }, true],
    ['a keyword without its companion', { if: true }, true],
    ['a reference into data that is no valid schema', { $ref: '#/schemas/A/default' }, { default: { pattern: '(' } }],
  ])('has no part such as %s', (_, body, shared) => {
    expect(loadSchemas({ A: shared }, body).plan).toBeUndefined();
  });

  test('compiles if it is as deep as the manifest may be', () => {
    let deep: unknown = { type: 'string' };
    for (let level = 0; level < 45; level += 1) deep = { items: deep };
    const { plan } = loadSchemas({ A: deep, B: { $ref: '#/schemas/A' } }, { items: { $ref: '#/schemas/B' } });
    runToEnd(plan?.compilations?.compileAhead(() => true) ?? (() => expect.unreachable())());
    expect(plan?.compilations?.compiledContents.size).toBe(3);
  });

  test('is compiled while the manifest loads if it is large, because its first request would wait', () => {
    const properties = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, { type: 'string' }]));
    const { plan } = loadSchemas({}, { type: 'object', properties });
    expect(plan?.compilations?.compiledContents.size).toBe(1);
  });
});
