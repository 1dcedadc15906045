import { isMap } from '../../../engine/schema/schema-walk.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A change of one keyword after which the schema accepts more values. */
interface SchemaOpening {
  /** The path of the change inside of the schema. */
  readonly steps: readonly (string | number)[];
  /** The new value; `undefined` removes the old one. */
  readonly value: unknown;
  readonly message: string;
}

/** Returns the openings of a schema, without those of its subschemas. */
export function openingsOf(schema: Schema): SchemaOpening[] {
  return Object.keys(schema).flatMap((keyword) => OPENINGS.get(keyword)?.(schema[keyword], keyword) ?? []);
}

type FindOpenings = (value: unknown, keyword: string) => SchemaOpening[];

const remove: FindOpenings = (_value, keyword) => [
  { steps: [keyword], value: undefined, message: `the keyword "${keyword}" is missing` },
];

const lower: FindOpenings = (value, keyword) =>
  typeof value === 'number' && (value > 0 || !COUNTS.has(keyword)) ? [bound(keyword, value, value - 1)] : [];

const raise: FindOpenings = (value, keyword) => (typeof value === 'number' ? [bound(keyword, value, value + 1)] : []);

function bound(keyword: string, from: number, to: number): SchemaOpening {
  return { steps: [keyword], value: to, message: `"${keyword}" is ${to}, not ${from}` };
}

/** Keywords whose bound cannot be negative. */
const COUNTS: ReadonlySet<string> = new Set(['minLength', 'minItems', 'minProperties', 'minContains']);

const openIfFalse: FindOpenings = (value, keyword) =>
  value === true ? [] : [{ steps: [keyword], value: true, message: `"${keyword}" accepts everything` }];

const dropItems: FindOpenings = (value, keyword) =>
  (Array.isArray(value) ? value : []).map((item, index) => ({
    steps: [keyword, index],
    value: undefined,
    message: `"${keyword}" does not contain ${typeof item === 'string' ? `"${item}"` : `item ${index + 1}`}`,
  }));

const openMembers: FindOpenings = (value, keyword) =>
  (isMap(value) ? Object.keys(value) : []).map((name) => ({
    steps: [keyword, name],
    value: true,
    message: `the member "${name}" may have every value`,
  }));

const openType: FindOpenings = (value, keyword) => {
  const types = [value].flat();
  const widened = [
    types.includes('integer')
      ? types.map((type) => (type === 'integer' ? 'number' : type))
      : [...types, types.includes('string') ? 'number' : 'string'],
    ...(types.includes('null') ? [] : [[...types, 'null']]),
  ];
  return widened.map((wider) => ({
    steps: [keyword],
    value: wider.length === 1 ? wider[0] : wider,
    message: `"type" is ${wider.join(' or ')}`,
  }));
};

const extendEnum: FindOpenings = (value, keyword) =>
  Array.isArray(value)
    ? [{ steps: [keyword], value: [...value, otherValue(value)], message: `"${keyword}" has one more value` }]
    : [];

function otherValue(values: readonly unknown[]): unknown {
  if (values.every((value) => typeof value === 'number')) return Math.max(...(values as number[])) + 1;
  let text = 'other';
  while (values.includes(text)) text += '_';
  return text;
}

/** How keywords of JSON Schema become looser. Keywords without a row never refuse a value by themselves. */
const ROWS: readonly (readonly [FindOpenings, string])[] = [
  [lower, 'minLength minItems minProperties minimum exclusiveMinimum minContains'],
  [raise, 'maxLength maxItems maxProperties maximum exclusiveMaximum maxContains contentMaxBytes'],
  [remove, 'pattern format const uniqueItems multipleOf contains not oneOf anyOf $ref propertyNames'],
  [remove, 'dependentRequired dependentSchemas contentEncoding contentSchema'],
  [openIfFalse, 'then else additionalProperties unevaluatedProperties items unevaluatedItems'],
  [openMembers, 'properties patternProperties'],
  [dropItems, 'required allOf'],
  [extendEnum, 'enum'],
  [openType, 'type'],
];

const OPENINGS = new Map(
  ROWS.flatMap(([open, keywords]) => keywords.split(' ').map((keyword) => [keyword, open] as const)),
);
