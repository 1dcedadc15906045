import type { SchemaRoot } from '../../plan/schema/schema-bundle.ts';
import { valueAt } from '../../plan/schema/schema-walk.ts';
import type { ValueValidator } from '../../plan/schema/value-validator.ts';
import type { Path } from '../../problem/finding.ts';
import { sizeOf } from './json-value.ts';
import { normalizeSchema } from './normalize-schema.ts';
import { SchemaSolver } from './schema-solver.ts';
import type { SchemaTerm } from './schema-terms.ts';
import { SEARCH_CUT, SearchBudget, type SearchEffort } from './search-budget.ts';
import { shrinkValue } from './shrink-value.ts';
import { withLargeNumbers } from './large-numbers.ts';

/** A schema with its location. */
export interface SchemaLocation {
  readonly root: SchemaRoot;
  readonly path: Path;
  /** Returns a validator for a schema of the root. */
  readonly validatorAt: (path: Path) => ValueValidator;
}

/** The differences of two schemas, each with a small value that shows it. */
export interface SchemaComparison {
  /** True if the schemas have the same normal form. */
  readonly isSame: boolean;
  /** A value that only the new schema accepts. */
  readonly looser: SchemaExample | undefined;
  /** A value that only the old schema accepts. */
  readonly tighter: SchemaExample | undefined;
  /** True if a search ended because it had used its steps. */
  readonly isCut: boolean;
}

export interface SchemaExample {
  readonly value: unknown;
}

/** The rounds of a search: most differences have a simple example. */
const ROUNDS: readonly SearchEffort[] = [
  { steps: 2_000, width: 2, states: 500 },
  { steps: 20_000, width: 4, states: 5_000 },
  { steps: 60_000, width: 10, states: 20_000 },
];
/** The number of examples among which the smallest is chosen. */
const MAX_EXAMPLES = 8;
/** The number of values to test after the first example. */
const MAX_FURTHER = 20;

/** Compares two schemas. Finds a value for each direction in which they differ, if the search reaches one. */
export function compareSchemas(old: SchemaLocation, next: SchemaLocation): SchemaComparison {
  if (normalizeSchema(old.root, old.path) === normalizeSchema(next.root, next.path))
    return { isSame: true, looser: undefined, tighter: undefined, isCut: false };
  const [before, now] = [testOf(old), testOf(next)];
  const isLooser = (value: unknown) => !before(value) && now(value);
  const isTighter = (value: unknown) => before(value) && !now(value);
  const looser = findExample(termOf(next, true), termOf(old, false), isLooser);
  const tighter = findExample(termOf(old, true), termOf(next, false), isTighter);
  const isOpen = looser.example === undefined && tighter.example === undefined;
  const common = isOpen ? commonValues(termOf(old, true), termOf(next, true)) : [];
  const exampleAmong = (test: (value: unknown) => boolean) => {
    const value = common.find(test);
    return value === undefined ? undefined : { value };
  };
  return {
    isSame: false,
    looser: looser.example ?? exampleAmong(isLooser),
    tighter: tighter.example ?? exampleAmong(isTighter),
    isCut: looser.isCut || tighter.isCut,
  };
}

function termOf({ root, path }: SchemaLocation, isPositive: boolean): SchemaTerm {
  return { root, schema: valueAt(root, path), isPositive };
}

/** Returns a function that is true for values that the gateway accepts. It compiles the schema on the first use. */
function testOf({ path, validatorAt }: SchemaLocation): (value: unknown) => boolean {
  let validate: ValueValidator | undefined;
  return (value) => {
    validate ??= validatorAt(path);
    return validate(value, Number.POSITIVE_INFINITY).length === 0;
  };
}

interface SearchResult {
  readonly example: SchemaExample | undefined;
  readonly isCut: boolean;
}

/** Searches for a small value that one schema accepts and the other refuses. */
function findExample(accepting: SchemaTerm, refusing: SchemaTerm, test: (value: unknown) => boolean): SearchResult {
  let isCut = false;
  for (const effort of ROUNDS) {
    const found: unknown[] = [];
    try {
      let further = MAX_FURTHER;
      for (const value of valuesOf(new SchemaSolver(new SearchBudget(effort)), [accepting, refusing])) {
        if (test(value)) found.push(value);
        if (found.length > 0) further -= 1;
        if (found.length >= MAX_EXAMPLES || further < 0) break;
      }
      isCut = false;
    } catch (error) {
      if (error !== SEARCH_CUT) throw error;
      isCut = true;
    }
    const [smallest] = found.sort((one, other) => sizeOf(one) - sizeOf(other));
    if (found.length > 0) return { example: { value: shrinkValue(smallest, test) }, isCut: false };
  }
  return { example: undefined, isCut };
}

function valuesOf(solver: SchemaSolver, terms: readonly SchemaTerm[]): Generator<unknown> {
  return solver.solve(terms).take(MAX_VALUES);
}

/** The values of one round. */
const MAX_VALUES = 300;

/** Returns values that both schemas accept, and the same with large numbers, which the validator may refuse. */
function commonValues(old: SchemaTerm, next: SchemaTerm): unknown[] {
  const values: unknown[] = [];
  try {
    for (const value of new SchemaSolver(new SearchBudget(ROUNDS[0] as SearchEffort)).solve([old, next]).take(30))
      values.push(value);
  } catch (error) {
    if (error !== SEARCH_CUT) throw error;
  }
  return values.flatMap((value) => [value, ...withLargeNumbers(value)]);
}
