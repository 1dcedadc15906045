import { getOrCreate } from '../get-or-create.ts';
import { didYouMean, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { patternError } from './ajv-validator.ts';
import { type FormError, formErrors } from './keyword-form.ts';
import { formOf, KNOWN_KEYWORDS } from './keywords.ts';
import {
  isMap,
  isSchema,
  type LocatedSchema,
  leadsToSchema,
  referencePath,
  type SchemaRoot,
  schemasInPlace,
} from './schema-walk.ts';

const RULE = 'body-schema';
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Returns the mistakes in schemas: everything that keeps them from compiling, except in schemas that they refer to. */
export function schemaFindings(root: SchemaRoot, schemas: readonly LocatedSchema[]): Finding[] {
  const findings: Finding[] = [];
  for (const { schema, at } of schemas) {
    const keywords = Object.keys(schema);
    if (keywords.some((keyword) => DEPENDENT.has(keyword))) findings.push(...dependentKeywordFindings(schema, at));
    for (const keyword of keywords) {
      const value = schema[keyword];
      const unsupported = unsupportedKeywordMessage(keyword);
      if (unsupported !== undefined) findings.push(errorAtKey([...at, keyword], RULE, unsupported));
      else if (INSPECTED.has(keyword)) findings.push(...keywordFindings(root, keyword, value, [...at, keyword]));
      else for (const error of formErrors(keyword, value)) findings.push(formFinding(error, [...at, keyword]));
    }
  }
  return findings;
}

/** Keywords with mistakes other than a value of another form. */
const INSPECTED = new Set(['patternProperties', 'errorMessage', 'pattern', '$ref', '$schema']);
const DEPENDENT = new Set(['if', 'then', 'else', 'contains', 'minContains', 'maxContains']);

function formFinding({ inside, message }: FormError, at: Path): Finding {
  return errorAt([...at, ...inside], RULE, message);
}

function* keywordFindings(root: SchemaRoot, key: string, value: unknown, at: Path): Generator<Finding> {
  for (const error of formErrors(key, value)) yield formFinding(error, at);
  if (key === 'patternProperties' && isMap(value))
    for (const name of Object.keys(value)) yield* patternFindings(root, name, [...at, name], errorAtKey);
  if (key === 'errorMessage' && typeof value !== 'string')
    yield errorAt(at, RULE, 'this is not a string; write a message for clients');
  if (typeof value !== 'string') return;
  if (key === 'pattern') yield* patternFindings(root, value, at, errorAt);
  if (key === '$ref') yield* referenceFindings(root, value, at);
  if (key === '$schema' && value !== DIALECT)
    yield errorAt(at, RULE, `this dialect is not supported; write ${DIALECT}, or remove "$schema"`);
}

/** Finds keywords that have no effect without another one. */
function* dependentKeywordFindings(schema: Record<string, unknown>, at: Path): Generator<Finding> {
  const has = (keyword: string) => Object.hasOwn(schema, keyword);
  const idle = (keyword: string, message: string) => errorAtKey([...at, keyword], RULE, message);
  for (const keyword of ['then', 'else'])
    if (has(keyword) && !has('if'))
      yield idle(keyword, `"${keyword}" validates nothing without "if"; add "if", or remove it`);
  if (has('if') && !has('then') && !has('else'))
    yield idle('if', '"if" validates nothing without "then" and "else"; add one of them');
  for (const keyword of ['minContains', 'maxContains'])
    if (has(keyword) && !has('contains'))
      yield idle(keyword, `"${keyword}" validates nothing without "contains"; add "contains"`);
  if (!has('contains')) return;
  if (schema['minContains'] === 0 && !has('maxContains'))
    yield idle('minContains', '"contains" validates nothing with minContains: 0 alone; add "maxContains"');
  const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
  const isEmpty = typeof minContains === 'number' && typeof maxContains === 'number' && minContains > maxContains;
  const message = `no list satisfies minContains ${minContains} and maxContains ${maxContains}; correct one of them`;
  if (isEmpty) yield errorAt([...at, 'maxContains'], RULE, message);
}

/** The valid patterns of each root: thousands of schemas may have the same one, and checking it takes time. */
const validPatterns = new WeakMap<SchemaRoot, Set<string>>();

function* patternFindings(root: SchemaRoot, pattern: string, path: Path, error: typeof errorAt): Generator<Finding> {
  const valid = getOrCreate(validPatterns, root, () => new Set());
  if (valid.has(pattern)) return;
  const reason = patternError(pattern);
  if (reason === undefined) valid.add(pattern);
  else yield error(path, RULE, `this pattern is not supported: ${reason}`);
}

/** The names of the shared schemas of each root: thousands of references may be unknown. */
const schemaNames = new WeakMap<SchemaRoot, string[]>();

function* referenceFindings(root: SchemaRoot, reference: string, path: Path): Generator<Finding> {
  const [first, name, ...rest] = referencePath(reference) ?? [];
  // References to files are checked when the files are read.
  if (first === 'files') return;
  if (first !== 'schemas' || name === undefined) {
    // OpenAPI has its schemas in #/components/schemas, and JSON Schema in #/$defs.
    const meant = /[^#/]*$/.exec(reference)?.[0] ?? '';
    const remedy = Object.hasOwn(root.schemas, meant)
      ? `write #/schemas/${meant}`
      : 'write #/schemas/ and a name, or the relative path of a file';
    yield errorAt(path, RULE, `"${reference}" refers to something outside of "schemas"; ${remedy}`);
  } else if (!Object.hasOwn(root.schemas, name))
    yield errorAt(
      path,
      RULE,
      `no schema is named "${name}"${suggestion(
        name,
        getOrCreate(schemaNames, root, ({ schemas }) => Object.keys(schemas)),
      )}`,
    );
  else if (isSchema(root.schemas[name]) && !leadsToSchema(root.schemas[name], rest))
    yield errorAt(
      path,
      RULE,
      `the schema "${name}" has nothing at "${reference}"; write #/schemas/ and a name, or a path to a schema inside of it`,
    );
}

const REFERENCE = 'is not supported; remove it, and refer to a schema as #/schemas/ and its name';
const FORMAT_RANGE = 'is not a keyword of JSON Schema; remove it, and limit the text with "pattern"';

/** Keywords of other drafts, of OpenAPI and of other validators, with the message for each. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  $anchor: REFERENCE,
  $dynamicAnchor: REFERENCE,
  $dynamicRef: REFERENCE,
  $id: REFERENCE,
  $recursiveAnchor: REFERENCE,
  $recursiveRef: REFERENCE,
  id: REFERENCE,
  // Such a schema validates asynchronously: every body would already have passed.
  $async: 'is not a keyword of JSON Schema; remove it',
  $vocabulary: 'is not supported; remove it',
  contentMediaType: 'validates nothing; remove it',
  contentSchema: 'validates nothing; remove it',
  nullable: "is not a keyword of JSON Schema; add 'null' to \"type\", as in type: [string, 'null']",
  dependencies:
    'is not a keyword of JSON Schema 2020-12; write dependentRequired for names, dependentSchemas for schemas',
  additionalItems: 'is not a keyword of JSON Schema 2020-12; write prefixItems for the list, and items for the rest',
  discriminator: 'is not a keyword of JSON Schema; remove it, and give the member a const in each schema of oneOf',
  divisibleBy: 'is not a keyword of JSON Schema 2020-12; write multipleOf',
  extends: 'is not a keyword of JSON Schema 2020-12; write allOf',
  disallow: 'is not a keyword of JSON Schema 2020-12; write not',
  example: 'is not a keyword of JSON Schema; write examples, with a list',
  externalDocs: 'is not a keyword of JSON Schema; remove it',
  xml: 'is not a keyword of JSON Schema; remove it',
  min: 'is not a keyword of JSON Schema; write minimum for a number, minLength for a text, minItems for a list',
  max: 'is not a keyword of JSON Schema; write maximum for a number, maxLength for a text, maxItems for a list',
  formatMinimum: FORMAT_RANGE,
  formatMaximum: FORMAT_RANGE,
  formatExclusiveMinimum: FORMAT_RANGE,
  formatExclusiveMaximum: FORMAT_RANGE,
};

/** Returns the message for a keyword that a schema may not have; `undefined` if it is supported. */
function unsupportedKeywordMessage(keyword: string): string | undefined {
  if (formOf(keyword) !== undefined) return undefined;
  if (Object.hasOwn(UNSUPPORTED, keyword)) return `"${keyword}" ${UNSUPPORTED[keyword]}`;
  const near = didYouMean(keyword, KNOWN_KEYWORDS);
  const fix = near === undefined ? 'remove it' : `did you mean "${near}"?`;
  return `"${keyword}" is not a keyword of JSON Schema; ${fix}`;
}

const UNEVALUATED = ['unevaluatedItems', 'unevaluatedProperties'] as const;

/** Finds unevaluated keywords in these schemas for which ajv forgets what others evaluated, and then accepts or refuses wrong values. */
export function unevaluatedFindings(root: SchemaRoot, located: readonly LocatedSchema[]): Finding[] {
  const findings: Finding[] = [];
  for (const { schema, at } of located)
    for (const key of UNEVALUATED)
      if (Object.hasOwn(schema, key)) findings.push(...unevaluatedKeywordFindings(root, key, schema[key], at));
  return findings;
}

function* unevaluatedKeywordFindings(root: SchemaRoot, key: string, value: unknown, path: Path): Generator<Finding> {
  const schemas = schemasInPlace(root, path, () => true).map(({ schema }) => schema);
  const at = [...path, key];
  const wrong = `"${key}" is not validated correctly`;
  const isHalf = (schema: Record<string, unknown>) =>
    Object.hasOwn(schema, 'if') && (isEmpty(schema['then']) || isEmpty(schema['else']));
  if (schemas.some(isHalf))
    yield errorAtKey(at, RULE, `${wrong} beside an "if" without a non-empty "then" and "else"; write both`);
  if (key === 'unevaluatedProperties') return;
  if (typeof value !== 'boolean') yield errorAtKey(at, RULE, `${wrong} with a schema; write false, or "items"`);
  if (schemas.some((schema) => Object.hasOwn(schema, 'contains')))
    yield errorAtKey(at, RULE, `${wrong} beside "contains"; write "items"`);
}

function isEmpty(schema: unknown): boolean {
  return schema === undefined || schema === true || (isMap(schema) && Object.keys(schema).length === 0);
}
