import { charge, withinBudget } from '../../engine/schema/cost-budget.ts';
import { isMap, keywordsOf } from '../../engine/schema/schema-walk.ts';
import { targetOf } from './evaluate-schema.ts';
import { distinct, jsonTypeOf, sizeOf } from './json-value.ts';
import { reachedFrom, referencesIn } from './schema-content.ts';
import type { SchemaTerm } from './schema-terms.ts';

const SCALARS: readonly unknown[] = ['', 'a', 'b', 'x', 'ab', 'aa', 0, 1, -1, 0.5, 2, 3, true, false, null];
const FEW: readonly unknown[] = ['', 'a', 1, 0.5, null, true, [], {}];
/** The constants and names of the schemas that are combined. */
const MAX_CONSTANTS = 12;
const MAX_NAMES = 5;
/** Large schemas validate slowly, so that fewer values are tried. */
const MAX_WORK = 20_000_000;

/** Returns small values of all types, with the names and constants of some schemas. */
export function smallValues(terms: readonly SchemaTerm[]): readonly unknown[] {
  const { names, constants, characters } = vocabularyOf(terms);
  const scalars = distinct([...SCALARS, ...constants.slice(0, MAX_CONSTANTS)]);
  const members = distinct([...distinct(names).slice(0, MAX_NAMES), 'x']).map(String);
  const inner = [
    ...members.slice(0, 3).flatMap((name) => FEW.map((value) => ({ [name]: value }))),
    ...FEW.map((value) => [value]),
  ];
  const values = [
    ...scalars,
    [],
    {},
    ...scalars.map((value) => [value]),
    ...members.flatMap((name) => [...scalars, [], {}, ...inner].map((value) => ({ [name]: value }))),
    ...FEW.flatMap((one) => FEW.map((other) => [one, other])),
    ...members.flatMap((name, index) => members.slice(index + 1).flatMap((other) => pairsOf(name, other))),
    ...inner.map((value) => [value]),
    ...FEW.flatMap((value) => [1, 'a', value].map((last) => [value, value, last])),
  ];
  return values.slice(0, Math.max(100, Math.ceil(MAX_WORK / (characters + 1))));
}

function pairsOf(name: string, second: string): unknown[] {
  return FEW.flatMap((one) => FEW.map((other) => ({ [name]: one, [second]: other })));
}

/** Returns the names of members, the constants and the size of schemas and of those that they refer to. */
function vocabularyOf(terms: readonly SchemaTerm[]) {
  const [names, constants]: [string[], unknown[]] = [[], []];
  let characters = 0;
  for (const { root, schema } of terms) {
    const reached = [...reachedFrom(root, referencesIn(schema))].map((name) => targetOf(root, name));
    for (const inside of [schema, ...reached]) {
      characters += JSON.stringify(inside)?.length ?? 0;
      for (const { key, value } of keywordsOf(inside, [])) {
        if (NAMING.has(key)) names.push(...(Array.isArray(value) ? value.map(String) : Object.keys(Object(value))));
        if (key === 'const') constants.push(value);
        if (key === 'enum' && Array.isArray(value)) constants.push(...value.slice(0, MAX_CONSTANTS));
      }
    }
  }
  return { names: names.filter((name) => name !== '__proto__'), constants: distinct(constants), characters };
}

const NAMING = new Set(['properties', 'required', 'dependentRequired', 'dependentSchemas']);

/** The number of values to test. */
const MAX_TESTS = 400;

/** The cost of all tests, in the units of `charge`. */
const MAX_COST = 5_000_000;
/** The cost to print and to parse a character of a value. */
const CHARACTER_COST = 2;

/** Returns a smaller value that passes the same test: without members, items or characters that do not matter. */
export function shrinkValue(value: unknown, test: (smaller: unknown) => boolean): unknown {
  let best = value;
  let remaining = MAX_TESTS;
  const isBetter = (candidate: unknown) => {
    const size = sizeOf(candidate);
    charge(CHARACTER_COST * size);
    return size < sizeOf(best) && test(candidate);
  };
  withinBudget(() => {
    for (let isSmaller = true; isSmaller && remaining > 0; ) {
      isSmaller = false;
      for (const candidate of smallerValues(best)) {
        remaining -= 1;
        if (remaining < 0) break;
        if (!isBetter(candidate)) continue;
        best = candidate;
        isSmaller = true;
        break;
      }
    }
  }, MAX_COST);
  return best;
}

/** The simplest values of each type. */
const SIMPLEST: readonly unknown[] = ['', 'x', 0, null, true, [], {}];
const LONG = 4;

function* smallerValues(value: unknown): Generator<unknown> {
  // A short text reads better than a number of one digit, so only long values change their type.
  const isLong = sizeOf(value) > LONG;
  for (const simple of SIMPLEST) if (isLong || jsonTypeOf(simple) === jsonTypeOf(value)) yield simple;
  if (typeof value === 'string' && value.length < 1_000) {
    for (const length of [value.length >> 1, value.length - 1]) yield value.slice(0, length);
    yield value.slice(1);
  }
  if (Array.isArray(value)) {
    for (const index of value.keys()) yield value.toSpliced(index, 1);
    for (const [index, item] of value.entries())
      for (const smaller of smallerValues(item)) yield value.with(index, smaller);
  }
  if (!isMap(value)) return;
  const members = Object.entries(value);
  for (const [name] of members) yield Object.fromEntries(members.filter(([other]) => other !== name));
  for (const [index, [name, inside]] of members.entries())
    for (const smaller of smallerValues(inside)) yield Object.fromEntries(members.with(index, [name, smaller]));
}
