import fc from 'fast-check';

/** Patterns, names and values that the random schemas share, so that their keywords meet. */
const PATTERNS = ['^a', 'b$', '^[ab]+$', '^ab?$', '^.$', 'aa', '^(?:a|bb)$', '[^a]', '^$'];
const NAMES = ['a', 'b', 'c'];
const CONSTANTS = [null, true, 0, 1, 0.5, 'a', 'ab', '', [], ['a'], {}, { a: 1 }];

type Schema = boolean | Record<string, unknown>;

function optional(keywords: Record<string, fc.Arbitrary<unknown>>, type: string | readonly string[] | undefined) {
  const typed = type === undefined ? {} : { type: fc.constant(type) };
  return fc.record({ ...typed, ...keywords }, { requiredKeys: [] });
}

const small = fc.nat(3);
const text = optional(
  {
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom(...PATTERNS),
    format: fc.constantFrom('date', 'ipv4'),
  },
  'string',
);
const number = fc.constantFrom('number', 'integer').chain((type) =>
  optional(
    {
      minimum: fc.constantFrom(-1, 0, 0.5, 1),
      maximum: fc.constantFrom(0, 1, 1.5, 3),
      exclusiveMinimum: fc.constantFrom(-1, 0),
      multipleOf: fc.constantFrom(0.5, 1, 2, 1.5),
    },
    type,
  ),
);
const leaf: fc.Arbitrary<Schema> = fc.oneof(
  fc.subarray(CONSTANTS, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
  fc.constantFrom(...CONSTANTS).map((value) => ({ const: value })),
  fc.constantFrom<Schema>({ type: 'null' }, { type: ['string', 'null'] }, { type: ['integer', 'array'] }, true, false),
  text,
  number,
);

/** Random schemas of at most this depth, with all keywords that validate. */
export function randomSchema(depth: number): fc.Arbitrary<Schema> {
  if (depth === 0) return leaf;
  const inner = randomSchema(depth - 1);
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const names = fc.subarray(NAMES);
  const members = fc.dictionary(fc.constantFrom(...NAMES), inner, { maxKeys: 3 });
  const object = optional(
    {
      properties: members,
      required: names,
      additionalProperties: fc.oneof(fc.constant(false), inner),
      patternProperties: fc.dictionary(fc.constantFrom(...PATTERNS), inner, { maxKeys: 1 }),
      propertyNames: text,
      minProperties: small,
      maxProperties: small,
      dependentRequired: fc.dictionary(fc.constantFrom(...NAMES), names, { maxKeys: 1 }),
      dependentSchemas: fc.dictionary(fc.constantFrom(...NAMES), inner, { maxKeys: 1 }),
    },
    'object',
  );
  const array = fc.oneof(
    optional({ items: inner, prefixItems: list, minItems: small, maxItems: small, uniqueItems: fc.boolean() }, 'array'),
    optional({ items: inner, contains: inner, maxItems: small, uniqueItems: fc.boolean() }, 'array'),
    fc.record({ contains: inner, minContains: fc.nat(1), maxContains: fc.integer({ min: 1, max: 2 }) }),
    fc.record({ prefixItems: list, unevaluatedItems: fc.constant(false) }),
  );
  const branches = fc.oneof(
    fc.record({ allOf: list }),
    fc.record({ anyOf: list }),
    fc.record({ oneOf: list }),
    fc.record({ not: inner }),
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword, and nothing awaits this schema
    fc.record({ if: inner, then: inner, else: inner }),
    fc.record({ properties: members, allOf: list, unevaluatedProperties: fc.constant(false) }),
    fc.tuple(object, fc.record({ anyOf: list })).map(([one, other]) => ({ ...one, ...other })),
    fc.constant({ $ref: '#/schemas/Shared' }),
  );
  return fc.oneof(
    { weight: 4, arbitrary: object },
    { weight: 2, arbitrary: array },
    { weight: 2, arbitrary: branches },
    leaf,
  );
}

const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'required', 'enum', 'type']);

/** Returns a schema with its lists in another order, some keywords in `allOf`, and other keys. It may accept other values. */
export function rewritten(schema: Schema, seed: number): Schema {
  let state = seed;
  const random = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
  const rewrite = (value: unknown, isSchema: boolean): unknown => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map((item) => rewrite(item, isSchema));
    const entries = Object.entries(value).map(([key, inside]): [string, unknown] => {
      const isData = ['enum', 'const', 'required', 'type', 'dependentRequired'].includes(key);
      const copy = isData ? inside : rewrite(inside, key !== 'properties' && key !== 'patternProperties');
      return [key, isSchema && LISTS.has(key) && Array.isArray(copy) ? copy.toSorted(() => random(3) - 1) : copy];
    });
    const copy = Object.fromEntries(random(2) === 0 ? entries.reverse() : entries);
    return isSchema && random(5) === 0 ? { allOf: [copy], title: 'rewritten' } : copy;
  };
  return rewrite(schema, true) as Schema;
}

/** A schema, and a copy with one change at any depth. */
export function schemaPair(depth: number): fc.Arbitrary<readonly [Schema, Schema]> {
  return fc
    .tuple(randomSchema(depth), fc.nat(1_000), randomSchema(1), fc.constantFrom('remove', 'replace', 'add'))
    .map(([schema, at, other, change]) => [schema, changed(schema, at, other, change)] as const);
}

function changed(schema: Schema, at: number, other: Schema, change: string): Schema {
  const copy = structuredClone(schema);
  const holders = [...holdersOf(copy)];
  const [holder, key] = holders[at % Math.max(1, holders.length)] ?? [];
  if (holder === undefined || key === undefined) return other;
  const value = holder[key];
  if (typeof value === 'number') holder[key] = change === 'add' ? value + 1 : Math.max(0.5, value - 1);
  else if (change === 'remove' && !['if', 'then', 'else', 'contains'].includes(key)) delete holder[key];
  else if (isSchemaKey(key)) holder[key] = other;
  else if (Array.isArray(value) && typeof value[0] === 'string') holder[key] = value.slice(1);
  else if (typeof other === 'object') Object.assign(holder, { ...other, ...holder });
  return copy;
}

/** Yields the schemas inside of a schema, with each of their keywords. */
function* holdersOf(value: unknown): Generator<[Record<string, unknown>, string]> {
  if (value === null || typeof value !== 'object') return;
  for (const [key, inside] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [value as Record<string, unknown>, key];
    if (key !== 'enum' && key !== 'const') yield* holdersOf(inside);
  }
}

function isSchemaKey(key: string): boolean {
  return ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', ...NAMES, ...PATTERNS].includes(
    key,
  );
}

const SCALARS = [
  null,
  true,
  false,
  -1,
  -0.5,
  0,
  0.5,
  1,
  1.5,
  2,
  3,
  4,
  '',
  'a',
  'b',
  'aa',
  'ab',
  'bb',
  'aab',
  'x',
  '2020-01-01',
];
const FEW = [null, 0.5, 1, 'a', '', 'ab', [], {}];

/** Small values of every type: all combinations of a few items and members. */
export const SMALL_VALUES: readonly unknown[] = [
  ...SCALARS,
  [],
  {},
  ...SCALARS.map((value) => [value]),
  ...FEW.flatMap((one) => FEW.map((other) => [one, other])),
  ...FEW.slice(0, 4).flatMap((one) =>
    FEW.slice(0, 4).flatMap((other) => FEW.slice(0, 4).map((last) => [one, other, last])),
  ),
  ...['a', 'b', 'c', 'aa', 'x'].flatMap((name) =>
    [...SCALARS, ['a'], [1, 1], { a: 1 }, {}].map((value) => ({ [name]: value })),
  ),
  ...['ab', 'ac', 'bc', 'ax'].flatMap(([one = '', other = '']) =>
    FEW.flatMap((value) => FEW.map((last) => ({ [one]: value, [other]: last }))),
  ),
  ...FEW.slice(0, 5).flatMap((a) => FEW.slice(0, 5).flatMap((b) => FEW.slice(0, 5).map((c) => ({ a, b, c })))),
];
