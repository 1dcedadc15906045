import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { validateJson } from '../../../src/plan/body/body-validator.ts';
import { createSchemaValidators } from '../../../src/plan/schema/value-validator.ts';

const PATH = ['schemas', 'A'];
const judge = (schema: object, text: string) =>
  validateJson(
    createSchemaValidators({ schemas: { A: { ...schema } }, routes: [], files: {} }).validatorAt(PATH),
    Buffer.from(text),
  );

/** A hundred to a reader of doubles, more to a reader of decimals. */
const CUT = '100.00000000000000001';
const message = 'has more digits than a number of double precision holds';

describe('a number that no double holds', () => {
  test.each<[object, string, string]>([
    [{ maximum: 100 }, CUT, ''],
    [{ minimum: 100 }, CUT, ''],
    [{ exclusiveMaximum: 101 }, CUT, ''],
    [{ exclusiveMinimum: 99 }, CUT, ''],
    [{ multipleOf: 0.5 }, CUT, ''],
    [{ const: 100 }, CUT, ''],
    [{ enum: ['x', 100] }, CUT, ''],
    [{ type: 'integer' }, CUT, ''],
    [{ type: ['integer', 'null'] }, '9007199254740991.00000001', ''],
    [{ format: 'int32' }, CUT, ''],
    [{ properties: { a: { maximum: 100 } } }, `{"b":"}{[,\\"","a":${CUT}}`, '/a'],
    [{ properties: { a: { maximum: 100 } } }, `{"\\u0061":${CUT}}`, '/a'],
    [
      { properties: { 'é/~': { items: { maximum: 100 } } } },
      `{ "é/~" : [ 1 , [2,3] , {"a":[]} , ${CUT} ] }`,
      '/é~1~0/3',
    ],
    [{ items: { items: { maximum: 100 } } }, `[[1],[1,${CUT}]]`, '/1/1'],
    [{ additionalProperties: { maximum: 100 } }, `{"a":1,"b":${CUT}}`, '/b'],
    [{ patternProperties: { b: { maximum: 100 } } }, `{"a":${CUT},"b":${CUT}}`, '/b'],
    [{ const: { a: [100] } }, `{"a":[${CUT}]}`, ''],
    [{ enum: [[100]] }, `[${CUT}]`, ''],
    [{ not: { maximum: 99 } }, CUT, ''],
    [{ anyOf: [{ maximum: 5 }, { type: 'number' }] }, CUT, ''],
    [{ if: { maximum: 5 }, else: { type: 'number' } }, CUT, ''],
    [{ items: { $ref: '#/schemas/A/$defs/N' }, $defs: { N: { maximum: 100 } } }, `[1,${CUT}]`, '/1'],
    [{ contains: { maximum: 100 } }, `[${CUT}]`, '/0'],
    [{ properties: { s: { type: 'string' }, a: { maximum: 100 } } }, `{"s":"${'x'.repeat(20_000)}","a":${CUT}}`, '/a'],
  ])('%j: %.60s', (schema, text, pointer) => {
    expect(judge(schema, text)).toEqual([{ pointer, message }]);
  });

  test('says what the schema says of the place', () => {
    expect(judge({ maximum: 100, description: 'at most a hundred' }, CUT)).toEqual([
      { pointer: '', message, description: 'at most a hundred' },
    ]);
  });

  test.each<[object, string]>([
    [{ type: 'number' }, CUT],
    [{}, `{"a":${CUT}}`],
    [{ properties: { a: { maximum: 100 } } }, `{"b":${CUT},"a":100.50e-1}`],
    [{ properties: { a: { const: 'a' }, b: true } }, `{"a":"a","b":${CUT}}`],
    [{ items: { maximum: 100 } }, '[0.1,1.10,1e2,100.0,-0.0,99.99999999999999,1E-7,0.30000000000000004]'],
    [{ items: { multipleOf: 1 } }, '[1e15,100000000000000000000]'],
  ])('goes on where nothing compares it: %j: %s', (schema, text) => expect(judge(schema, text)).toEqual([]));

  test.each([
    { type: 'integer' },
    { anyOf: [{ type: 'integer' }, { type: 'number' }] },
    { not: { type: 'integer', minimum: 2 ** 60 } },
  ])('an integer beyond 2^53: %j', (schema) => {
    expect(judge(schema, '9007199254740992')).toEqual([
      { pointer: '', message: 'must be an integer between -2^53 and 2^53' },
    ]);
  });

  test('is found wherever it stands', () => {
    const numbers = { $ref: '#/schemas/A', maximum: 1e9 };
    const schema = {
      anyOf: [{ maximum: 1e9 }, { not: { type: 'number' } }],
      items: numbers,
      additionalProperties: numbers,
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        // Each number that is left by itself is one that a double holds.
        const places: string[] = [];
        const marked = markNumber(JSON.parse(text), '', places);
        const [place] = places;
        const faults = judge({ ...schema }, JSON.stringify(marked).replaceAll(`"${MARK}"`, CUT));
        expect(faults.some(({ message: said, pointer }) => said === message && pointer === place)).toBe(
          place !== undefined,
        );
      }),
    );
  });
});

const MARK = 'a number';

/** Puts a mark in place of the last number, and small numbers in place of the others. */
function markNumber(value: unknown, pointer: string, places: string[]): unknown {
  if (typeof value === 'number') {
    if (places.length > 0) return 1;
    places.push(pointer);
    return MARK;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item, index) => markNumber(item, `${pointer}/${index}`, places));
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => {
      const step = name === '__proto__' ? 'proto' : name;
      return [step, markNumber(inside, `${pointer}/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`, places)];
    }),
  );
}
