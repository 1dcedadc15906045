import { charge, withinBudget } from '../../engine/schema/cost-budget.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { jsonTypeOf, sizeOf } from './json-value.ts';

/** The number of values to test. */
const MAX_TESTS = 400;

/** The cost of all tests, in the units of `charge`. */
const MAX_COST = 5_000_000;
/** The cost to print and to parse a character of a value. */
const CHARACTER_COST = 2;

/** Returns a smaller value that passes the same test: without members, items or characters that do not matter. */
export function shrinkValue(value: unknown, test: (smaller: unknown) => boolean): unknown {
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
  }, MAX_COST);
  return best;
}

/** The simplest values of each type. */
export const SIMPLEST: readonly unknown[] = ['', 'x', 0, null, true, [], {}];
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
export function* withChange(value: unknown, change: (part: unknown) => Iterable<unknown>): Generator<unknown> {
  yield* change(value);
  if (Array.isArray(value))
    for (const [index, item] of value.entries())
      for (const changed of withChange(item, change)) yield value.with(index, changed);
  if (!isMap(value)) return;
  const members = Object.entries(value);
  for (const [index, [name, inside]] of members.entries())
    for (const changed of withChange(inside, change)) yield Object.fromEntries(members.with(index, [name, changed]));
}
