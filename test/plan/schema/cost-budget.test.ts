import { describe, expect, test } from 'vitest';
import type { SchemaRoot } from '../../../src/engine/schema/schema-walk.ts';
import { createSchemaValidators } from '../../../src/engine/schema/value-validator.ts';
import { createBodyValidator } from '../../../src/engine/validation/request-rules.ts';
import { loadText, manifestOf } from '../../manifest/support.ts';

const PATH = ['schemas', 'A'];

function validatorOf(schema: object) {
  const root: SchemaRoot = { schemas: { A: { ...schema } }, routes: [], files: {} };
  return createBodyValidator(createSchemaValidators(root).validatorAt(PATH), root, PATH);
}

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const COUNTING = '(?:a|b)*a(?:a|b){12}$';

describe('costly work is validated in another thread with the same result', () => {
  test.each<[string, object, unknown, number]>([
    ['a long text and a pattern', { pattern: COUNTING }, 'a'.repeat(30_000), 0],
    [
      'a long text and a pattern in a member',
      { properties: { a: { pattern: COUNTING } } },
      { a: 'a'.repeat(30_000) },
      0,
    ],
    ['a short text and a large pattern', { pattern: '(?:a|b)*a(?:a|b){300}$' }, 'a'.repeat(3_000), 0],
    ['a text and many patterns', { anyOf: times(60, (index) => ({ pattern: `^b*${index}$` })) }, 'b'.repeat(3_000), 60],
    ['many texts and a pattern', { items: { pattern: '^[A-Z]{2}-[0-9]{1,6}$' } }, times(3_000, () => 'AB-12'), 0],
    [
      'many names and a pattern',
      { propertyNames: { pattern: '^k[0-9]+$' } },
      Object.fromEntries(times(3_000, (index) => [`k${index}`, 0])),
      0,
    ],
    [
      'many names and a pattern for their values',
      { patternProperties: { '^k[0-9]+$': true } },
      Object.fromEntries(times(3_000, (index) => [`k${index}`, 0])),
      0,
    ],
    ['a long text and a format', { format: 'uri' }, `${'1:'.repeat(15_000)}`, 1],
    [
      'many texts and formats',
      { items: { anyOf: ['email', 'uri', 'date', 'uuid', 'ipv6', 'time'].map((format) => ({ format })) } },
      times(1_500, () => 'nobody@example.com'),
      0,
    ],
    [
      'many items and a list of values',
      { items: { enum: times(1_000, (index) => `value${index}`) } },
      times(2_500, () => 'value999'),
      0,
    ],
    [
      'many items and a list of objects',
      { items: { enum: times(1_000, (index) => ({ index })) } },
      times(1_000, () => ({ index: 999 })),
      0,
    ],
    [
      'many items and many branches',
      { items: { oneOf: times(20, (index) => ({ const: index })) } },
      times(5_000, () => 1),
      0,
    ],
    [
      'many items that lack many members',
      { items: { required: times(200, (index) => `k${index}`) } },
      times(2_000, () => ({})),
      20,
    ],
    ['many items that must be unique', { uniqueItems: true }, times(4_000, (index) => ({ index })), 0],
    ['many long numbers', { items: { type: 'number' } }, times(1_500, () => 1.2345678901234567), 0],
  ])('%s', async (_name, schema, value, violationCount) => {
    const body = Buffer.from(JSON.stringify(value));
    expect(body.length).toBeLessThanOrEqual(65_536);
    const validated = validatorOf(schema)(body, 'client');
    expect(validated).toBeInstanceOf(Promise);
    expect((await validated).violations.length >= Math.min(1, violationCount)).toBe(true);
    expect((await validated).violations.length > 0).toBe(violationCount > 0);
    expect((await validated).body?.toString()).toBe(JSON.stringify(value));
  });
});

test.each<[string, object, unknown]>([
  ['a number', { type: 'integer', minimum: 1 }, 7],
  ['a text and a pattern', { pattern: '^[^!]*$' }, 'a'.repeat(10_000)],
  ['an address', { format: 'email', maxLength: 320 }, 'nobody@example.com'],
  [
    'an order',
    { items: { required: ['sku'], properties: { sku: { pattern: '^[A-Z]{2}-[0-9]{1,6}$' } } } },
    times(200, () => ({ sku: 'AB-12', count: 1 })),
  ],
  ['a long list of numbers', { items: { type: 'integer', maximum: 9 } }, times(10_000, () => 1)],
])('%s is validated on the serving thread', (_name, schema, value) => {
  expect(validatorOf(schema)(Buffer.from(JSON.stringify(value)), 'client')).toEqual({
    violations: [],
    body: expect.any(Buffer),
  });
});

describe('costly parameters are validated in another thread', () => {
  const { plan } = loadText(
    manifestOf(
      '',
      `  - { id: a, method: GET, path: '/a/{id}', upstream: contacts, access: public, params: { properties: { id: { pattern: '${COUNTING}' } } }, query: { properties: { q: { pattern: '${COUNTING}' }, n: { type: [integer, string], pattern: '${COUNTING}', maximum: 5 } } }, headers: { properties: { X-A: { pattern: '${COUNTING}' } } } }
`,
    ),
  );
  const parameters = plan?.routes[0]?.parameters;
  const long = 'a'.repeat(8_000);

  test.each<[string, string, string[]]>([
    [`/a/${long}`, '', []],
    [`/a/${long}b`, `?q=${long}`, []],
    ['/a/aaaaaaaaaaaaa', `?q=${long}c&q=${long}`, []],
    ['/a/aaaaaaaaaaaaa', '', ['X-A', long, 'x-a', `${long}c`]],
    ['/a/c', `?q=${'a'.repeat(300)}${'&q=aaaaaaaaaaaaaa'.repeat(500)}`, []],
    ['/a/aaaaaaaaaaaaa', `?q=${long}&n=4&n=6&n=${long}`, []],
  ])('for %.20s with %.20s', async (path, query, headers) => {
    const pending = parameters?.validateWithinBudget(path, query, headers, 'client');
    expect(pending).toBeInstanceOf(Promise);
    const expected = parameters?.validate(path, query, headers);
    const { violations } = (await pending) as Awaited<Extract<typeof pending, Promise<unknown>>>;
    expect([...violations].sort((a, b) => a.pointer.localeCompare(b.pointer))).toEqual(
      [...(expected ?? [])].sort((a, b) => a.pointer.localeCompare(b.pointer)),
    );
  });

  test('but short ones on the serving thread', () => {
    expect(parameters?.validateWithinBudget('/a/aaaaaaaaaaaaa', '?q=aaaaaaaaaaaaa&n=3', [], 'client')).toEqual([]);
  });
});
