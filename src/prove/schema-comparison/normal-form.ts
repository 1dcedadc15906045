import { getOrCreate } from '../../engine/get-or-create.ts';
import { canonicalJson, charge } from '../../engine/schema/cost-budget.ts';
import { keywordsWith, SCHEMA_KEYWORDS } from '../../engine/schema/keywords.ts';
import type { SchemaRoot } from '../../engine/schema/schema-bundle.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { accepts, targetOf } from './evaluate-schema.ts';
import { distinct, sortedByText } from './json-value.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { isTrue, simplifyKeywords } from './normal-keywords.ts';
import { comparesNumbers } from './number-keywords.ts';
import { RecursiveSchemas } from './recursive-schemas.ts';
import { digest } from './schema-content.ts';

type Schema = Readonly<Record<string, unknown>>;
type Mutable = Record<string, unknown>;

/** The place of a schema that is normalized. */
interface NormalizationContext {
  readonly root: SchemaRoot;
  readonly recursive: RecursiveSchemas;
  /**
   * True inside of `not`, `if`, `contains` and branches. There the validator may stop early, and a value that it refuses may
   * still be valid. Its refusal of inexact numbers then depends on the order of the schemas, so the order is kept.
   */
  readonly isCondition: boolean;
  /** True if `unevaluatedProperties` or `unevaluatedItems` depends on the members and items that this schema names. */
  readonly keepsEvaluated: boolean;
  /** True for the schemas of members and items. There, a text stands for a recursive schema. */
  readonly isInside: boolean;
}

const REMOVED = new Set([...keywordsWith({ isAnnotation: true }), '$defs', 'definitions']);
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];
/** Keywords whose schemas decide a condition, or are branches. */
const CONDITIONS = new Set(['anyOf', 'contains', 'if', 'not', 'oneOf']);

/** Serializes the normal form of a schema, without annotations and with resolved references. Equal results accept the same values. */
export function normalizeSchema(root: SchemaRoot, schema: unknown): string {
  const recursive = getOrCreate(recursiveSchemas, root, () => new RecursiveSchemas(root));
  const context = { root, recursive, isCondition: false, isInside: false };
  const normalize = (target: unknown, keepsEvaluated: boolean) =>
    canonicalJson(normalizeNode(target, { ...context, keepsEvaluated }));
  recursive.prepare(schema, normalize);
  return normalize(schema, false);
}

const recursiveSchemas = new WeakMap<SchemaRoot, RecursiveSchemas>();

/** Returns the normal form: a schema in which texts stand for recursive and long ones. Two equal forms accept the same values. */
function normalizeNode(schema: unknown, context: NormalizationContext): unknown {
  if (!isMap(schema)) return schema;
  const { isCondition, keepsEvaluated, isInside } = context;
  const place = `${isCondition} ${keepsEvaluated} ${isInside}`;
  // Without this, references to references would be followed exponentially often.
  const known = getOrCreate(context.recursive.normalForms, schema, () => new Map());
  return getOrCreate(known, place, () => normalizeMap(schema, context));
}

function normalizeMap(schema: Schema, context: NormalizationContext): unknown {
  const own = ownKeywords(schema);
  const only = (context.keepsEvaluated ? undefined : doublyNegated(own)) ?? onlyPart(own);
  if (only !== undefined) return normalizeNode(only, context);
  const { $ref: reference, allOf = [], ...rest } = own;
  const keepsEvaluated = context.keepsEvaluated || UNEVALUATED.some((keyword) => keyword in rest);
  const isOrdered = context.isCondition && comparesNumbers(context.root, own);
  const inner = { ...context, keepsEvaluated };
  const target = typeof reference === 'string' ? [normalizeTarget(reference, inner)] : [];
  const parts = [...target, ...(allOf as unknown[]).map((part) => normalizeNode(part, inner))];
  const enumerated = keepsEvaluated || isOrdered ? undefined : acceptedEnum(own, context);
  if (enumerated !== undefined) return enumSchema(enumerated);
  const keywords = normalizeKeywords(rest, inner, isOrdered);
  if (keywords === false || parts.includes(false)) return isOrdered ? { ...rest, allOf: parts } : false;
  if (keepsEvaluated || isOrdered) return withParts(keywords, parts, isOrdered);
  const merged = mergeSchemas([keywords, ...parts]);
  const values = isMap(merged) && !hasStandIn(merged) ? acceptedEnum(merged, context) : undefined;
  return values === undefined ? merged : enumSchema(values);
}

/** Returns the schema that decides alone: the only branch, or that of a condition whose result is certain. */
function onlyPart({ anyOf, oneOf, if: condition, then = true, else: otherwise = true, ...rest }: Mutable): unknown {
  const lists = [anyOf, oneOf].filter((list) => list !== undefined);
  if (Object.keys(rest).length > 0) return undefined;
  if (condition === undefined) {
    const [list] = lists;
    return lists.length === 1 && Array.isArray(list) && list.length === 1 ? list[0] : undefined;
  }
  if (lists.length > 0) return undefined;
  if (isTrue(condition)) return then;
  return condition === false ? otherwise : undefined;
}

/** Returns the schema inside of two `not`. It validates the same value once, but evaluates no members or items for others. */
function doublyNegated(schema: Mutable): unknown {
  const { not: outer, ...others } = schema;
  if (!isMap(outer) || Object.keys(others).length > 0) return undefined;
  const { not: inner, ...rest } = ownKeywords(outer);
  return Object.keys(rest).length > 0 ? undefined : inner;
}

/** Follows a reference. A text stands for a recursive schema, which would never end. */
function normalizeTarget(reference: string, context: NormalizationContext): unknown {
  const { root, recursive, isInside, isCondition, keepsEvaluated } = context;
  if (!isInside || !recursive.isRecursive(reference)) return normalizeNode(targetOf(root, reference), context);
  const text = recursive.textOf(reference, keepsEvaluated);
  return { [STAND_IN]: isCondition ? `condition ${text}` : text };
}

/** Replaces a normal form by its digest if it is long: forms within forms would grow exponentially. */
function shortened(normal: unknown, maxCharacters: number): unknown {
  if (!isMap(normal)) return normal;
  const text = canonicalJson(normal);
  return text.length <= maxCharacters ? normal : { [STAND_IN]: digest(text) };
}

/** Longer schemas of members and items are shortened. */
const MAX_CHILD = 4_000;
/** Longer branches are shortened, which then take no part in simplifications. */
const MAX_BRANCH = 20_000;

/** True if a schema contains a text that stands for another one. */
function hasStandIn(schema: Schema): boolean {
  const text = JSON.stringify(schema);
  charge(text.length >> 4);
  return text.includes(`"${STAND_IN}":`);
}

/** The keyword of a text that stands for a schema. */
const STAND_IN = 'standsFor';

/** Returns a schema without annotations. */
function ownKeywords(schema: Schema): Mutable {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !REMOVED.has(keyword)));
}

/** Returns the values of an `enum` that the complete schema accepts: no other keyword can add one. */
function acceptedEnum(schema: Mutable, { root }: NormalizationContext): unknown[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values) || !values.every(isPlain)) return undefined;
  return sortedByText(distinct(values.filter((value) => accepts(root, schema, value))));
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
  return { ...keywords, allOf: isOrdered ? relevant : sortedByText(relevant) };
}

/** Normalizes all keywords but `allOf` and `$ref`. Returns `false` if they refuse every value. */
function normalizeKeywords(schema: Mutable, context: NormalizationContext, isOrdered: boolean): Schema | false {
  const child = { ...context, keepsEvaluated: false, isInside: true };
  const next: Mutable = { ...schema };
  for (const [keyword, { holds, appliesTo }] of SCHEMA_KEYWORDS) {
    if (!(keyword in next)) continue;
    const place = appliesTo === 'value' ? context : child;
    const inner = CONDITIONS.has(keyword) ? { ...place, isCondition: true } : place;
    const limit = appliesTo === 'value' ? MAX_BRANCH : MAX_CHILD;
    next[keyword] = mapInside(next[keyword], holds, (inside) => shortened(normalizeNode(inside, inner), limit));
  }
  return simplifyKeywords(next, { keepsEvaluated: context.keepsEvaluated, isOrdered });
}

/** Returns the value of a keyword with other schemas in it. */
function mapInside(value: unknown, holds: 'schema' | 'list' | 'map', change: (schema: unknown) => unknown): unknown {
  if (holds === 'schema') return change(value);
  if (holds === 'list') return Array.isArray(value) ? value.map(change) : value;
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, change(inside)]));
}
