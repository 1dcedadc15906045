import { canonicalJson } from '../../engine/schema/cost-budget.ts';
import { validatedType } from '../../engine/schema/keywords.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { representativeOf } from './equal-patterns.ts';
import { distinct, hasType, sortedByText, toList, toMap } from './json-value.ts';
import { addPart, isExactCondition, isTrue, type SimplificationLimits, simplifyBranches } from './normal-branches.ts';
import { isNumberFormat, simplifyNumberLimits } from './number-keywords.ts';
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
