import { getOrCreate } from '../../engine/get-or-create.ts';
import { canonicalJson, charge, withinBudget } from '../../engine/schema/cost-budget.ts';
import { isMap, type SchemaRoot } from '../../engine/schema/schema-walk.ts';
import { arraySolutions } from './array-solutions.ts';
import { type BranchSearchContext, branchesOf, type Choice } from './branch-search.ts';
import { countParts, type JsonType, jsonTypeOf, toList } from './json-value.ts';
import { normalizeSchema } from './normal-form.ts';
import { numberSolutions } from './number-solutions.ts';
import { objectSolutions } from './object-solutions.ts';
import { choicesOf } from './schema-parts.ts';
import { literalsOf, type SchemaLiteral, type SchemaTerm, satisfies } from './schema-terms.ts';
import {
  LazyList,
  type PartSolver,
  SEARCH_CUT,
  SEARCH_ROUNDS,
  SearchBudget,
  type SearchEffort,
} from './search-budget.ts';
import { textSolutions } from './text-solutions.ts';

/** Searches for values that satisfy all terms, until `collect` returns true or the steps are used. `isCut`: it left out values. */
export function searchValues(terms: readonly SchemaTerm[], effort: SearchEffort, collect: (value: unknown) => boolean) {
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
export function findValues(terms: readonly SchemaTerm[], count: number) {
  const values: unknown[] = [];
  const [effort] = SEARCH_ROUNDS as [SearchEffort];
  const { isCut } = searchValues(terms, effort, (value) => values.push(value) >= count);
  return { values, isCut };
}

/** The types in the order in which they are tried: a short text reads best where any value will do. */
const TYPES: readonly JsonType[] = ['string', 'number', 'boolean', 'null', 'array', 'object'];
/** Values nest at most so deep. A deeper one would not be an example that anybody reads. */
const MAX_DEPTH = 12;

interface KnownSchema {
  /** Equal for equal schemas. */
  readonly key: string;
  /** By the sign of the term and the type of the values. */
  readonly choices: Map<string, readonly Choice[]>;
}

/** Finds values that some schemas accept and others refuse: divides the schemas into literals by branch, and builds values from these. */
class SchemaSolver implements PartSolver {
  readonly budget: SearchBudget;
  readonly #solutions = new Map<string, LazyList<unknown>>();
  /** By root and schema: two roots may share a schema whose references lead to different ones. */
  readonly #known = new WeakMap<object, WeakMap<object, KnownSchema>>();
  /** Numbers for the normal forms, which would be long keys. */
  readonly #numbers = new Map<string, string>();
  #depth = 0;

  constructor(budget: SearchBudget) {
    this.budget = budget;
  }

  /** Returns the values that satisfy all terms, simple ones first. */
  solve(terms: readonly SchemaTerm[]): LazyList<unknown> {
    this.budget.spend();
    const keys = new Map(terms.map((term) => [this.#keyOf(term), term]));
    charge(terms.length);
    const key = [...keys.keys()].sort().join(' ');
    return getOrCreate(this.#solutions, key, () => {
      const isContradictory = [...keys].some(([own, { isPositive }]) => isPositive && keys.has(`-${own.slice(1)}`));
      return new LazyList(isContradictory ? [].values() : this.#nested(this.#generate([...keys.values()])));
    });
  }

  /** Counts the depth while the generator runs: a generator that waits is not a level of the value. */
  #nested(source: Generator<unknown>): Iterator<unknown> {
    const depth = this.#depth + 1;
    return {
      next: () => {
        const outer = this.#depth;
        this.#depth = depth;
        try {
          return source.next();
        } finally {
          this.#depth = outer;
        }
      },
    };
  }

  /** Returns equal keys for terms with equal schemas. */
  #keyOf({ root, schema, isPositive }: SchemaTerm): string {
    const sign = isPositive ? '+' : '-';
    if (!isMap(schema)) return `${sign}${schema !== false}`;
    return sign + this.#knownSchema(root, schema).key;
  }

  #knownSchema(root: SchemaRoot, schema: object): KnownSchema {
    const bySchema = getOrCreate(this.#known, root, () => new WeakMap());
    return getOrCreate(bySchema, schema, () => {
      const key = getOrCreate(this.#numbers, normalizeSchema(root, schema), () => String(this.#numbers.size));
      return { key, choices: new Map() };
    });
  }

  *#generate(terms: readonly SchemaTerm[]): Generator<unknown> {
    if (this.#depth > MAX_DEPTH) {
      this.budget.limit();
      return;
    }
    const seen = new Set<string>();
    for (const type of TYPES)
      for (const literals of this.#branches(terms, type)) {
        let count = 0;
        for (const value of this.#candidates(literals, type)) {
          this.budget.spend();
          count += 1;
          if (count > MAX_CANDIDATES) {
            this.budget.limit();
            break;
          }
          if (!this.#isReadable(value)) continue;
          const text = JSON.stringify(value);
          if (seen.has(text) || !satisfies(value, terms)) continue;
          seen.add(text);
          yield value;
        }
      }
  }

  #branches(terms: readonly SchemaTerm[], type: JsonType): Generator<SchemaLiteral[]> {
    const context: BranchSearchContext = {
      keyOf: (term) => this.#keyOf(term),
      choicesOf: (term) => this.#choicesOf(term, type),
      spend: (steps) => this.budget.spend(steps),
    };
    return branchesOf(terms, context);
  }

  #choicesOf(term: SchemaTerm, type: JsonType): readonly Choice[] {
    const { root, schema, isPositive } = term;
    if (!isMap(schema)) return choicesOf(term, type);
    const { choices } = this.#knownSchema(root, schema);
    return getOrCreate(choices, `${isPositive} ${type}`, () => choicesOf(term, type));
  }

  /** True for values of a size that the search can afford. Their parts are shared, so that they are larger than the memory in use. */
  #isReadable(value: unknown): boolean {
    const parts = countParts(value, MAX_PARTS);
    this.budget.spend(parts >> 7);
    if (parts <= MAX_PARTS) return true;
    this.budget.limit();
    return false;
  }

  *#candidates(literals: readonly SchemaLiteral[], type: JsonType): Generator<unknown> {
    const values = enumeratedValues(literals);
    if (values !== undefined) {
      yield* values.filter((value) => jsonTypeOf(value) === type);
      return;
    }
    // Values that an `enum` excludes do not count.
    const excluded = literalsOf(literals, 'keyword').flatMap(({ value }) => toList(value));
    const wanted = this.budget.effort.width + excluded.length;
    if (type === 'null') yield null;
    if (type === 'boolean') yield* [false, true];
    if (type === 'number') yield* numberSolutions(literals, wanted);
    if (type === 'string') yield* textSolutions(literals, wanted, this.budget);
    if (type === 'array') yield* arraySolutions(this, literals);
    if (type === 'object') yield* objectSolutions(this, literals);
  }
}

/** The candidates of one branch. */
const MAX_CANDIDATES = 3_000;
/** The members and items of a value, and of those in it. */
const MAX_PARTS = 200_000;

/** Returns the values that every `enum` of a branch lists and none excludes; `undefined` without an `enum`. */
function enumeratedValues(literals: readonly SchemaLiteral[]): readonly unknown[] | undefined {
  const listsOf = (isPositive: boolean) =>
    literalsOf(literals, 'keyword').flatMap((literal) =>
      literal.keyword === 'enum' && literal.isPositive === isPositive ? [toList(literal.value)] : [],
    );
  const [first, ...others] = listsOf(true);
  const sets = others.map((list) => new Set(list.map(canonicalJson)));
  const excluded = new Set(first && listsOf(false).flat().map(canonicalJson));
  return first?.filter((value) => {
    const text = canonicalJson(value);
    return !excluded.has(text) && sets.every((set) => set.has(text));
  });
}
