type ValueType = 'array' | 'number' | 'object' | 'string';

/** The form of a keyword's value that is not a schema. */
export type KeywordForm =
  | 'any'
  | 'boolean'
  | 'count'
  | 'list'
  | 'names'
  | 'names by name'
  | 'number'
  | 'positive'
  | 'text'
  | 'types'
  | 'values';

/** The form of a keyword's value that holds schemas. */
export type SchemaForm = 'schema' | 'schemas' | 'schemas by name';

const SCHEMA_FORMS = { schema: 'schema', list: 'schemas', map: 'schemas by name' } as const;

interface Keyword {
  /** The form of the keyword's value, unless it `holds` schemas. */
  readonly form?: KeywordForm;
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

  $ref: { form: 'text' },
  type: { form: 'types' },
  const: { form: 'any', isData: true },
  enum: { form: 'values', isData: true },
  format: { form: 'text' },
  dependentRequired: { form: 'names by name', isData: true, type: 'object' },
  required: { form: 'names', type: 'object' },
  maxProperties: { form: 'count', type: 'object' },
  minProperties: { form: 'count', type: 'object' },
  maxItems: { form: 'count', type: 'array' },
  minItems: { form: 'count', type: 'array' },
  maxContains: { form: 'count', type: 'array' },
  minContains: { form: 'count', type: 'array' },
  uniqueItems: { form: 'boolean', type: 'array' },
  maxLength: { form: 'count', type: 'string' },
  minLength: { form: 'count', type: 'string' },
  pattern: { form: 'text', type: 'string' },
  contentEncoding: { form: 'text', type: 'string' },
  contentMaxBytes: { form: 'any', type: 'string' },
  minimum: { form: 'number', type: 'number' },
  maximum: { form: 'number', type: 'number' },
  exclusiveMinimum: { form: 'number', type: 'number' },
  exclusiveMaximum: { form: 'number', type: 'number' },
  multipleOf: { form: 'positive', type: 'number' },

  $comment: { form: 'text', isAnnotation: true },
  $schema: { form: 'text', isAnnotation: true },
  default: { form: 'any', isAnnotation: true, isData: true },
  deprecated: { form: 'boolean', isAnnotation: true },
  description: { form: 'text', isAnnotation: true },
  errorMessage: { form: 'any', isAnnotation: true },
  examples: { form: 'list', isAnnotation: true, isData: true },
  readOnly: { form: 'boolean', isAnnotation: true },
  title: { form: 'text', isAnnotation: true },
  writeOnly: { form: 'boolean', isAnnotation: true },
};

/** Keywords that the gateway adds to compiled schemas for itself. An author may not write them. */
export const INTERNAL_KEYWORDS = {
  cost: 'cost',
  evaluated: 'evaluated',
  exactNumbers: 'exact',
  hidden: 'hidden',
} as const;

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

/** The keywords that an author may write. */
export const KNOWN_KEYWORDS: readonly string[] = Object.keys(KEYWORDS);

const BY_NAME: ReadonlyMap<string, Keyword> = new Map(Object.entries(KEYWORDS));

/** Returns the form of a keyword's value; `undefined` if the keyword is unknown. */
export function formOf(keyword: string): KeywordForm | SchemaForm | undefined {
  const entry = BY_NAME.get(keyword);
  return entry?.holds === undefined ? entry?.form : SCHEMA_FORMS[entry.holds];
}

/** Returns the one type of values that a keyword validates; `undefined` if it validates values of every type. */
export function validatedType(keyword: string): ValueType | undefined {
  return BY_NAME.get(keyword)?.type;
}
