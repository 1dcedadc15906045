import { getOrCreate } from '../../engine/get-or-create.ts';
import { valueAt } from '../../engine/json-pointer.ts';
import { charge } from '../../engine/schema/cost-budget.ts';
import {
  CONST,
  CONTENT_ENCODING,
  CONTENT_MAX_BYTES,
  ENUM,
  MULTIPLE_OF,
  NUMBER_FORMATS,
  TEXT_FORMATS,
  UNIQUE_ITEMS,
} from '../../engine/schema/own-keywords.ts';
import { isMap, referencePath, type SchemaRoot } from '../../engine/schema/schema-walk.ts';
import { hasType, toList, toMap } from './json-value.ts';
import { matchesPattern } from './pattern-automaton.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The members and items that a schema has validated, for `unevaluatedProperties` and `unevaluatedItems`. */
interface Evaluated {
  readonly names: Set<string>;
  items: number;
}

/** True if a schema accepts a value. Interprets it, for thousands of values; the compiled validators confirm every result. */
export function accepts(root: SchemaRoot, schema: unknown, value: unknown): boolean {
  return evaluate(root, schema, value, nothingEvaluated());
}

function nothingEvaluated(): Evaluated {
  return { names: new Set(), items: 0 };
}

/** The cost to evaluate a schema without its subschemas, in the units of `charge`. */
const SCHEMA_COST = 20;

/** Adds to `evaluated` if the schema accepts the value. */
function evaluate(root: SchemaRoot, schema: unknown, value: unknown, evaluated: Evaluated): boolean {
  charge(SCHEMA_COST);
  if (!isMap(schema)) return schema !== false;
  const own = nothingEvaluated();
  const isValid =
    isScalarValid(schema, value) &&
    isInPlaceValid(root, schema, value, own) &&
    (!isMap(value) || areMembersValid(root, schema, value, own)) &&
    (!Array.isArray(value) || areItemsValid(root, schema, value, own));
  if (!isValid) return false;
  for (const name of own.names) evaluated.names.add(name);
  evaluated.items = Math.max(evaluated.items, own.items);
  return true;
}

function isScalarValid(schema: Schema, value: unknown): boolean {
  const { type, enum: values, const: constant } = schema;
  if (type !== undefined && ![type].flat().some((name) => hasType(value, String(name)))) return false;
  if (Array.isArray(values) && !getOrCreate(compiledEnums, values, ENUM.compile)(value)) return false;
  if ('const' in schema && !CONST.compile(constant)(value)) return false;
  if (typeof value === 'string') return isTextValid(schema, value);
  return typeof value !== 'number' || isNumberValid(schema, value);
}

const compiledEnums = new WeakMap<readonly unknown[], (value: unknown) => boolean>();

function isTextValid(
  { minLength, maxLength, pattern, format, contentEncoding, contentMaxBytes }: Schema,
  text: string,
) {
  if (typeof minLength === 'number' && lengthOf(text) < minLength) return false;
  if (typeof maxLength === 'number' && lengthOf(text) > maxLength) return false;
  if (typeof pattern === 'string' && !matchesPattern(pattern, text)) return false;
  if (typeof format === 'string' && TEXT_FORMATS[format]?.(text) === false) return false;
  if (typeof contentEncoding === 'string' && !CONTENT_ENCODING.validate(contentEncoding, text)) return false;
  return typeof contentMaxBytes !== 'string' || CONTENT_MAX_BYTES.compile(contentMaxBytes)(text);
}

/** Counts code points, as `maxLength` does. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

function isNumberValid(schema: Schema, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = schema;
  if (typeof minimum === 'number' && value < minimum) return false;
  if (typeof maximum === 'number' && value > maximum) return false;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return false;
  if (typeof multipleOf === 'number' && !MULTIPLE_OF.compile(multipleOf)(value)) return false;
  return typeof format !== 'string' || NUMBER_FORMATS[format]?.(value) !== false;
}

function isInPlaceValid(root: SchemaRoot, schema: Schema, value: unknown, own: Evaluated): boolean {
  const { $ref: reference, allOf, anyOf, oneOf, not, if: condition, then, else: otherwise, dependentSchemas } = schema;
  const valid = (inside: unknown) => evaluate(root, inside, value, own);
  if (typeof reference === 'string' && !valid(targetOf(root, reference))) return false;
  if (Array.isArray(allOf) && !allOf.every(valid)) return false;
  // Every valid branch counts as evaluated, so all of them run.
  if (Array.isArray(anyOf) && anyOf.filter(valid).length === 0) return false;
  if (Array.isArray(oneOf) && oneOf.filter(valid).length !== 1) return false;
  if ('not' in schema && evaluate(root, not, value, nothingEvaluated())) return false;
  if ('if' in schema) {
    const branch = valid(condition) ? then : otherwise;
    if (branch !== undefined && !valid(branch)) return false;
  }
  if (!isMap(dependentSchemas) || !isMap(value)) return true;
  return Object.entries(dependentSchemas).every(([name, inside]) => !Object.hasOwn(value, name) || valid(inside));
}

export function targetOf(root: SchemaRoot, reference: string): unknown {
  const path = referencePath(reference);
  return path === undefined ? true : valueAt(root, path);
}

function areMembersValid(root: SchemaRoot, schema: Schema, value: Readonly<Record<string, unknown>>, own: Evaluated) {
  const { required, minProperties, maxProperties, propertyNames, dependentRequired, unevaluatedProperties } = schema;
  const names = Object.keys(value);
  const has = (name: unknown) => Object.hasOwn(value, String(name));
  if (Array.isArray(required) && !required.every(has)) return false;
  if (typeof minProperties === 'number' && names.length < minProperties) return false;
  if (typeof maxProperties === 'number' && names.length > maxProperties) return false;
  if ('propertyNames' in schema && !names.every((name) => accepts(root, propertyNames, name))) return false;
  for (const [name, needed] of Object.entries(toMap(dependentRequired)))
    if (has(name) && Array.isArray(needed) && !needed.every(has)) return false;
  for (const name of names)
    for (const inside of memberSchemas(schema, name)) {
      if (!accepts(root, inside, value[name])) return false;
      own.names.add(name);
    }
  if (!('unevaluatedProperties' in schema)) return true;
  const rest = names.filter((name) => !own.names.has(name));
  for (const name of rest) own.names.add(name);
  return rest.every((name) => accepts(root, unevaluatedProperties, value[name]));
}

/** Returns the schemas of a member: its own, those of matching patterns, or that of all other members. */
export function memberSchemas(schema: Schema, name: string): unknown[] {
  const { properties, patternProperties, additionalProperties } = schema;
  const found: unknown[] = [];
  if (isMap(properties) && Object.hasOwn(properties, name)) found.push(properties[name]);
  for (const [pattern, inside] of Object.entries(toMap(patternProperties)))
    if (matchesPattern(pattern, name)) found.push(inside);
  if (found.length === 0 && 'additionalProperties' in schema) found.push(additionalProperties);
  return found;
}

function areItemsValid(root: SchemaRoot, schema: Schema, value: readonly unknown[], own: Evaluated): boolean {
  const { prefixItems, items, minItems, maxItems, uniqueItems, contains, minContains, maxContains } = schema;
  if (typeof minItems === 'number' && value.length < minItems) return false;
  if (typeof maxItems === 'number' && value.length > maxItems) return false;
  if (uniqueItems === true && !UNIQUE_ITEMS.validate(true, value)) return false;
  if (!value.every((item, index) => accepts(root, itemSchema(schema, index), item))) return false;
  own.items = Math.max(own.items, items === undefined ? toList(prefixItems).length : Number.POSITIVE_INFINITY);
  if ('contains' in schema) {
    const count = value.filter((item) => accepts(root, contains, item)).length;
    if (count < (typeof minContains === 'number' ? minContains : 1)) return false;
    if (typeof maxContains === 'number' && count > maxContains) return false;
  }
  if (!('unevaluatedItems' in schema)) return true;
  const rest = value.slice(Math.min(own.items, value.length));
  own.items = Number.POSITIVE_INFINITY;
  return rest.every((item) => accepts(root, schema['unevaluatedItems'], item));
}

export function itemSchema({ prefixItems, items = true }: Schema, index: number): unknown {
  return Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : items;
}
