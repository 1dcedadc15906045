import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSchemaValidators } from '../../../src/engine/schema/value-validator.ts';
import { validateJson } from '../../../src/engine/validation/request-rules.ts';

const PATH = ['schemas', 'A'];
const validate = (schema: object, text: string) =>
  validateJson(
    createSchemaValidators({ schemas: { A: { ...schema } }, routes: [], files: {} }).validatorAt(PATH),
    Buffer.from(text),
  );

/** Parsers that use doubles read 100, parsers that use decimals read more. */
const INEXACT = '100.00000000000000001';
const message = 'has more digits than a number of double precision holds';

describe('a number that a double cannot represent', () => {
  test.each<[object, string, string]>([
    [{ maximum: 100 }, INEXACT, ''],
    [{ minimum: 100 }, INEXACT, ''],
    [{ exclusiveMaximum: 101 }, INEXACT, ''],
    [{ exclusiveMinimum: 99 }, INEXACT, ''],
    [{ multipleOf: 0.5 }, INEXACT, ''],
    [{ const: 100 }, INEXACT, ''],
    [{ enum: ['x', 100] }, INEXACT, ''],
    [{ type: 'integer' }, INEXACT, ''],
    [{ type: ['integer', 'null'] }, '9007199254740991.00000001', ''],
    [{ format: 'int32' }, INEXACT, ''],
    [{ properties: { a: { maximum: 100 } } }, `{"b":"}{[,\\"","a":${INEXACT}}`, '/a'],
    [{ properties: { a: { maximum: 100 } } }, `{"\\u0061":${INEXACT}}`, '/a'],
    [
      { properties: { 'é/~': { items: { maximum: 100 } } } },
      `{ "é/~" : [ 1 , [2,3] , {"a":[]} , ${INEXACT} ] }`,
      '/é~1~0/3',
    ],
    [{ items: { items: { maximum: 100 } } }, `[[1],[1,${INEXACT}]]`, '/1/1'],
    [{ additionalProperties: { maximum: 100 } }, `{"a":1,"b":${INEXACT}}`, '/b'],
    [{ patternProperties: { b: { maximum: 100 } } }, `{"a":${INEXACT},"b":${INEXACT}}`, '/b'],
    [{ const: { a: [100] } }, `{"a":[${INEXACT}]}`, ''],
    [{ enum: [[100]] }, `[${INEXACT}]`, ''],
    [{ not: { maximum: 99 } }, INEXACT, ''],
    [{ anyOf: [{ maximum: 5 }, { type: 'number' }] }, INEXACT, ''],
    [{ if: { maximum: 5 }, else: { type: 'number' } }, INEXACT, ''],
    [{ items: { $ref: '#/schemas/A/$defs/N' }, $defs: { N: { maximum: 100 } } }, `[1,${INEXACT}]`, '/1'],
    [{ contains: { maximum: 100 } }, `[${INEXACT}]`, '/0'],
    [
      { properties: { s: { type: 'string' }, a: { maximum: 100 } } },
      `{"s":"${'x'.repeat(20_000)}","a":${INEXACT}}`,
      '/a',
    ],
  ])('is refused by %j in %.60s', (schema, text, pointer) => {
    expect(validate(schema, text)).toEqual([{ pointer, message }]);
  });

  test('has the description of its schema', () => {
    expect(validate({ maximum: 100, description: 'at most a hundred' }, INEXACT)).toEqual([
      { pointer: '', message, description: 'at most a hundred' },
    ]);
  });

  test.each<[object, string]>([
    [{ type: 'number' }, INEXACT],
    [{}, `{"a":${INEXACT}}`],
    [{ properties: { a: { maximum: 100 } } }, `{"b":${INEXACT},"a":100.50e-1}`],
    [{ properties: { a: { const: 'a' }, b: true } }, `{"a":"a","b":${INEXACT}}`],
    [{ items: { maximum: 100 } }, '[0.1,1.10,1e2,100.0,-0.0,99.99999999999999,1E-7,0.30000000000000004]'],
    [{ items: { multipleOf: 1 } }, '[1e15,100000000000000000000]'],
  ])('is accepted if no schema compares it: %j, %s', (schema, text) => expect(validate(schema, text)).toEqual([]));

  test.each([
    { type: 'integer' },
    { anyOf: [{ type: 'integer' }, { type: 'number' }] },
    { not: { type: 'integer', minimum: 2 ** 60 } },
  ])('is refused as an integer beyond 2^53 by %j', (schema) => {
    expect(validate(schema, '9007199254740992')).toEqual([
      { pointer: '', message: 'must be an integer between -2^53 and 2^53' },
    ]);
  });

  test('is found at any depth', () => {
    const numbers = { $ref: '#/schemas/A', maximum: 1e9 };
    const schema = {
      anyOf: [{ maximum: 1e9 }, { not: { type: 'number' } }],
      items: numbers,
      additionalProperties: numbers,
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        // A double represents each of the other numbers.
        const pointers: string[] = [];
        const marked = markNumber(JSON.parse(text), '', pointers);
        const [expected] = pointers;
        const violations = validate({ ...schema }, JSON.stringify(marked).replaceAll(`"${MARK}"`, INEXACT));
        expect(violations.some(({ message: text, pointer }) => text === message && pointer === expected)).toBe(
          expected !== undefined,
        );
      }),
    );
  });
});

const MARK = 'a number';

/** Replaces the first number by a mark and the others by small numbers. */
function markNumber(value: unknown, pointer: string, pointers: string[]): unknown {
  if (typeof value === 'number') {
    if (pointers.length > 0) return 1;
    pointers.push(pointer);
    return MARK;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item, index) => markNumber(item, `${pointer}/${index}`, pointers));
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => {
      const step = name === '__proto__' ? 'proto' : name;
      return [step, markNumber(inside, `${pointer}/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`, pointers)];
    }),
  );
}
