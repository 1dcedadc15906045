import { canonicalJson } from '../plan/schema/canonical-json.ts';
import { keywordsWith } from '../plan/schema/keywords.ts';
import type { SchemaRoot } from '../plan/schema/schema-bundle.ts';
import { isMap } from '../plan/schema/schema-walk.ts';
import { accepts, targetOf } from './evaluate-schema.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { simplifyKeywords } from './normal-keywords.ts';
import { comparesNumbers } from './number-keywords.ts';
import type { RecursiveSchemas } from './recursive-schemas.ts';

type Schema = Readonly<Record<string, unknown>>;
type Mutable = Record<string, unknown>;

/** The place of a schema that is normalized. */
export interface NormalizationContext {
  readonly root: SchemaRoot;
  readonly recursive: RecursiveSchemas;
  /**
   * True inside of `not`, `if`, `contains` and branches. There the validator may stop early, and a value that it refuses may
   * still be valid. Its refusal of inexact numbers then depends on the order of the schemas, so the order is kept.
   */
  readonly isCondition: boolean;
  /** True if `unevaluatedProperties` or `unevaluatedItems` depends on the members and items that this schema names. */
  readonly keepsEvaluated: boolean;
}

const REMOVED = new Set([...keywordsWith({ isAnnotation: true }), '$defs', 'definitions']);
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];
/** Keywords with one schema for members, items or names. */
const SINGLE = ['additionalProperties', 'items', 'propertyNames', 'unevaluatedProperties', 'unevaluatedItems'];
const MAPS = ['properties', 'patternProperties'];

/** Returns the normal form of a schema, itself a schema. Two equal normal forms accept the same values. */
export function normalizeNode(schema: unknown, context: NormalizationContext): unknown {
  if (!isMap(schema)) return schema;
  const own = ownKeywords(schema);
  const { $ref: reference, allOf = [], ...rest } = own;
  const keepsEvaluated = context.keepsEvaluated || UNEVALUATED.some((keyword) => keyword in rest);
  const isOrdered = context.isCondition && comparesNumbers(context.root, own);
  const inner = { ...context, keepsEvaluated };
  const target = typeof reference === 'string' ? [targetOf(context.root, reference)] : [];
  const parts = [...target, ...(allOf as unknown[])].map((part) => normalizeNode(part, inner));
  const enumerated = keepsEvaluated || isOrdered ? undefined : acceptedEnum(own, context);
  if (enumerated !== undefined) return enumSchema(enumerated);
  const keywords = normalizeKeywords(rest, inner, isOrdered);
  if (keywords === false || parts.includes(false))
    return keepsEvaluated || isOrdered ? { ...rest, allOf: parts } : false;
  if (keepsEvaluated || isOrdered) return withParts(keywords, parts, isOrdered);
  const merged = mergeSchemas([keywords, ...parts]);
  const values = isMap(merged) && !isUnfolded(merged) ? acceptedEnum(merged, context) : undefined;
  return values === undefined ? merged : enumSchema(values);
}

/** True if a schema contains the text that stands for a recursive schema. */
function isUnfolded(schema: Schema): boolean {
  return JSON.stringify(schema).includes(RECURSIVE);
}

const RECURSIVE = '"recursive":';

/** Returns a schema without annotations. */
function ownKeywords(schema: Schema): Mutable {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !REMOVED.has(keyword)));
}

/** Returns the values of an `enum` that the complete schema accepts: no other keyword can add one. */
function acceptedEnum(schema: Mutable, { root }: NormalizationContext): unknown[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values) || !values.every(isPlain)) return undefined;
  const accepted = values.filter((value) => accepts(root, schema, value));
  return [...new Map(accepted.map((value) => [canonicalJson(value), value])).entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => value);
}

/** Returns the schema of listed values. The values of a type without others are the type itself. */
function enumSchema(values: readonly unknown[]): unknown {
  if (values.length === 0) return false;
  const text = canonicalJson(values);
  return text === '[null]' ? { type: 'null' } : text === '[false,true]' ? { type: 'boolean' } : { enum: values };
}

/** True for values without a number that the validator refuses as inexact. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return value === null || typeof value !== 'object' || Object.values(value).every(isPlain);
}

/** Adds the schemas of `allOf` without merging them. */
function withParts(keywords: Schema, parts: readonly unknown[], isOrdered: boolean): unknown {
  const relevant = isOrdered ? parts : parts.filter((part) => part !== true);
  if (relevant.length === 0) return keywords;
  if (relevant.length === 1 && Object.keys(keywords).length === 0) return relevant[0];
  return { ...keywords, allOf: isOrdered ? relevant : sorted(relevant) };
}

/** Normalizes all keywords but `allOf` and `$ref`. Returns `false` if they refuse every value. */
function normalizeKeywords(schema: Mutable, context: NormalizationContext, isOrdered: boolean): Schema | false {
  const child = { ...context, keepsEvaluated: false };
  const condition = { ...context, isCondition: true };
  const next: Mutable = { ...schema };
  for (const keyword of SINGLE) if (keyword in next) next[keyword] = normalizeChild(next[keyword], child);
  for (const keyword of MAPS) if (isMap(next[keyword])) next[keyword] = mapValues(next[keyword], child);
  if ('contains' in next) next['contains'] = normalizeChild(next['contains'], { ...child, isCondition: true });
  if (Array.isArray(next['prefixItems']))
    next['prefixItems'] = next['prefixItems'].map((inside) => normalizeChild(inside, child));
  if (isMap(next['dependentSchemas']))
    next['dependentSchemas'] = Object.fromEntries(
      Object.entries(next['dependentSchemas']).map(([name, inside]) => [name, normalizeNode(inside, context)]),
    );
  for (const keyword of ['if', 'not']) if (keyword in next) next[keyword] = normalizeNode(next[keyword], condition);
  for (const keyword of ['then', 'else']) if (keyword in next) next[keyword] = normalizeNode(next[keyword], context);
  for (const keyword of ['anyOf', 'oneOf'])
    if (Array.isArray(next[keyword])) next[keyword] = next[keyword].map((inside) => normalizeNode(inside, condition));
  return simplifyKeywords(next, { keepsEvaluated: context.keepsEvaluated, isOrdered });
}

function mapValues(schemas: Schema, context: NormalizationContext): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, inside]) => [name, normalizeChild(inside, context)]));
}

/** Normalizes a schema for members or items. A recursive one becomes the text that stands for it. */
function normalizeChild(schema: unknown, context: NormalizationContext): unknown {
  const reference = aliasOf(schema, context);
  return reference === undefined
    ? normalizeNode(schema, context)
    : { recursive: context.recursive.textOf(reference), isCondition: context.isCondition };
}

/** Returns the recursive reference that a schema consists of; `undefined` if it has other keywords. */
function aliasOf(schema: unknown, { root, recursive }: NormalizationContext): string | undefined {
  let reference: string | undefined;
  let current = schema;
  while (isMap(current)) {
    const entries = Object.entries(ownKeywords(current));
    const [[keyword, value] = []] = entries;
    if (entries.length !== 1) break;
    if (keyword === '$ref' && typeof value === 'string') {
      if (recursive.isRecursive(value)) reference = value;
      current = targetOf(root, value);
    } else if (keyword === 'allOf' && Array.isArray(value) && value.length === 1) [current] = value;
    else break;
  }
  return reference;
}

/** Sorts schemas by their text. */
function sorted(schemas: readonly unknown[]): unknown[] {
  return schemas
    .map((schema) => [canonicalJson(schema), schema] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, schema]) => schema);
}
