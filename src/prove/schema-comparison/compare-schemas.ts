import { valueAt } from '../../engine/json-pointer.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { charge, withinBudget } from '../../engine/schema/cost-budget.ts';
import { isMap, type SchemaRoot } from '../../engine/schema/schema-walk.ts';
import { jsonTypeOf, sizeOf } from './json-value.ts';
import { normalizeSchema } from './normal-form.ts';
import { findValues, searchValues } from './schema-solver.ts';
import { type SchemaTerm, satisfies } from './schema-terms.ts';
import { SEARCH_ROUNDS } from './search-budget.ts';

export interface SchemaLocation {
  readonly root: SchemaRoot;
  readonly path: Path;
}

/** A schema, and the gateway that validates with it. */
export interface ComparedSchema extends SchemaLocation {
  readonly accepts: (value: unknown) => boolean;
  /** True if the gateway refuses a value because of the schema. */
  readonly refuses: (value: unknown) => boolean;
}

export type SchemaComparison = ReturnType<typeof compareSchemas>;

/** The number of examples among which the smallest is chosen. */
const MAX_EXAMPLES = 8;
/** The number of values to test after the first example. */
const MAX_FURTHER = 20;

/** The costs of parts of a comparison, in the units of `charge`. */
const MAX_COST = { normalForms: 10_000_000, values: 3_000_000, shrinking: 5_000_000 };

/** True if two schemas have the same normal form. Those of very large schemas are not computed. */
export function areEqualSchemas(old: SchemaLocation, next: SchemaLocation): boolean {
  const formOf = ({ root, path }: SchemaLocation) => normalizeSchema(root, valueAt(root, path));
  const haveEqualForms = () => formOf(old) === formOf(next);
  return withinBudget(haveEqualForms, MAX_COST.normalForms) ?? false;
}

/**
 * Finds a small JSON value for each direction in which two schemas differ: `looser` if only the new schema accepts it; `undefined` where
 * none was found. `isCut` is true if a search ended because it had used its steps.
 */
export function compareSchemas(old: ComparedSchema, next: ComparedSchema) {
  const isLooser = (value: unknown) => old.refuses(value) && next.accepts(value);
  const isTighter = (value: unknown) => next.refuses(value) && old.accepts(value);
  const looser = findExample(termOf(next, true), termOf(old, false), isLooser);
  const tighter = findExample(termOf(old, true), termOf(next, false), isTighter);
  const isOpen = looser.example === undefined && tighter.example === undefined;
  const isCut = looser.isCut || tighter.isCut;
  if (!isOpen) return { looser: looser.example, tighter: tighter.example, isCut };
  const byNumbers = () => {
    const common = commonValues(termOf(old, true), termOf(next, true));
    return { looser: common.find(isLooser), tighter: common.find(isTighter), isCut };
  };
  return withinBudget(byNumbers, MAX_COST.values) ?? { looser: undefined, tighter: undefined, isCut: true };
}

/** Returns a schema as a condition for values. */
export function termOf({ root, path }: SchemaLocation, isPositive: boolean): SchemaTerm {
  return { root, schema: valueAt(root, path), isPositive };
}

/** Searches for a small value that one schema accepts and the other refuses. */
function findExample(accepting: SchemaTerm, refusing: SchemaTerm, test: (value: unknown) => boolean) {
  let isCut = false;
  for (const effort of SEARCH_ROUNDS) {
    const found: unknown[] = [];
    let further = MAX_FURTHER;
    ({ isCut } = searchValues([accepting, refusing], effort, (value) => {
      if (test(value)) found.push(value);
      if (found.length > 0) further -= 1;
      return found.length >= MAX_EXAMPLES || further < 0;
    }));
    const [smallest] = found.sort((one, other) => sizeOf(one) - sizeOf(other));
    if (found.length > 0) return { example: shrinkValue(smallest, test), isCut: false };
  }
  // The search may spend its steps in the branches of one type before it reaches another one.
  const isExample = (value: unknown) => satisfies(value, [accepting, refusing]) && test(value);
  return { example: withinBudget(() => SIMPLEST.find(isExample), MAX_COST.values), isCut };
}

/** Returns values that both schemas accept, each with one large number, which the gateway may still refuse. */
function commonValues(old: SchemaTerm, next: SchemaTerm): unknown[] {
  const { values } = findValues([old, next], MAX_COMMON);
  return values.flatMap((value) => [...withChange(value, (part) => (typeof part === 'number' ? LARGE : []))]);
}

const MAX_COMMON = 30;

/** An integer that a parser with doubles cannot tell from its neighbours. */
const LARGE = [2 ** 60, -(2 ** 60)];

/** The number of values to test. */
const MAX_TESTS = 400;

/** The cost to print and to parse a character of a value. */
const CHARACTER_COST = 2;

/** Returns a smaller value that passes the same test: without members, items or characters that do not matter. */
function shrinkValue(value: unknown, test: (smaller: unknown) => boolean): unknown {
  let best = value;
  let candidates = withChange(best, simplerForms);
  const isBetter = (candidate: unknown) => {
    const size = sizeOf(candidate);
    charge(CHARACTER_COST * size);
    return size < sizeOf(best) && test(candidate);
  };
  withinBudget(() => {
    for (let count = 0; count < MAX_TESTS; count += 1) {
      const { value: candidate, done } = candidates.next();
      if (done) return;
      if (!isBetter(candidate)) continue;
      best = candidate;
      candidates = withChange(best, simplerForms);
    }
  }, MAX_COST.shrinking);
  return best;
}

/** The simplest values of each type. */
const SIMPLEST: readonly unknown[] = ['', 'x', 0, null, true, [], {}];
const LONG = 4;

function* simplerForms(value: unknown): Generator<unknown> {
  // A short text reads better than a number of one digit, so only long values change their type.
  const isLong = sizeOf(value) > LONG;
  for (const simple of SIMPLEST) if (isLong || jsonTypeOf(simple) === jsonTypeOf(value)) yield simple;
  if (typeof value === 'string' && value.length < 1_000) {
    for (const length of [value.length >> 1, value.length - 1]) yield value.slice(0, length);
    yield value.slice(1);
  }
  if (Array.isArray(value)) for (const index of value.keys()) yield value.toSpliced(index, 1);
  if (!isMap(value)) return;
  const members = Object.entries(value);
  for (const index of members.keys()) yield Object.fromEntries(members.toSpliced(index, 1));
}

/** Yields what `change` makes of a value, then copies of it in which one member or item is changed in this way. */
function* withChange(value: unknown, change: (part: unknown) => Iterable<unknown>): Generator<unknown> {
  yield* change(value);
  if (Array.isArray(value))
    for (const [index, item] of value.entries())
      for (const changed of withChange(item, change)) yield value.with(index, changed);
  if (!isMap(value)) return;
  const members = Object.entries(value);
  for (const [index, [name, inside]] of members.entries())
    for (const changed of withChange(inside, change)) yield Object.fromEntries(members.with(index, [name, changed]));
}
