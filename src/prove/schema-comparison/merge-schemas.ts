import { canonicalJson } from '../../engine/schema/cost-budget.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { distinct, sortedByText } from './json-value.ts';
import { isTrue, simplifyKeywords } from './normal-keywords.ts';

type Mutable = Record<string, unknown>;

/** Keywords that work together. All others work alone. */
const GROUPS: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'additionalProperties'],
  ['prefixItems', 'items'],
  ['contains', 'minContains', 'maxContains'],
  ['if', 'then', 'else'],
  ['contentEncoding', 'contentMaxBytes'],
];

/** Keywords of which the lowest number applies, and those of which the highest one does. */
const LOWEST = ['exclusiveMaximum', 'maxItems', 'maxLength', 'maxProperties', 'maximum'];
const HIGHEST = ['exclusiveMinimum', 'minItems', 'minLength', 'minProperties', 'minimum'];

/** Merges normalized schemas that must all accept a value into one. Keywords that cannot be merged stay in `allOf`. */
export function mergeSchemas(schemas: readonly unknown[]): unknown {
  if (schemas.some(isImpossible)) return false;
  const parts = schemas.flatMap(flatten);
  // The keywords of these depend on the members and items that their own parts evaluate.
  const separate = distinct(parts.filter(isSeparate));
  const groups = Map.groupBy(parts.filter((part) => !isSeparate(part)).flatMap(groupsOf), ([name]) => name);
  const merged: Mutable = {};
  const rest: Mutable[] = [...separate];
  for (const [name, found] of groups) {
    const [first = {}, ...others] = combine(name, sortedByText(distinct(found.map(([, group]) => group))));
    Object.assign(merged, first);
    rest.push(...others);
  }
  const simplified = simplifyKeywords(merged, { keepsEvaluated: false, isOrdered: false });
  if (simplified === false) return false;
  const result: Mutable = { ...simplified };
  // The simplification may find another schema that must accept the value.
  const { allOf: found, ...plain } = result;
  if (Array.isArray(found)) return mergeSchemas([plain, ...found, ...rest]);
  if (rest.length === 0) return isTrue(result) ? true : result;
  return rest.length === 1 && isTrue(result) ? rest[0] : { ...result, allOf: sortedByText(rest) };
}

/** Returns a schema and those of its `allOf`, without schemas that accept everything. */
function flatten(schema: unknown): Mutable[] {
  if (!isMap(schema)) return [];
  if (isSeparate(schema)) return [schema];
  const { allOf, ...own } = schema;
  return [own, ...(Array.isArray(allOf) ? allOf.flatMap(flatten) : [])];
}

/** True if a schema or one of its `allOf` refuses every value. */
function isImpossible(schema: unknown): boolean {
  if (!isMap(schema)) return schema === false;
  return Array.isArray(schema['allOf']) && schema['allOf'].some(isImpossible);
}

function isSeparate(schema: Mutable): boolean {
  return 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema;
}

function groupsOf(schema: Mutable): [string, Mutable][] {
  const found = new Map<string, Mutable>();
  for (const [keyword, value] of Object.entries(schema)) {
    const name = GROUPS.find((group) => group.includes(keyword))?.[0] ?? keyword;
    found.set(name, { ...found.get(name), [keyword]: value });
  }
  return [...found];
}

/** Combines the groups of several schemas as far as possible. */
function combine(name: string, groups: readonly Mutable[]): Mutable[] {
  if (groups.length < 2) return [...groups];
  const values = groups.map((group) => group[name]);
  if (LOWEST.includes(name)) return [{ [name]: Math.min(...(values as number[])) }];
  if (HIGHEST.includes(name)) return [{ [name]: Math.max(...(values as number[])) }];
  if (name === 'required') return [{ required: values.flat() }];
  if (name === 'enum') return [{ enum: intersection(values as unknown[][]) }];
  if (name === 'type') return [{ type: commonTypes(values.map((value) => [value].flat().map(String))) }];
  if (name === 'properties') return mergeMembers(groups);
  return [...groups];
}

function intersection([first = [], ...others]: readonly (readonly unknown[])[]): unknown[] {
  const texts = others.map((values) => new Set(values.map(canonicalJson)));
  return first.filter((value) => texts.every((set) => set.has(canonicalJson(value))));
}

/** Returns the types that all lists name. An integer is a number. */
function commonTypes([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return others.reduce<readonly string[]>(
    (types, list) => [
      ...types.filter((type) => list.includes(type) || (type === 'integer' && list.includes('number'))),
      ...(types.includes('number') && list.includes('integer') ? ['integer'] : []),
    ],
    first,
  ) as string[];
}

/** Merges the members of schemas that leave all other members free. Two schemas for one member stay apart. */
function mergeMembers(groups: readonly Mutable[]): Mutable[] {
  const rest = groups.filter((group) => 'additionalProperties' in group);
  const merged: Mutable = {};
  for (const keyword of ['properties', 'patternProperties']) {
    const members = new Map<string, unknown>();
    for (const group of groups) {
      if ('additionalProperties' in group || !isMap(group[keyword])) continue;
      for (const [name, schema] of Object.entries(group[keyword])) {
        if (!members.has(name)) members.set(name, schema);
        else if (canonicalJson(members.get(name)) !== canonicalJson(schema))
          rest.push({ [keyword]: Object.fromEntries([[name, schema]]) });
      }
    }
    if (members.size > 0) merged[keyword] = Object.fromEntries(members);
  }
  return Object.keys(merged).length === 0 ? rest : [merged, ...rest];
}
