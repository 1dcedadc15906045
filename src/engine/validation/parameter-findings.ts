import { valueAt } from '../json-pointer.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { validatedType } from '../schema/keywords.ts';
import { NUMBER_FORMATS } from '../schema/own-keywords.ts';
import { inPlaceSchemasOf, isMap, type LocatedSchema, type SchemaRoot, schemasInPlace } from '../schema/schema-walk.ts';
import type { ParameterValidator } from './request-rules.ts';

const RULE = 'parameters';
const REFUSED = 'so every request with this parameter is refused';

export interface Parameter {
  readonly kind: 'headers' | 'params' | 'query';
  readonly path: Path;
  readonly types: ReadonlySet<string>;
  readonly isRequired: boolean;
  readonly validate: ParameterValidator;
}

/** Finds the schema of a parameter that refuses every text, and keywords in it that never apply to a text. */
export function* parameterFindings(root: SchemaRoot, parameter: Parameter): Generator<Finding> {
  const { path, kind, isRequired } = parameter;
  const schema = valueAt(root, path);
  const types = possibleTypes(root, path, parameter.types);
  // `false` states plainly that the query or the head may not have the parameter.
  if (schema === false && kind !== 'params' && !isRequired) return;
  // Every value must satisfy its own schema, and those of `$ref` and `allOf`.
  const schemas = schemasInPlace(root, path, (keyword) => keyword === '$ref' || keyword === 'allOf');
  const refusal =
    (types.size === 0 ? typeRefusal(schema) : undefined) ??
    refusedValues(schemas, parameter) ??
    (types.size === 1 ? emptyRange(schemas, types, kind) : undefined);
  if (refusal === undefined) {
    const inline = schemasInPlace(root, path, (keyword) => keyword !== '$ref');
    yield* idleKeywords(inline, types);
  } else {
    const hasKeyword = isMap(schema) && Object.hasOwn(schema, refusal.keyword);
    yield errorAt(hasKeyword ? [...path, refusal.keyword] : path, RULE, refusal.message);
  }
}

/** The reason why a schema refuses every text, and the keyword that is the reason. */
interface TextRefusal {
  readonly keyword: string;
  readonly message: string;
}

function typeRefusal(schema: unknown): TextRefusal {
  const types = isMap(schema) ? [schema['type'] ?? []].flat().map(String) : [];
  const isType =
    types.length > 0 && !types.some((type) => type === 'integer' || TEXT_TYPES.some((text) => text === type));
  const reason = isType
    ? `a parameter is a text, never ${types.map(withArticle).join(' or ')}`
    : 'no text satisfies this schema';
  const keywords = isType ? ['type'] : ['const', 'enum', 'not', '$ref', 'allOf', 'anyOf', 'oneOf'];
  const keyword = keywords.find((name) => isMap(schema) && Object.hasOwn(schema, name)) ?? '';
  return { keyword, message: `${reason}, ${REFUSED}; write a schema of type string, integer, number or boolean` };
}

/** Tries each allowed value, if the schema lists them. */
function refusedValues(schemas: readonly LocatedSchema[], { kind, validate }: Parameter): TextRefusal | undefined {
  for (const { schema } of schemas) {
    const keyword = Object.hasOwn(schema, 'const') ? 'const' : 'enum';
    const values = keyword === 'const' ? [schema['const']] : schema['enum'];
    if (!Array.isArray(values)) continue;
    const texts = values.filter((value) => value !== null && typeof value !== 'object').map(String);
    // A path has no empty segments.
    const isPossible = (text: string) => (text !== '' || kind !== 'params') && validate(text, '').length === 0;
    if (texts.some(isPossible)) return undefined;
    return {
      keyword,
      message: `no value of "${keyword}" is a valid text here, ${REFUSED}; correct the values, or the other keywords`,
    };
  }
  return undefined;
}

/** Compares the bounds of lengths, or those of numbers. */
function emptyRange(schemas: readonly LocatedSchema[], types: ReadonlySet<string>, kind: Parameter['kind']) {
  const numbers = (keyword: string) => numbersOf(schemas, keyword);
  if (types.has('string')) {
    const least = Math.max(kind === 'params' ? 1 : 0, ...numbers('minLength'));
    return least > Math.min(...numbers('maxLength')) ? outOfBounds('text', 'maxLength') : undefined;
  }
  if (!types.has('number')) return undefined;
  const least = Math.max(...numbers('minimum'));
  const most = Math.min(...numbers('maximum'));
  const above = Math.max(...numbers('exclusiveMinimum'));
  const below = Math.min(...numbers('exclusiveMaximum'));
  const isInteger = schemas.some(({ schema }) => schema['type'] === 'integer');
  const isEmpty = isInteger
    ? Math.max(Math.ceil(least), Math.floor(above) + 1) > Math.min(Math.floor(most), Math.ceil(below) - 1)
    : least > most || above >= below || least >= below || above >= most;
  const hasMultiple = numbers('multipleOf').every((unit) => {
    const isExact = [unit, least, most].every(Number.isSafeInteger);
    return !isExact || Math.ceil(least / unit) * unit <= most;
  });
  if (!isEmpty && hasMultiple) return undefined;
  return outOfBounds(isInteger ? 'integer' : 'number', numbers('maximum').length > 0 ? 'maximum' : 'exclusiveMaximum');
}

function numbersOf(schemas: readonly LocatedSchema[], keyword: string): readonly number[] {
  return schemas.map(({ schema }) => schema[keyword]).filter((value) => typeof value === 'number');
}

function outOfBounds(noun: string, keyword: string): TextRefusal {
  return { keyword, message: `no ${noun} is within the bounds, ${REFUSED}; correct one of them` };
}

/** Finds keywords for types that the value of the parameter never has. */
function* idleKeywords(schemas: readonly LocatedSchema[], types: ReadonlySet<string>): Generator<Finding> {
  for (const { schema, at } of schemas) {
    // Keywords beside "type" are checked against it.
    if (schema['type'] !== undefined) continue;
    for (const [keyword, value] of Object.entries(schema)) {
      const isNumberFormat = keyword === 'format' && Object.hasOwn(NUMBER_FORMATS, String(value));
      const type = isNumberFormat ? 'number' : validatedType(keyword);
      if (type === undefined || types.has(type)) continue;
      const fix = type === 'number' ? 'add type: integer or type: number' : 'remove it';
      const message = `"${keyword}" validates nothing, because this parameter is never ${withArticle(type)}; ${fix}`;
      yield errorAtKey([...at, keyword], RULE, message);
    }
  }
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** The JSON types that a text can have. */
type TextType = 'boolean' | 'number' | 'string';

const TEXT_TYPES: readonly TextType[] = ['boolean', 'number', 'string'];

/** Returns the JSON types that valid values of a parameter may have, or too many; empty if no text is valid. */
function possibleTypes(root: SchemaRoot, path: Path, named: ReadonlySet<string>): ReadonlySet<string> {
  const isParsed = (type: TextType) =>
    type === 'string' || named.has(type) || (type === 'number' && named.has('integer'));
  return new Set([...acceptedTypes(root, path)].filter(isParsed));
}

function acceptedTypes(root: SchemaRoot, path: Path): ReadonlySet<TextType> {
  const schema = valueAt(root, path);
  if (!isMap(schema)) return new Set(schema === false ? [] : TEXT_TYPES);
  const types = new Set(TEXT_TYPES.filter((type) => allows(schema, type)));
  const keep = (accepted: ReadonlySet<TextType>) => {
    for (const type of types) if (!accepted.has(type)) types.delete(type);
  };
  const inPlace = inPlaceSchemasOf(root, path);
  if (inPlace.length === 0) return types;
  for (const group of ['anyOf', 'oneOf'] as const) {
    const branches = inPlace.filter(({ keyword }) => keyword === group);
    if (branches.length > 0) keep(new Set(branches.flatMap((branch) => [...acceptedTypes(root, branch.path)])));
  }
  for (const { keyword, path: at } of inPlace)
    if (keyword === '$ref' || keyword === 'allOf') keep(acceptedTypes(root, at));
  return types;
}

function allows(schema: Record<string, unknown>, type: TextType): boolean {
  const { type: named, enum: values, not } = schema;
  const names = [named ?? []].flat();
  const isNamed = names.length === 0 || names.includes(type) || (type === 'number' && names.includes('integer'));
  const isListed = !Array.isArray(values) || values.some((value) => typeof value === type);
  const isConst = !Object.hasOwn(schema, 'const') || typeof schema['const'] === type;
  return isNamed && isListed && isConst && !excludes(not, type);
}

/** True if `not` excludes every value of a type. */
function excludes(not: unknown, type: TextType): boolean {
  if (!isMap(not)) return not === true;
  const keywords = Object.keys(not);
  return keywords.length === 0 || (keywords.length === 1 && [not['type']].flat().includes(type));
}
