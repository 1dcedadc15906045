import { withinBudget } from '../../engine/schema/cost-budget.ts';
import { SchemaSolver } from './schema-solver.ts';
import type { SchemaTerm } from './schema-terms.ts';
import { SEARCH_CUT, SearchBudget, type SearchEffort } from './search-budget.ts';

/** The rounds of a search: most differences have a simple example. */
export const SEARCH_ROUNDS: readonly SearchEffort[] = [
  { steps: 3_000, cost: 4_000_000, width: 2, states: 1_000 },
  { steps: 25_000, cost: 10_000_000, width: 6, states: 10_000 },
];

/** The values that a search found. */
interface FoundValues {
  readonly values: readonly unknown[];
  /** True if the search left out values, or ended because it had used its steps. */
  readonly isCut: boolean;
}

/** Searches for values that satisfy all terms until `collect` returns true, or until the steps of the round are used. */
export function searchValues(
  terms: readonly SchemaTerm[],
  effort: SearchEffort,
  collect: (value: unknown) => boolean,
): { readonly isCut: boolean } {
  const budget = new SearchBudget(effort);
  const search = () => {
    for (const value of new SchemaSolver(budget).solve(terms).take(MAX_VALUES)) if (collect(value)) break;
    return { isCut: budget.isLimited };
  };
  try {
    return withinBudget(search, effort.cost) ?? { isCut: true };
  } catch (error) {
    // References to references may nest deeper than the stack.
    if (error !== SEARCH_CUT && !(error instanceof RangeError)) throw error;
    return { isCut: true };
  }
}

/** The values of one round. */
const MAX_VALUES = 300;

/** Returns the first values that satisfy all terms. */
export function findValues(terms: readonly SchemaTerm[], count: number): FoundValues {
  const values: unknown[] = [];
  const [effort] = SEARCH_ROUNDS as [SearchEffort];
  const { isCut } = searchValues(terms, effort, (value) => values.push(value) >= count);
  return { values, isCut };
}
