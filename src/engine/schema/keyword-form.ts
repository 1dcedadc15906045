import { didYouMean } from '../problem/did-you-mean.ts';
import type { Path } from '../problem/finding.ts';
import { formOf, type KeywordForm, type SchemaForm } from './keywords.ts';
import { isMap, isSchema } from './schema-walk.ts';

/** An error in a keyword's value: a path inside of the value, and a message. */
export interface FormError {
  readonly inside: Path;
  readonly message: string;
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const NOT_SCHEMA = 'this is not a schema; write a map such as { type: string }, true or false';

/** Returns the errors in the value of a keyword by the rules of JSON Schema 2020-12. Schemas inside of it are not checked. */
export function formErrors(keyword: string, value: unknown): readonly FormError[] {
  const form = formOf(keyword);
  return form === undefined ? NONE : CHECKS[form](value, keyword);
}

/** Shared, because almost every keyword has no errors. */
const NONE: readonly FormError[] = [];

type Check = (value: unknown, keyword: string) => readonly FormError[];

const CHECKS: Readonly<Record<KeywordForm | SchemaForm, Check>> = {
  any: () => NONE,
  boolean: (value, keyword) =>
    errorUnless(typeof value === 'boolean', `"${keyword}" is not true or false; write one of them, without quotes`),
  count: (value, keyword) =>
    errorUnless(
      isNumber(value) && Number.isInteger(value) && value >= 0,
      `"${keyword}" is not a whole number of 0 or more; write one, without quotes`,
    ),
  list: (value, keyword) => errorUnless(Array.isArray(value), `"${keyword}" is not a list; write one in [...]`),
  names: nameErrors,
  'names by name': (value, keyword) =>
    memberErrors(value, `"${keyword}" is not a map; write lists of names, by name`, (names) =>
      nameErrors(names, keyword),
    ),
  number: (value, keyword) => errorUnless(isNumber(value), describeNumber(value, keyword)),
  positive: (value, keyword) =>
    errorUnless(isNumber(value) && value > 0, `"${keyword}" is not a number above 0; write one, without quotes`),
  text: (value, keyword) => errorUnless(typeof value === 'string', `"${keyword}" is not a string; write it in quotes`),
  types: typeErrors,
  values: (value, keyword) =>
    errorUnless(
      Array.isArray(value) && value.length > 0,
      `"${keyword}" is not a list with at least one value; list the allowed values in [...]`,
    ),
  schema: (value, keyword) =>
    keyword === 'items' && Array.isArray(value)
      ? [errorOf('"items" is one schema for all items; write "prefixItems" for a list of schemas')]
      : schemaErrors(value),
  schemas: (value, keyword) =>
    Array.isArray(value) && value.length > 0
      ? value.flatMap((schema, index) => within(index, schemaErrors(schema)))
      : [errorOf(`"${keyword}" is not a list with at least one schema; list schemas in [...]`)],
  'schemas by name': (value, keyword) =>
    memberErrors(value, `"${keyword}" is not a map; write schemas by name`, schemaErrors),
};

function errorUnless(isValid: boolean, message: string): readonly FormError[] {
  return isValid ? NONE : [errorOf(message)];
}

function schemaErrors(value: unknown): readonly FormError[] {
  return errorUnless(isSchema(value), NOT_SCHEMA);
}

function memberErrors(value: unknown, message: string, errorsOf: (member: unknown) => readonly FormError[]) {
  if (!isMap(value)) return [errorOf(message)];
  return Object.entries(value).flatMap(([name, member]) => within(name, errorsOf(member)));
}

function nameErrors(value: unknown, keyword: string): readonly FormError[] {
  if (typeof value === 'boolean')
    return [errorOf(`"${keyword}" is not true or false; list the names of required members beside "properties"`)];
  if (!Array.isArray(value)) return [errorOf(`"${keyword}" is not a list of names; write one in [...]`)];
  return value.flatMap((name, index) => {
    if (typeof name !== 'string') return within(index, [errorOf('this name is not a string; write it in quotes')]);
    if (value.indexOf(name) === index) return NONE;
    return within(index, [errorOf(`"${name}" is listed twice; remove one of them`)]);
  });
}

function typeErrors(value: unknown): readonly FormError[] {
  if (!Array.isArray(value)) return isType(value) ? NONE : [errorOf(describeType(value))];
  if (value.length === 0) return [errorOf('"type" lists no type; write at least one')];
  return value.flatMap((type, index) => {
    if (!isType(type)) return within(index, [errorOf(describeType(type))]);
    if (value.indexOf(type) === index) return NONE;
    return within(index, [errorOf(`"${type}" is listed twice; remove one of them`)]);
  });
}

function isType(value: unknown): boolean {
  return typeof value === 'string' && TYPES.includes(value);
}

function describeType(value: unknown): string {
  if (value === null) return "this is not a type; write 'null' in quotes";
  if (typeof value !== 'string') return `this is not a type; write one of: ${TYPES.join(', ')}`;
  const near = didYouMean(value, TYPES);
  return `"${value}" is not a type; ${near === undefined ? `write one of: ${TYPES.join(', ')}` : `did you mean "${near}"?`}`;
}

function describeNumber(value: unknown, keyword: string): string {
  if (typeof value === 'boolean' && keyword.startsWith('exclusive'))
    return `"${keyword}" is the bound itself; write ${keyword}: and the number of "${keyword.slice(9).toLowerCase()}"`;
  return `"${keyword}" is not a number; write one, without quotes`;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function errorOf(message: string): FormError {
  return { inside: [], message };
}

function within(step: string | number, errors: readonly FormError[]): readonly FormError[] {
  if (errors.length === 0) return NONE;
  return errors.map(({ inside, message }) => ({ inside: [step, ...inside], message }));
}
