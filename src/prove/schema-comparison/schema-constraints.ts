import { canonicalJson } from '../../engine/schema/cost-budget.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { distinct, sortedByText, toList, toMap } from './json-value.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords with which a schema accepts every value, by their text. */
const WITHOUT_EFFECT = new Set(
  ['minItems:0', 'minLength:0', 'minProperties:0', 'uniqueItems:false'].concat(
    ['propertyNames', 'items', 'additionalProperties', 'then', 'else'].map((keyword) => `${keyword}:true`),
    ['prefixItems:[]', 'not:false'],
  ),
);

/** Keywords that work only together. All others are constraints of their own. */
const GROUPS: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'additionalProperties'],
  ['prefixItems', 'items'],
  ['contains', 'minContains', 'maxContains'],
  ['if', 'then', 'else'],
  ['contentEncoding', 'contentMaxBytes'],
];

/** Returns the schema that accepts the values that meet all constraints. */
export function conjunctionOf(constraints: readonly unknown[]): unknown {
  if (constraints.includes(false)) return false;
  const [first = true, ...others] = distinct(constraints);
  return others.length === 0 ? first : { allOf: sortedByText([first, ...others]) };
}

/**
 * Divides a schema whose subschemas have their normal forms into schemas that are as small as possible.
 *
 * @param isOrdered true if the order of its branches has an effect
 */
export function constraintsOf(schema: Schema, isOrdered: boolean): unknown[] {
  const groups = new Map<string, Record<string, unknown>>();
  for (const [keyword, value] of Object.entries(schema)) {
    if (WITHOUT_EFFECT.has(`${keyword}:${JSON.stringify(value)}`)) continue;
    const name = GROUPS.find((group) => group.includes(keyword))?.[0] ?? keyword;
    groups.set(name, { ...groups.get(name), [keyword]: value });
  }
  return [...groups].flatMap(([name, group]) => DIVIDED[name]?.(group, isOrdered) ?? [group]);
}

/** The constraints of a keyword or a group of keywords, if there are simpler ones. */
const DIVIDED: Readonly<Record<string, (group: Schema, isOrdered: boolean) => readonly unknown[]>> = {
  allOf: ({ allOf }) => toList(allOf).flatMap(partsOf),
  anyOf: ({ anyOf }, isOrdered) => branchesOf('anyOf', distinct(toList(anyOf)), isOrdered),
  oneOf: ({ oneOf }, isOrdered) => branchesOf('oneOf', toList(oneOf), isOrdered),
  not: ({ not }) => (not === true ? [false] : [{ not }]),
  enum: ({ enum: values }) => valuesOf(toList(values)),
  required: ({ required }) => toList(required).map((name) => ({ required: [name] })),
  dependentRequired: ({ dependentRequired }) =>
    eachMember('dependentRequired', dependentRequired, (names) => toList(names).length > 0),
  dependentSchemas: ({ dependentSchemas }) => eachMember('dependentSchemas', dependentSchemas),
  properties: dividedMembers,
  contains: (group) => ('contains' in group ? [group] : []),
  if: (group) => ('if' in group ? [group] : []),
};

/** Returns the constraints of a normal form. */
function partsOf(form: unknown): readonly unknown[] {
  if (form === true) return [];
  return isMap(form) && Object.keys(form).length === 1 && Array.isArray(form['allOf']) ? form['allOf'] : [form];
}

/** Divides schemas for named members, each of which is one constraint, unless another keyword depends on the names. */
function dividedMembers(group: Schema): unknown[] {
  if ('additionalProperties' in group) return [group];
  return Object.entries(group).flatMap(([keyword, schemas]) => eachMember(keyword, schemas));
}

function eachMember(keyword: string, members: unknown, hasEffect = (member: unknown) => member !== true): unknown[] {
  return Object.entries(toMap(members)).flatMap(([name, member]) =>
    hasEffect(member) ? [{ [keyword]: Object.fromEntries([[name, member]]) }] : [],
  );
}

/** Returns the schema of listed values. The values of a type without others are the type itself. */
function valuesOf(values: readonly unknown[]): unknown[] {
  if (values.length === 0) return [false];
  const text = canonicalJson(values);
  return [text === '[null]' ? NULL : text === '[false,true]' ? BOOLEAN : { enum: values }];
}

const NULL = { type: 'null' };
const BOOLEAN = { type: 'boolean' };

function branchesOf(keyword: 'anyOf' | 'oneOf', all: readonly unknown[], isOrdered: boolean): readonly unknown[] {
  const branches = all.filter((branch) => branch !== false);
  if (branches.length < 2) return branches.length === 0 ? [false] : branches.flatMap(partsOf);
  if (keyword === 'anyOf' && branches.includes(true) && !isOrdered) return [];
  const union = unionOf(branches);
  // A value of two branches is in neither.
  const isUnion = union !== undefined && (keyword === 'anyOf' || distinct(union.all).length === union.all.length);
  return isUnion ? union.constraints : [{ [keyword]: isOrdered ? branches : sortedByText(branches) }];
}

/** Returns one schema for branches that only name types, or only list values. */
function unionOf(branches: readonly unknown[]) {
  const only = (keyword: string, schemas: readonly unknown[]) =>
    schemas.every((branch) => isMap(branch) && Object.keys(branch).length === 1 && keyword in branch);
  const all = (keyword: string, schemas: readonly unknown[]) =>
    (schemas as Schema[]).flatMap((branch) => branch[keyword]);
  if (only('type', branches)) {
    const types = all('type', branches);
    const sorted = sortedByText(distinct(types));
    // The validator refuses large integers if `integer` is named, also beside `number`.
    const isInexact = sorted.includes('integer') && sorted.includes('number');
    return isInexact ? undefined : { all: types, constraints: [{ type: sorted.length === 1 ? sorted[0] : sorted }] };
  }
  const listed = branches.map((branch) => LISTED_TYPES[canonicalJson(branch)] ?? branch);
  if (!only('enum', listed)) return undefined;
  const values = all('enum', listed);
  return { all: values, constraints: valuesOf(sortedByText(distinct(values))) };
}

/** The types with few values. */
const LISTED_TYPES: Readonly<Record<string, unknown>> = {
  [JSON.stringify(NULL)]: { enum: [null] },
  [JSON.stringify(BOOLEAN)]: { enum: [false, true] },
};
