import { canonicalJson } from '../../engine/schema/cost-budget.ts';
import { validatedType } from '../../engine/schema/keywords.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { representativeOf } from './equal-patterns.ts';
import { distinct, hasType, sortedByText, toList, toMap } from './json-value.ts';
import { isNumberFormat, namesNumbers, simplifyNumberLimits } from './number-keywords.ts';
import { automatonOf } from './pattern-automaton.ts';

type Schema = Readonly<Record<string, unknown>>;
type Mutable = Record<string, unknown>;

const ALL_TYPES = ['array', 'boolean', 'null', 'number', 'object', 'string'];
/** Values with which a keyword accepts everything. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  minItems: 0,
  minLength: 0,
  minProperties: 0,
  uniqueItems: false,
  propertyNames: true,
};

/** Removes what has no effect from a schema whose subschemas are normalized. Returns `false` if no value is valid. */
export function simplifyKeywords(schema: Schema, limits: SimplificationLimits): Schema | false {
  const next: Mutable = { ...schema };
  if ('const' in next) {
    const { const: value, enum: values } = next;
    // Both together accept at most the constant.
    if (values === undefined) {
      next['enum'] = [value];
      delete next['const'];
    }
  }
  if (Array.isArray(next['enum'])) next['enum'] = sortedByText(distinct(next['enum']));
  if (Array.isArray(next['enum']) && next['enum'].length === 0) return false;
  if (typeof next['pattern'] === 'string' && matchesAll(next['pattern'])) delete next['pattern'];
  if (typeof next['pattern'] === 'string') next['pattern'] = representativeOf(next['pattern']);
  for (const [keyword, value] of Object.entries(NEUTRAL)) if (next[keyword] === value) delete next[keyword];
  if (!simplifyBranches(next, limits)) return false;
  simplifyConditions(next, limits);
  if (!simplifyTypes(next, limits)) return false;
  simplifyMembers(next, limits);
  simplifyItems(next, limits);
  return next;
}

/** Sorts the types, and removes keywords for other types. Returns `false` if no type is possible. */
function simplifyTypes(next: Mutable, { isOrdered }: SimplificationLimits): boolean {
  if (!('type' in next)) {
    simplifyNumberLimits(next, undefined);
    return true;
  }
  const types = [...new Set([next['type']].flat().map(String))].sort();
  simplifyNumberLimits(next, types);
  if (Array.isArray(next['enum']) && !isOrdered) {
    const values = next['enum'].filter((value) => types.some((type) => hasType(value, type)));
    if (values.length === 0) return false;
    if (!types.includes('integer')) delete next['type'];
    next['enum'] = values;
  }
  if (!('type' in next)) return true;
  if (!isOrdered)
    for (const keyword of Object.keys(next)) {
      const type =
        keyword === 'format' ? (isNumberFormat(next[keyword]) ? 'number' : 'string') : validatedType(keyword);
      const named = types.map((name) => (name === 'integer' ? 'number' : name));
      if (type !== undefined && !named.includes(type)) delete next[keyword];
    }
  if (types.length === 0) return false;
  if (!types.includes('integer') && ALL_TYPES.every((type) => types.includes(type))) delete next['type'];
  else next['type'] = types.length === 1 ? types[0] : types;
  return true;
}

function simplifyConditions(next: Mutable, limits: SimplificationLimits): void {
  if (!('if' in next)) {
    delete next['then'];
    delete next['else'];
  }
  for (const keyword of ['then', 'else']) if (isTrue(next[keyword])) delete next[keyword];
  if (!('if' in next) || limits.keepsEvaluated) return;
  if (!('then' in next || 'else' in next) && isExactCondition(next['if'])) delete next['if'];
  const isAlways = isTrue(next['if']);
  if (limits.isOrdered || !('if' in next)) return;
  if (!isAlways && next['if'] !== false) return;
  const part = next[isAlways ? 'then' : 'else'];
  for (const keyword of ['if', 'then', 'else']) delete next[keyword];
  if (part !== undefined) addPart(next, part);
}

function simplifyMembers(next: Mutable, { keepsEvaluated }: SimplificationLimits): void {
  const required = uniqueTexts(next['required']);
  if (required.length === 0) delete next['required'];
  else next['required'] = required;
  if (typeof next['minProperties'] === 'number' && next['minProperties'] <= required.length)
    delete next['minProperties'];
  const dependent = Object.entries(toMap(next['dependentRequired'])).flatMap(([name, needed]) =>
    toList(needed).length > 0 ? [[name, uniqueTexts(needed)] as const] : [],
  );
  if (isMap(next['dependentRequired'])) setMap(next, 'dependentRequired', dependent);
  if (keepsEvaluated) return;
  if (isMap(next['dependentSchemas'])) setMap(next, 'dependentSchemas', withoutTrue(next['dependentSchemas']));
  if (isTrue(next['additionalProperties'])) delete next['additionalProperties'];
  simplifyRest(next);
  const isOpen = !('additionalProperties' in next);
  for (const keyword of ['properties', 'patternProperties'])
    if (isMap(next[keyword]))
      setMap(next, keyword, isOpen ? withoutTrue(next[keyword]) : Object.entries(next[keyword]));
}

/** Removes members whose schema is that of all other members, and writes "no member" in one way. */
function simplifyRest(next: Mutable): void {
  const written = Object.entries(toMap(next['patternProperties']));
  const represented = new Map(written.map(([pattern, inside]) => [representativeOf(pattern), inside]));
  const patterns = represented.size < written.length ? written : [...represented];
  if (patterns.length > 0) next['patternProperties'] = Object.fromEntries(patterns);
  const [[pattern = '', schema] = []] = patterns;
  if (patterns.length === 1 && !('properties' in next) && matchesAll(pattern)) {
    delete next['patternProperties'];
    next['additionalProperties'] = schema;
  } else if (patterns.length > 0 || !('additionalProperties' in next)) return;
  const rest = canonicalJson(plain(next['additionalProperties']));
  const properties = Object.entries(toMap(next['properties'])).filter(
    ([, inside]) => canonicalJson(plain(inside)) !== rest,
  );
  setMap(next, 'properties', properties);
  if (next['additionalProperties'] !== false || 'properties' in next) return;
  delete next['additionalProperties'];
  next['maxProperties'] = 0;
}

function withoutTrue(schemas: Schema): [string, unknown][] {
  return Object.entries(schemas).filter(([, schema]) => !isTrue(schema));
}

/** Sets a map keyword, or removes it if it would be empty. */
function setMap(next: Mutable, keyword: string, entries: readonly (readonly [string, unknown])[]): void {
  if (entries.length === 0) delete next[keyword];
  else next[keyword] = Object.fromEntries(entries);
}

function simplifyItems(next: Mutable, { keepsEvaluated }: SimplificationLimits): void {
  const hasContains = 'contains' in next;
  for (const keyword of ['minContains', 'maxContains']) if (!hasContains) delete next[keyword];
  if (next['minContains'] === 1) delete next['minContains'];
  if (keepsEvaluated) return;
  const items = next['items'] ?? true;
  const prefix = [...toList(next['prefixItems'])];
  while (prefix.length > 0 && canonicalJson(plain(prefix.at(-1))) === canonicalJson(plain(items))) prefix.pop();
  if (items === false) {
    next['maxItems'] = Math.min(prefix.length, Number(next['maxItems'] ?? prefix.length));
    delete next['items'];
  } else if (isTrue(items)) delete next['items'];
  if (prefix.length === 0) delete next['prefixItems'];
  else next['prefixItems'] = prefix;
}

/** Both spellings of the schema that accepts everything are equal. */
function plain(schema: unknown): unknown {
  return isTrue(schema) ? true : schema;
}

function uniqueTexts(values: unknown): string[] {
  return [...new Set(toList(values).map(String))].sort();
}

/** True if a pattern certainly matches every text. */
function matchesAll(pattern: string): boolean {
  return automatonOf(pattern)?.matchesAll === true;
}

interface SimplificationLimits {
  /** True if keywords that only mark members and items as evaluated have an effect. */
  readonly keepsEvaluated: boolean;
  /** True if the order of branches, and each of them, has an effect. */
  readonly isOrdered: boolean;
}

/** Simplifies `anyOf`, `oneOf` and `not`, whose schemas are normalized. Returns `false` if no value is valid. */
function simplifyBranches(next: Mutable, limits: SimplificationLimits): boolean {
  if (next['not'] === false) delete next['not'];
  if (isTrue(next['not'])) return false;
  if (limits.isOrdered) return true;
  if (limits.keepsEvaluated) {
    // Every branch may evaluate members, so all of them remain.
    for (const keyword of ['anyOf', 'oneOf'])
      if (Array.isArray(next[keyword])) next[keyword] = sortedByText(next[keyword]);
    return true;
  }
  const { not: negated } = next;
  if (isMap(negated) && 'not' in negated && Object.keys(negated).length === 1 && isExactCondition(negated)) {
    delete next['not'];
    addPart(next, negated['not']);
  }
  if (Array.isArray(next['oneOf'])) {
    const branches = next['oneOf'].filter((branch) => branch !== false);
    if (branches.length === 0) return false;
    if (areDisjoint(branches) && !('anyOf' in next)) {
      next['anyOf'] = branches;
      delete next['oneOf'];
    } else next['oneOf'] = sortedByText(branches);
  }
  if (!Array.isArray(next['anyOf'])) return true;
  const branches = sortedByText(distinct(next['anyOf'].filter((branch) => branch !== false)));
  delete next['anyOf'];
  if (branches.length === 0) return false;
  if (branches.some(isTrue)) return true;
  const union = unionOf(branches);
  const [first] = branches;
  if (union !== undefined) addPart(next, union);
  else if (branches.length === 1) addPart(next, first);
  else next['anyOf'] = branches;
  return true;
}

/** Adds a schema that must also accept the value. */
function addPart(next: Mutable, part: unknown): void {
  next['allOf'] = [...(Array.isArray(next['allOf']) ? next['allOf'] : []), part];
}

/** True if a condition certainly compares no numbers: then it refuses no inexact number, which may be valid. */
function isExactCondition(condition: unknown): boolean {
  return !namesNumbers(condition) && !JSON.stringify(condition).includes('"standsFor":');
}

/** The types with few values. */
const LISTED_TYPES: Readonly<Record<string, unknown>> = {
  '{"type":"null"}': { enum: [null] },
  '{"type":"boolean"}': { enum: [false, true] },
};

/** Returns one schema for branches that only name types, or only list values. */
function unionOf(branches: readonly unknown[]): unknown {
  const only = (keyword: string, schemas = branches) =>
    schemas.every((branch) => isMap(branch) && Object.keys(branch).length === 1 && keyword in branch);
  const listed = branches.map((branch) => LISTED_TYPES[canonicalJson(branch)] ?? branch);
  if (!only('type') && only('enum', listed))
    return { enum: sortedByText(distinct(listed.flatMap((branch) => (branch as Mutable)['enum'] as unknown[]))) };
  const all = (keyword: string) => branches.flatMap((branch) => (branch as Mutable)[keyword] as unknown[]);
  if (!only('type')) return undefined;
  const types = [...new Set(all('type').map(String))].sort();
  // The validator refuses large integers if `integer` is named, also beside `number`.
  if (types.includes('integer') && types.includes('number')) return undefined;
  return { type: types.length === 1 ? types[0] : types };
}

/** True if no value has the types, or is one of the values, of two branches. */
function areDisjoint(branches: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const branch of branches) {
    const { type, enum: values } = isMap(branch) ? branch : {};
    const keys = Array.isArray(values)
      ? values.map(canonicalJson)
      : [type ?? []].flat().map((name) => (name === 'integer' ? 'number' : String(name)));
    const kind = Array.isArray(values) ? 'enum' : 'type';
    if (keys.length === 0 || (seen.size > 0 && !seen.has(kind))) return false;
    seen.add(kind);
    for (const key of keys) {
      if (seen.has(`${kind} ${key}`)) return false;
      seen.add(`${kind} ${key}`);
    }
  }
  return true;
}

/** True for the two spellings of the schema that accepts everything. */
export function isTrue(schema: unknown): boolean {
  return schema === true || (isMap(schema) && Object.keys(schema).length === 0);
}
