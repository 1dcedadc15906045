import { canonicalJson } from '../../engine/schema/cost-budget.ts';
import { itemSchema } from './evaluate-schema.ts';
import { toList } from './json-value.ts';
import { type LiteralOf, literalsOf, type SchemaLiteral, type SchemaTerm } from './schema-terms.ts';
import type { LazyList, PartSolver } from './search-budget.ts';

type ItemCount = LiteralOf<'matching-items'>;

/** The maximum number of items of a solution. */
const MAX_ITEMS = 2_000;
/** The search tries at least ten values of an item, if there are ten. */
const MANY_ITEMS = 10;
/** The lengths to try above the minimum. */
const EXTRA_LENGTHS = 4;
/** Up to this length, other values are tried at every index; in a longer list, at the first and the last one. */
const SHORT = 4;

/** Yields lists that may satisfy the literals, the shortest first. The caller tests them. */
export function* arraySolutions(solver: PartSolver, literals: readonly SchemaLiteral[]): Generator<unknown> {
  const universal = literalsOf(literals, 'items');
  const items = literalsOf(literals, 'item');
  const counts = literalsOf(literals, 'matching-items');
  const sizes = literalsOf(literals, 'count');
  const unique = literalsOf(literals, 'unique').map(({ isPositive }) => isPositive)[0];
  const min = Math.max(0, ...[...sizes, ...counts].map((size) => size.min), ...items.map(({ index }) => index + 1));
  const max = Math.min(MAX_ITEMS, ...sizes.map((size) => size.max));
  if (min > MAX_ITEMS) solver.budget.limit();
  const prefix = Math.max(0, ...universal.map(({ schema }) => toList(schema['prefixItems']).length));
  const longest = Math.min(max, Math.max(min + EXTRA_LENGTHS, Math.min(prefix + 1, min + 20)));
  for (let length = unique === false ? Math.max(min, 2) : min; length <= longest; length += 1) {
    const common = Array.from({ length }, (_, index) => [
      ...universal.map(({ root, schema }) => ({ root, schema: itemSchema(schema, index), isPositive: true })),
      ...items.flatMap((item) => (item.index === index ? item.terms : [])),
    ]);
    for (const terms of withCounts(common, counts, solver)) yield* listsOf(solver, terms, unique);
  }
}

type Terms = readonly (readonly SchemaTerm[])[];

/** Yields the terms of the items, with the items chosen that match each counted schema. */
function* withCounts(terms: Terms, [first, ...others]: readonly ItemCount[], solver: PartSolver): Generator<Terms> {
  if (first === undefined) {
    yield terms;
    return;
  }
  const { term, min, max } = first;
  for (const isMatching of selections(terms.length, min, max)) {
    solver.budget.spend();
    const refused = { ...term, isPositive: false };
    const chosen = terms.map((own, index) => {
      const choice = isMatching(index);
      return choice === undefined ? own : [...own, choice ? term : refused];
    });
    yield* withCounts(chosen, others, solver);
  }
}

/** A function that says which items match, do not match, or may do either (`undefined`). */
type Selection = (index: number) => boolean | undefined;

function* selections(length: number, min: number, max: number): Generator<Selection> {
  const isLimited = max < length;
  const counts = isLimited ? [...new Set([min, Math.max(min, max)])] : [min];
  for (const count of counts)
    for (const isFirst of [true, false])
      yield (index) => ((isFirst ? index < count : index >= length - count) ? true : isLimited ? false : undefined);
}

/** Yields the list with the first value of each item, then those with another value of one item. */
function* listsOf(solver: PartSolver, terms: Terms, unique: boolean | undefined): Generator<unknown> {
  const lists = terms.map((own) => solver.solve(own));
  const items = unique ? distinctItems(lists) : lists.map((list) => list.at(0));
  // A list has more values than those that the search tries, so there may be enough.
  if (items === undefined && lists.length > MANY_ITEMS) solver.budget.limit();
  if (items === undefined || items.includes(undefined)) return;
  yield items;
  const changed = lists.length > SHORT ? [0, lists.length - 1] : [...lists.keys()];
  for (let at = 1; at < solver.budget.effort.width; at += 1)
    for (const index of changed) {
      const value = lists[index]?.at(at);
      if (value !== undefined) yield items.with(index, value);
    }
}

/** Returns a value of each list such that all differ; `undefined` if the first values do not suffice. */
function distinctItems(lists: readonly LazyList<unknown>[]): unknown[] | undefined {
  const used = new Set<string>();
  const items: unknown[] = [];
  // The lists with few values choose first.
  const order = [...lists.keys()].sort((one, other) => Number(hasMore(lists[one])) - Number(hasMore(lists[other])));
  for (const index of order) {
    const value = [...(lists[index]?.take(used.size + 1) ?? [])].find((one) => !used.has(canonicalJson(one)));
    if (value === undefined) return undefined;
    used.add(canonicalJson(value));
    items[index] = value;
  }
  return items;
}

function hasMore(list: LazyList<unknown> | undefined): boolean {
  return list?.at(1) !== undefined;
}
