import fc from 'fast-check';
import { expect, test } from 'vitest';
import { valueAt } from '../../src/engine/json-pointer.ts';
import { areEqualSchemas, compareSchemas } from '../../src/prove/schema-comparison/compare-schemas.ts';
import { accepts } from '../../src/prove/schema-comparison/evaluate-schema.ts';
import { normalizeSchema } from '../../src/prove/schema-comparison/normal-form.ts';
import { runs } from '../support/runs.ts';
import { loadableSchema } from './compared-schema.ts';
import { randomSchema, rewritten, SMALL_VALUES, schemaPair } from './random-schemas.ts';

const RUNS = runs(100);

test('an example is found for every direction in which small values differ', () => {
  let count = 0;
  fc.assert(
    fc.property(schemaPair(2), ([one, other]) => {
      const [old, next] = [loadableSchema(one), loadableSchema(other)];
      fc.pre(old !== undefined && next !== undefined);
      if (old === undefined || next === undefined) return;
      const opened = SMALL_VALUES.find((value) => !old.acceptsSmall(value) && next.acceptsSmall(value));
      const closed = SMALL_VALUES.find((value) => !next.acceptsSmall(value) && old.acceptsSmall(value));
      if (areEqualSchemas(old, next)) {
        expect([opened, closed]).toEqual([undefined, undefined]);
        return;
      }
      const { looser, tighter } = compareSchemas(old, next);
      if (opened !== undefined) expect(looser, `loosened by ${JSON.stringify(opened)}`).toBeDefined();
      if (closed !== undefined) expect(tighter, `tightened by ${JSON.stringify(closed)}`).toBeDefined();
      if (looser !== undefined) expect([old.accepts(looser), next.accepts(looser)]).toEqual([false, true]);
      if (tighter !== undefined) expect([old.accepts(tighter), next.accepts(tighter)]).toEqual([true, false]);
      count += looser === undefined && tighter === undefined ? 0 : 1;
    }),
    { numRuns: RUNS },
  );
  expect(count).toBeGreaterThan(RUNS / 8);
}, 300_000);

test('the normal form of a schema accepts the same values', () => {
  let count = 0;
  fc.assert(
    fc.property(randomSchema(3), (schema) => {
      const original = loadableSchema(schema);
      fc.pre(original !== undefined);
      if (original === undefined) return;
      const normal: unknown = JSON.parse(normalizeSchema(original.root, valueAt(original.root, original.path)));
      const { root } = original;
      const differing = SMALL_VALUES.find((value) => accepts(root, normal, value) !== original.acceptsSmall(value));
      expect(differing).toBeUndefined();
      count += 1;
    }),
    { numRuns: RUNS },
  );
  expect(count).toBeGreaterThan(RUNS / 2);
}, 300_000);

/** Values with an integer that a parser with doubles cannot tell from its neighbours. */
const INEXACT_VALUES = SMALL_VALUES.map((value) =>
  JSON.parse(JSON.stringify(value).replaceAll(/(?<![.\d"])1(?![.\d])/g, `${2 ** 60}`)),
);

const branches = fc
  .tuple(fc.constantFrom('anyOf', 'oneOf'), fc.array(randomSchema(1), { minLength: 2, maxLength: 3 }))
  .map(([keyword, list]) => ({ [keyword]: list }));

test('schemas with one normal form accept the same values, also inexact numbers', () => {
  let count = 0;
  fc.assert(
    fc.property(fc.oneof(randomSchema(2), branches), fc.nat(), (schema, seed) => {
      const [old, next] = [loadableSchema(schema), loadableSchema(rewritten(schema, seed))];
      fc.pre(old !== undefined && next !== undefined);
      if (old === undefined || next === undefined || !areEqualSchemas(old, next)) return;
      const differing = [...SMALL_VALUES, ...INEXACT_VALUES].find(
        (value) => old.accepts(value) !== next.accepts(value),
      );
      expect(differing).toBeUndefined();
      count += 1;
    }),
    { numRuns: RUNS },
  );
  expect(count).toBeGreaterThan(RUNS / 10);
}, 300_000);

test('the interpreter of the search agrees with the validator of the gateway', () => {
  fc.assert(
    fc.property(randomSchema(3), (schema) => {
      const compiled = loadableSchema(schema);
      fc.pre(compiled !== undefined);
      if (compiled === undefined) return;
      const { root, path } = compiled;
      const schemaAt = valueAt(root, path);
      const differing = SMALL_VALUES.find((value) => accepts(root, schemaAt, value) !== compiled.acceptsSmall(value));
      expect(differing).toBeUndefined();
    }),
    { numRuns: RUNS },
  );
}, 300_000);
