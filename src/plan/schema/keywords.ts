type ValueType = 'array' | 'number' | 'object' | 'string';

interface Keyword {
  /** The type of the values that the keyword validates; values of other types pass. */
  readonly type?: ValueType;
  /** Schemas in the keyword's value: one, a list of them, or a map with names that the author chooses. */
  readonly holds?: 'schema' | 'list' | 'map';
  /** The part of the validated value that these schemas validate: all of it, or something inside of it. */
  readonly appliesTo?: 'value' | 'members' | 'items';
  /** The schemas decide a condition: a value that does not match them may still be valid. */
  readonly isCondition?: true;
  /** `named`: the schemas apply to a listed name or index. `rest`: to all that the other keywords do not select. */
  readonly selects?: 'named' | 'rest';
  /** The keyword's value is data, even if parts of it look like schemas. */
  readonly isData?: true;
  /** The keyword does not affect which values are valid. */
  readonly isAnnotation?: true;
}

/** The keywords of JSON Schema 2020-12, and the two that the gateway adds for authors, by the kind of their values. */
const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $defs: { holds: 'map' },
  definitions: { holds: 'map' },

  allOf: { holds: 'list', appliesTo: 'value' },
  anyOf: { holds: 'list', appliesTo: 'value' },
  dependentSchemas: { holds: 'map', appliesTo: 'value', type: 'object' },
  else: { holds: 'schema', appliesTo: 'value' },
  if: { holds: 'schema', appliesTo: 'value', isCondition: true },
  not: { holds: 'schema', appliesTo: 'value', isCondition: true },
  oneOf: { holds: 'list', appliesTo: 'value' },
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword, and nothing awaits this table
  then: { holds: 'schema', appliesTo: 'value' },

  properties: { holds: 'map', appliesTo: 'members', selects: 'named', type: 'object' },
  patternProperties: { holds: 'map', appliesTo: 'members', type: 'object' },
  additionalProperties: { holds: 'schema', appliesTo: 'members', selects: 'rest', type: 'object' },
  unevaluatedProperties: { holds: 'schema', appliesTo: 'members', selects: 'rest', type: 'object' },
  propertyNames: { holds: 'schema', type: 'object' },
  prefixItems: { holds: 'list', appliesTo: 'items', selects: 'named', type: 'array' },
  items: { holds: 'schema', appliesTo: 'items', selects: 'rest', type: 'array' },
  contains: { holds: 'schema', appliesTo: 'items', type: 'array' },
  unevaluatedItems: { holds: 'schema', appliesTo: 'items', selects: 'rest', type: 'array' },
  contentSchema: { holds: 'schema' },

  const: { isData: true },
  enum: { isData: true },
  dependentRequired: { isData: true, type: 'object' },
  required: { type: 'object' },
  maxProperties: { type: 'object' },
  minProperties: { type: 'object' },
  maxItems: { type: 'array' },
  minItems: { type: 'array' },
  uniqueItems: { type: 'array' },
  maxLength: { type: 'string' },
  minLength: { type: 'string' },
  pattern: { type: 'string' },
  contentEncoding: { type: 'string' },
  contentMaxBytes: { type: 'string' },
  minimum: { type: 'number' },
  maximum: { type: 'number' },
  exclusiveMinimum: { type: 'number' },
  exclusiveMaximum: { type: 'number' },
  multipleOf: { type: 'number' },

  $comment: { isAnnotation: true },
  $schema: { isAnnotation: true },
  default: { isAnnotation: true, isData: true },
  deprecated: { isAnnotation: true },
  description: { isAnnotation: true },
  errorMessage: { isAnnotation: true },
  examples: { isAnnotation: true, isData: true },
  readOnly: { isAnnotation: true },
  title: { isAnnotation: true },
  writeOnly: { isAnnotation: true },
};

/** Keywords that the gateway adds to compiled schemas for itself. An author may not write them. */
export const INTERNAL_KEYWORDS = { cost: 'cost', exactNumbers: 'exact', hidden: 'hidden' } as const;

/** The keywords that hold schemas, and how. */
export const SCHEMA_KEYWORDS = Object.entries(KEYWORDS).filter(
  (entry): entry is [string, Keyword & Required<Pick<Keyword, 'holds'>>] => entry[1].holds !== undefined,
);

/** Returns the keywords with these properties, in the order of the table. */
export function keywordsWith(properties: Keyword): readonly string[] {
  const wanted = Object.entries(properties);
  return Object.entries(KEYWORDS).flatMap(([keyword, entry]) =>
    wanted.every(([name, value]) => entry[name as keyof Keyword] === value) ? [keyword] : [],
  );
}

/** Returns the one type of values that a keyword validates; `undefined` if it validates values of every type. */
export function validatedType(keyword: string): ValueType | undefined {
  return Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword]?.type : undefined;
}
