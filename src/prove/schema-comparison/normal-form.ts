import { getOrCreate } from '../../engine/get-or-create.ts';
import { canonicalJson, charge } from '../../engine/schema/cost-budget.ts';
import { keywordsWith, SCHEMA_KEYWORDS } from '../../engine/schema/keywords.ts';
import { containsNumber, NUMBER_FORMATS } from '../../engine/schema/own-keywords.ts';
import { isMap, type SchemaRoot } from '../../engine/schema/schema-walk.ts';
import { accepts, targetOf } from './evaluate-schema.ts';
import { distinct, sortedByText } from './json-value.ts';
import { conjunctionOf, constraintsOf } from './schema-constraints.ts';
import { digest, keywordsOf, oncePerReference, referencesFrom, referencesIn } from './schema-content.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The place of a schema that is normalized. */
interface Place {
  readonly root: SchemaRoot;
  /**
   * True inside of `not`, `if`, `contains` and branches. There the validator may stop early, and a value that it refuses may
   * still be valid. Its refusal of inexact numbers then depends on the order of the schemas, so schemas that compare numbers
   * keep it.
   */
  readonly isCondition: boolean;
  /** True if a schema around this one depends on the members and items that this one names. */
  readonly isExact: boolean;
}

const REMOVED = new Set([...keywordsWith({ isAnnotation: true }), '$defs', 'definitions']);
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];
const BRANCHES = ['anyOf', 'oneOf'];
/** Keywords whose schemas decide a condition, or are branches. */
const CONDITIONS = new Set([...BRANCHES, 'contains', 'if', 'not']);

/** Serializes the normal form of a schema, without annotations and with resolved references. Equal results accept the same values. */
export function normalizeSchema(root: SchemaRoot, schema: unknown): string {
  return canonicalJson(formOf(schema, { root, isCondition: false, isExact: false }));
}

const knownForms = new WeakMap<SchemaRoot, WeakMap<object, Map<string, unknown>>>();

/** Returns the normal form: a schema in which digests stand for recursive and long ones. */
function formOf(schema: unknown, place: Place): unknown {
  if (!isMap(schema)) return schema;
  // Without this, references to references would be followed exponentially often.
  const ofRoot = getOrCreate(knownForms, place.root, () => new WeakMap<object, Map<string, unknown>>());
  const known = getOrCreate(ofRoot, schema, () => new Map());
  return getOrCreate(known, `${place.isCondition} ${place.isExact}`, () => createForm(schema, place));
}

function createForm(schema: Schema, place: Place): unknown {
  const { root, isCondition } = place;
  const own = ownKeywords(schema);
  const isOrdered = (isCondition || BRANCHES.some((keyword) => keyword in own)) && comparesNumbers(root, own);
  const isExact = place.isExact || (isCondition && isOrdered) || UNEVALUATED.some((keyword) => keyword in own);
  const values = isExact ? undefined : acceptedValues(own, root);
  if (values !== undefined) return conjunctionOf(constraintsOf({ enum: values }, isOrdered));
  const { $ref: reference, ...forms } = withForms(own, (inside, keyword, appliesTo) => {
    const form = formOf(inside, {
      root,
      isCondition: isCondition || CONDITIONS.has(keyword),
      isExact: isExact && appliesTo === 'value',
    });
    return shortened(form, appliesTo === 'value' ? MAX_BRANCH : MAX_CHILD);
  });
  if (typeof reference !== 'string') return isExact ? forms : conjunctionOf(constraintsOf(forms, isOrdered));
  const target = isRecursive(root, reference)
    ? { [STAND_IN]: recursionDigest(root, reference) }
    : formOf(targetOf(root, reference), { ...place, isExact });
  if (Object.keys(forms).length === 0) return target;
  const all = { ...forms, allOf: [target, ...((forms['allOf'] as unknown[] | undefined) ?? [])] };
  return isExact ? all : conjunctionOf(constraintsOf(all, isOrdered));
}

/** Returns a schema without annotations, and with sorted lists of values. */
function ownKeywords(schema: Schema): Schema {
  const own = Object.entries(schema).filter(([keyword]) => !REMOVED.has(keyword));
  const sorted = own.map(([keyword, value]) => {
    if (!SORTED.has(keyword) || !Array.isArray(value)) return [keyword, value];
    const list = sortedByText(distinct(value));
    return [keyword, keyword === 'type' && list.length === 1 ? list[0] : list];
  });
  return Object.fromEntries(sorted);
}

const SORTED = new Set(['enum', 'required', 'type']);

type ChangeSchema = (schema: unknown, keyword: string, appliesTo: string | undefined) => unknown;

/** Returns a copy of a schema with other schemas in it, visited in an order that does not depend on that of the keys. */
function withForms(schema: Schema, change: ChangeSchema): Schema {
  const next: Record<string, unknown> = { ...schema };
  for (const [keyword, { holds, appliesTo }] of SCHEMA_KEYWORDS) {
    const value = schema[keyword];
    const changed = (inside: unknown) => change(inside, keyword, appliesTo);
    if (holds === 'schema' && keyword in schema) next[keyword] = changed(value);
    if (holds === 'list' && Array.isArray(value)) next[keyword] = value.map(changed);
    if (holds === 'map' && isMap(value)) {
      const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
      next[keyword] = Object.fromEntries(members.map(([name, inside]) => [name, changed(inside)]));
    }
  }
  return next;
}

/** Returns the values of an `enum` that the complete schema accepts: no other keyword can add one. */
function acceptedValues(schema: Schema, root: SchemaRoot): unknown[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values) || !values.every(isPlain)) return undefined;
  return sortedByText(distinct(values.filter((value) => accepts(root, schema, value))));
}

/** True for values without a number that the validator refuses as inexact. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return value === null || typeof value !== 'object' || Object.values(value).every(isPlain);
}

/** Replaces a normal form by its digest if it is long: forms within forms would grow exponentially. */
function shortened(form: unknown, maxCharacters: number): unknown {
  if (!isMap(form)) return form;
  const text = canonicalJson(form);
  return text.length <= maxCharacters ? form : { [STAND_IN]: digest(text) };
}

/** Longer schemas of members and items are shortened. */
const MAX_CHILD = 4_000;
/** Longer branches are shortened, which then take no part in simplifications. */
const MAX_BRANCH = 20_000;

/** The keyword of a digest that stands for a schema. */
const STAND_IN = 'standsFor';

function isRecursive(root: SchemaRoot, reference: string): boolean {
  return referencesFrom(root, reference).has(reference);
}

/** Returns a digest of a schema and of those that it refers to, in which their numbers stand for their names. */
const recursionDigest = oncePerReference((root, reference) => {
  const reached = new Set([reference]);
  const texts: string[] = [];
  const numberOf = (name: string) => [...reached.add(name)].indexOf(name);
  const asWritten = (schema: unknown): unknown => {
    if (!isMap(schema)) return schema;
    const { $ref: name, ...forms } = withForms(ownKeywords(schema), asWritten);
    return typeof name === 'string' ? { ...forms, $ref: numberOf(name) } : forms;
  };
  // The loop visits the references that are added while it runs.
  for (const name of reached) texts.push(canonicalJson(asWritten(targetOf(root, name))));
  return digest(texts.join('\n'));
});

const NUMERIC = new Set(keywordsWith({ type: 'number' }));
/** The cost to visit a keyword, in the units of `charge`. */
const KEYWORD_COST = 5;

/** True if a schema compares numbers anywhere, and therefore refuses inexact ones. */
function comparesNumbers(root: SchemaRoot, schema: unknown): boolean {
  return namesNumbers(schema) || referencesIn(schema).some((reference) => leadsToNumbers(root, reference));
}

const leadsToNumbers = oncePerReference((root, reference) =>
  [reference, ...referencesFrom(root, reference)].some((name) => namesNumbers(targetOf(root, name))),
);

/** True if a schema has a keyword that compares numbers, without following its references. */
function namesNumbers(schema: unknown): boolean {
  for (const { key, value } of keywordsOf(schema)) {
    charge(KEYWORD_COST);
    if (NUMERIC.has(key) || (key === 'uniqueItems' && value === true)) return true;
    if (key === 'type' && [value].flat().includes('integer')) return true;
    if (key === 'format' && Object.hasOwn(NUMBER_FORMATS, String(value))) return true;
    if ((key === 'enum' || key === 'const') && containsNumber(value)) return true;
  }
  return false;
}
