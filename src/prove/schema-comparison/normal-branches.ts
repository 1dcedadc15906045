import { canonicalJson } from '../../engine/schema/cost-budget.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { distinct, sortedByText } from './json-value.ts';
import { namesNumbers } from './number-keywords.ts';

export interface SimplificationLimits {
  /** True if keywords that only mark members and items as evaluated have an effect. */
  readonly keepsEvaluated: boolean;
  /** True if the order of branches, and each of them, has an effect. */
  readonly isOrdered: boolean;
}

type Mutable = Record<string, unknown>;

/** Simplifies `anyOf`, `oneOf` and `not`, whose schemas are normalized. Returns `false` if no value is valid. */
export function simplifyBranches(next: Mutable, limits: SimplificationLimits): boolean {
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
export function addPart(next: Mutable, part: unknown): void {
  next['allOf'] = [...(Array.isArray(next['allOf']) ? next['allOf'] : []), part];
}

/** True if a condition certainly compares no numbers: then it refuses no inexact number, which may be valid. */
export function isExactCondition(condition: unknown): boolean {
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
